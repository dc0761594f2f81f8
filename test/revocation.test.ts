import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { freePort } from '../src/cli/postgres-cluster.ts'
import { type Answer, type KeyPair, send, useApi } from './api.ts'
import { apiEnvironment, startProcess, type TestProcess } from './processes.ts'

// Its own api only makes the keys; what is measured are the three processes.
const api = useApi()

interface Fleet {
  processes: TestProcess[]
  limitSeconds: number
  /** Called over and over while a change spreads. */
  disturb?: () => Promise<unknown>
}

async function startFleet(more: Record<string, string> = {}): Promise<TestProcess[]> {
  const environment = { ...apiEnvironment(api.database.url('florin_api')), ...more }
  return Promise.all([1, 2, 3].map(() => startProcess('src/main/api.ts', environment)))
}

const listeners = `from pg_stat_activity where application_name = 'florin api listener' and datname = current_database()`

const ways: Record<string, () => Promise<Fleet>> = {
  'announcements heard': async () => {
    const processes = await startFleet()
    // The three and our own.
    await expect
      .poll(async () => (await api.database.query<{ count: number }>(`select count(*)::int ${listeners}`))[0]?.count)
      .toBe(4)
    // Longer, and it was not the announcement but the age limit that did it.
    return { processes, limitSeconds: 1 }
  },
  'announcements impossible': async () => {
    const url = new URL(api.database.url('florin_api'))
    url.port = String(await freePort())
    const processes = await startFleet({ DATABASE_DIRECT_URL: url.href })
    await expect
      .poll(() => processes.every((each) => each.output().includes('key announcements are not heard')), {
        timeout: 5_000,
      })
      .toBe(true)
    return { processes, limitSeconds: 5 }
  },
  'announcements cut again and again': async () => ({
    processes: await startFleet(),
    limitSeconds: 5,
    disturb: () => api.database.query(`select pg_terminate_backend(pid) ${listeners}`),
  }),
}

interface Spread {
  /** Of the slowest process: from the moment the change was asked for to the last answer of the old kind. */
  seconds: number
  statuses: Set<number>
}

/** Asks every process all the time, makes the change, and goes on until each has answered the new way for a second. */
async function spread(fleet: Fleet, token: string, expected: number, change: () => Promise<Answer>): Promise<Spread> {
  const statuses = new Set<number>()
  const deadline = new AbortController()
  let changedAt = Number.POSITIVE_INFINITY
  const lastOld = fleet.processes.map(() => 0)
  const settled = fleet.processes.map(() => false)

  const watch = async (process: TestProcess, index: number) => {
    while (!settled.every(Boolean) && !deadline.signal.aborted) {
      const { status } = await send(process.url, 'GET', '/roles?limit=1', { token })
      const at = performance.now()
      statuses.add(status)
      if (status !== expected) lastOld[index] = at
      settled[index] = at - Math.max(lastOld[index] ?? 0, changedAt) > 1_000
      await sleep(5)
    }
  }
  const disturbing = (async () => {
    while (fleet.disturb && !settled.every(Boolean) && !deadline.signal.aborted) {
      await fleet.disturb()
      await sleep(10)
    }
  })()
  const watching = fleet.processes.map(watch)
  await sleep(500)
  const asked = performance.now()
  const answer = await change()
  changedAt = performance.now()
  expect(answer.status).toBeLessThan(300)
  const timer = setTimeout(() => deadline.abort(), (fleet.limitSeconds + 3) * 1_000)
  await Promise.all([...watching, disturbing])
  clearTimeout(timer)
  expect(settled).toEqual([true, true, true])
  return { seconds: Math.max(0, ...lastOld.map((at) => at - asked)) / 1_000, statuses }
}

test.each(Object.entries(ways))(
  'three processes, %s: a key pair set inactive is refused by each in time, set active again accepted, deleted refused',
  async (way, start) => {
    const fleet = await start()
    const pair: KeyPair = await api.makeKeyPair()
    const token = await api.makeToken(pair)
    const owner = api.token()
    const [first, second, third] = fleet.processes.map(({ url }) => url)
    if (!first || !second || !third) throw new Error('three processes were wanted')
    for (const { url } of fleet.processes) expect((await send(url, 'GET', '/roles', { token })).status).toBe(200)

    const path = `/api-key-pairs/${pair.id}`
    const setActive = (url: string, active: boolean) => () => send(url, 'PUT', path, { token: owner, body: { active } })
    const inactive = await spread(fleet, token, 401, setActive(first, false))
    const active = await spread(fleet, token, 200, setActive(second, true))
    const deleted = await spread(fleet, token, 401, () => send(third, 'DELETE', path, { token: owner }))
    const figures = Object.entries({ inactive, active, deleted }).map(
      ([name, { seconds }]) => `${name} ${seconds.toFixed(3)} s`,
    )
    process.stdout.write(`revocation, ${way}, slowest of three processes: ${figures.join(', ')}\n`)
    for (const { seconds, statuses } of [inactive, active, deleted]) {
      expect(seconds).toBeLessThan(fleet.limitSeconds)
      // Nothing but the old and the new answer: no fault while a change spreads.
      expect(statuses).toEqual(new Set([200, 401]))
    }
  },
)
