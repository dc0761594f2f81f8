import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { apiConfig, useApi } from '../../../test/api.ts'
import { insertDelivery, insertSubscription } from '../../../test/webhooks.ts'
import { freePort } from '../postgres-cluster.ts'
import { startApi } from '../../main/api.ts'
import { root } from '../repository.ts'

const api = useApi()
let folder = ''
let key = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-listen-'))
  key = join(folder, 'key.pem')
  await writeFile(key, api.owner().privateKeyPem)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN)_/.test(name)))
const program = join(root, 'src/main/florin.ts')

function florin(args: string[], url = api.url()): Promise<{ code: number; stdout: string; stderr: string }> {
  const all = [program, ...args, '--api', url, '--key', key]
  return new Promise((resolve) => {
    execFile(process.execPath, all, { env: environment() }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}

interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** Where the events are to go: answers 202. */
async function receive(): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(202).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

interface Listener {
  /** Each is waited for. */
  line(index: number): Promise<Record<string, unknown>>
  /** Resolves when it has been said on standard error. */
  said(text: string): Promise<void>
  remarks(): string
  stop(): Promise<number | null>
}

function listen(args: string[], url = api.url()): Listener {
  const child: ChildProcess = spawn(
    process.execPath,
    [program, 'listen', '--json', '--api', url, '--key', key, ...args],
    { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  const waiting: { index: number; resolve: (line: Record<string, unknown>) => void }[] = []
  const look = () => {
    const lines = text.split('\n').slice(0, -1)
    for (const { index, resolve } of waiting) {
      const line = lines[index]
      if (line !== undefined) resolve(JSON.parse(line) as Record<string, unknown>)
    }
  }
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    look()
  })
  let remarks = ''
  child.stderr?.on('data', (chunk: Buffer) => (remarks += chunk.toString()))
  return {
    remarks: () => remarks,
    async said(text) {
      while (!remarks.includes(text)) await once(child.stderr as Readable, 'data')
    },
    line: (index) => new Promise((resolve) => (waiting.push({ index, resolve }), look())),
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGINT')
      const [code] = (await ended) as [number | null]
      return code
    },
  }
}

const makeBuyer = (name: string) => api.request<{ id: string }>('POST', '/buyers', { body: { display_name: name } })

test('events are forwarded as they happen, signed in both forms, and what was missed comes when it listens again', async () => {
  const { url, received } = await receive()
  const args = ['--forward-to', url, '--events', 'buyer.created,buyer.deleted', '--consumer', 'laptop']
  const first = listen(args)
  const secret = String((await first.line(0))['secret'])
  const { body: buyer } = await makeBuyer('Ada')
  const printed = await first.line(1)
  expect(printed).toMatchObject({
    event: { name: 'buyer.created', target: { id: buyer.id } },
    forwarded: { status: 202, error: null },
  })
  expect(received).toHaveLength(1)
  const [{ headers, body } = { headers: {}, body: '' }] = received
  const { id } = printed['event'] as { id: string }
  expect(JSON.parse(body)).toEqual((await api.request('GET', `/events/${id}`)).body)
  const timestamp = String(headers['webhook-timestamp'])
  const hex = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const bytes = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const standard = createHmac('sha256', bytes).update(`${id}.${timestamp}.${body}`).digest('base64')
  expect(headers).toMatchObject({
    'x-service-webhook-id': id,
    'x-service-webhook-timestamp': timestamp,
    'x-service-webhook-signatures': hex,
    'webhook-id': id,
    'webhook-signature': `v1,${standard}`,
  })
  expect(await first.stop()).toBe(0)

  const { body: missed } = await makeBuyer('Grace')
  const second = listen(args)
  const targets: unknown[] = []
  // What came shortly before its position comes again.
  for (let index = 1; targets.at(-1) !== missed.id; index += 1) {
    const { event } = (await second.line(index)) as { event: { target: { id: string } } }
    targets.push(event.target.id)
  }
  expect(await second.stop()).toBe(0)
  expect(String((await second.line(0))['secret'])).not.toBe(secret)
})

test('a receiver that is not there is told, and the next event is sent all the same', async () => {
  const listener = listen(['--forward-to', `http://127.0.0.1:${await freePort()}/`])
  await listener.line(0)
  await makeBuyer('Ada')
  await makeBuyer('Grace')
  for (const index of [1, 2]) {
    expect(await listener.line(index)).toMatchObject({
      forwarded: { status: null, error: expect.any(String) as string },
    })
  }
  expect(await listener.stop()).toBe(0)
})

test('an API that never answered ends it with what to do; one that goes and comes back is told of once each', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  expect(await florin(['listen'], url)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: .* did not answer \(ECONNREFUSED\)\. Does it run, .*\n$/) as string,
  })
  const config = apiConfig(api.database.url('florin_api'), { port })
  const first = await startApi(config, () => undefined)
  const listener = listen([], url)
  await listener.line(0)
  await first.close()
  await refuseTwice(port)
  const second = await startApi(config, () => undefined)
  await listener.said('Connected again.')
  expect(await listener.stop()).toBe(0)
  await second.close()
  expect(listener.remarks().split('\n')).toEqual([
    expect.stringMatching(/^The connection was lost \(.*\); trying again until it is back\.$/),
    'Connected again.',
    '',
  ])
})

/** Somebody who hangs up on the first two who call. */
async function refuseTwice(port: number): Promise<void> {
  const server = createTcpServer((socket) => socket.destroy())
  await once(server.listen(port, '127.0.0.1'), 'listening')
  for (let calls = 0; calls < 2; calls += 1) await once(server, 'connection')
  server.close()
}

test('a receiver keeps its secret when it is given, and a secret that signs nothing is refused without being repeated', async () => {
  const listener = listen(['--secret', 'whsec_c2VjcmV0'])
  expect((await listener.line(0))['secret']).toBe('whsec_c2VjcmV0')
  expect(await listener.stop()).toBe(0)
  const { code, stderr } = await florin(['listen', '--secret', 'hunter2'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('must be "whsec_"')])
  expect(stderr).not.toContain('hunter2')
})

test('an event is triggered by doing it; what can be is listed, and what cannot is refused with what to do', async () => {
  const triggered = await florin(['trigger', 'buyer.updated', '--json'])
  expect(triggered).toMatchObject({ code: 0, stderr: '' })
  const { target } = JSON.parse(triggered.stdout) as { target: { id: string } }
  expect((await api.request('GET', `/buyers/${target.id}`)).body['display_name']).toBe('Ada King')
  expect((await florin(['trigger'])).stdout.split('\n')).toContain('refund.succeeded')
  expect(await florin(['trigger', 'payout.failed'])).toMatchObject({
    code: 1,
    stderr: 'error: payout.failed cannot be brought about. "florin trigger" lists what can.\n',
  })
  expect((await florin(['trigger', 'transaction.settled'])).stderr).toContain(
    'florin clock advance --account default 3d',
  )
  expect((await florin(['trigger', 'transaction.captured'])).stderr).toMatch(
    /^error: It was done, but no transaction.captured/,
  )
  expect((await florin(['trigger', 'buyer.created'], 'http://127.0.0.1:1')).stderr).toMatch(
    /^error: http:\/\/127.0.0.1:1 did not answer .* Does it run/,
  )
  expect((await florin(['listen', '--events', 'buyer.invented'])).stderr).toContain('There is no event buyer.invented')
})

test('nothing is triggered in production', async () => {
  const production = await startApi(
    apiConfig(api.database.url('florin_api'), { environment: 'production' }),
    () => undefined,
  )
  const refused = await florin(['trigger', 'buyer.created'], production.url)
  await production.close()
  expect(refused).toMatchObject({
    code: 1,
    stderr: 'error: Events can be brought about in a sandbox only, and this API is not one.\n',
  })
})

test('an event is sent again to those who were to be told of it', async () => {
  const subscriptionId = await insertSubscription(api.database)
  await makeBuyer('Ada')
  const { body } = await api.request<{ items: { id: string }[] }>('GET', '/events?limit=1')
  const event = body.items[0]?.id ?? ''
  expect((await florin(['events', 'resend', event])).stderr).toMatch(/^error: No webhook subscription was to be told/)
  await insertDelivery(api.database, { subscriptionId, eventId: event, status: 'succeeded' })
  const resent = await florin(['events', 'resend', event, '--subscription', subscriptionId])
  expect(resent).toMatchObject({ code: 0, stdout: expect.stringContaining(subscriptionId) as string })
  const rows = await api.database.query('select status from webhook_deliveries where event_id = $1', [event])
  expect(rows).toEqual([{ status: 'pending' }])
  expect((await florin(['events', 'resend', 'x'])).stderr).toBe('error: x is not an id: a UUID in lower case.\n')
})
