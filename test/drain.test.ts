import { Agent, type ClientRequest, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { freePort } from '../src/cli/postgres-cluster.ts'
import { useApi } from './api.ts'
import { apiEnvironment, startProcess, type TestProcess } from './processes.ts'

const api = useApi()
const drainDelayMs = 2_000

async function start(more: Record<string, string> = {}): Promise<TestProcess & { privateUrl: string }> {
  const started = await startProcess('src/main/api.ts', {
    ...apiEnvironment(api.database.url('florin_api')),
    FLORIN_PRIVATE_PORT: String(await freePort()),
    FLORIN_DRAIN_DELAY_MS: String(drainDelayMs),
    ...more,
  })
  return { ...started, privateUrl: started.privateUrl ?? '' }
}

const isReady = async ({ privateUrl }: { privateUrl: string }) =>
  (await fetch(`${privateUrl}/readyz`).catch(() => ({ status: 0 }))).status

interface Outcome {
  status: number
  /** The server said it will close the connection. */
  closes: boolean
  error: string | undefined
  /** The request went out on a connection that had carried others. */
  reused: boolean
}

function get(url: string, agent: Agent, path = '/roles?limit=1'): Promise<Outcome> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${api.token()}` }
    const sent: ClientRequest = request(url + path, { agent, headers }, (response) => {
      response.on('error', (error: NodeJS.ErrnoException) => fail(error))
      response.on('end', () => {
        const closes = response.headers.connection === 'close'
        resolve({ status: response.statusCode ?? 0, closes, error: undefined, reused: sent.reusedSocket })
      })
      response.resume()
    })
    const fail = (error: NodeJS.ErrnoException) =>
      resolve({ status: 0, closes: true, error: error.code ?? error.message, reused: sent.reusedSocket })
    sent.on('error', fail)
    sent.end()
  })
}

test('SIGTERM under load: not ready at once, and every request gets its answer', async () => {
  const server = await start()
  const outcomes: Outcome[] = []
  let balancerKnows = false
  let ended = false

  const client = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    let connected = false
    while (!ended) {
      // A balancer opens no more connections once it knows; those it has it uses until they are closed.
      if (balancerKnows && !connected) break
      const outcome = await get(server.url, agent)
      connected = !outcome.closes
      outcomes.push(outcome)
    }
    agent.destroy()
  }
  const clients = Promise.all(Array.from({ length: 16 }, client))
  while (outcomes.length < 2_000) await sleep(20)
  expect(await isReady(server)).toBe(200)
  const before = outcomes.length
  const asked = performance.now()
  server.kill('SIGTERM')
  while ((await isReady(server)) === 200) await sleep(5)
  const noticed = performance.now() - asked
  const readiness = new Set<number>()
  while (performance.now() - asked < drainDelayMs - 200) {
    readiness.add(await isReady(server))
    // It looks now and then, and opens connections until it has seen the answer.
    balancerKnows ||= performance.now() - asked > 1_000
    await sleep(20)
  }
  const code = await server.exited
  const took = performance.now() - asked
  ended = true
  await clients

  const answered = outcomes.filter(({ status }) => status === 200).length
  const failed = outcomes.filter(({ status }) => status !== 200)
  const handled = server
    .logs()
    .filter(({ message, operation }) => message === 'request' && operation === 'listRoles').length
  process.stdout.write(
    `drain: ${outcomes.length} requests (${outcomes.length - before} after SIGTERM), ${answered} answered, ${handled} handled, ` +
      `${failed.length} failed ${JSON.stringify(failed)}; not ready after ${noticed.toFixed(0)} ms, exit ${code} after ${took.toFixed(0)} ms\n`,
  )
  expect(readiness).toEqual(new Set([503]))
  expect(noticed).toBeLessThan(10_000)
  expect(outcomes.length - before).toBeGreaterThan(0)
  expect(failed).toEqual([])
  expect(handled).toBe(answered)
  expect(code).toBe(0)
  expect(took).toBeGreaterThanOrEqual(drainDelayMs)
})

test('requests that are being worked on when the server closes get their answers, and then it ends without waiting', async () => {
  const server = await start({ FLORIN_DRAIN_DELAY_MS: '0' })
  const agent = new Agent({ keepAlive: true })
  // The key is known from here on, so that only the operation itself meets the lock.
  expect(await get(server.url, agent)).toMatchObject({ status: 200 })
  const blocker = new pg.Client({ connectionString: api.database.url() })
  await blocker.connect()
  await blocker.query('begin; lock table roles in access exclusive mode')
  const waiting = Array.from({ length: 5 }, () => get(server.url, agent))
  const blocked = `select count(*)::int from pg_locks where not granted and relation = 'roles'::regclass`
  await expect.poll(async () => (await api.database.query<{ count: number }>(blocked))[0]?.count).toBe(5)

  server.kill('SIGTERM')
  await expect.poll(() => server.output().includes('"stopping"')).toBe(true)
  await sleep(300)
  await blocker.query('rollback')
  await blocker.end()
  const released = performance.now()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(await server.exited).toBe(0)
  const took = performance.now() - released
  process.stdout.write(`drain: 5 requests in flight answered, exit ${took.toFixed(0)} ms after the last\n`)
  expect(took).toBeLessThan(10_000)
  agent.destroy()
})
