import { Florin, FlorinConnectionError } from '@florin/sdk'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'
import type * as retry from '../src/retry.ts'
import { caught } from './caught.ts'
import { startServer, type TestServer } from './server.ts'

/* A server that fails as networks and servers do, and writes down what arrives. */

interface Arrived {
  request: string
  key: string | undefined
  account: string | undefined
  body: string
}
/** What becomes of one request: a status with headers, an answer in full, or the connection cut after it was read. */
type Fate = 'cut' | 'silence' | [status: number, headers?: Record<string, string>, body?: object]

/** Waiting takes no time, unless a test wants it to; what was waited is written down. */
const waiting = vi.hoisted(() => ({ isReal: false, waits: [] as number[] }))
vi.mock('../src/retry.ts', async (load) => {
  const real = await load<typeof retry>()
  const sleep: typeof retry.sleep = async (ms, signal) => {
    waiting.waits.push(ms)
    if (waiting.isReal) await real.sleep(ms, signal)
  }
  return { ...real, sleep }
})

let open: TestServer | undefined
afterEach(async () => {
  Object.assign(waiting, { isReal: false, waits: [] })
  await open?.[Symbol.asyncDispose]()
})

async function meet(fates: Fate[]): Promise<{ florin: Florin; arrived: Arrived[] }> {
  const arrived: Arrived[] = []
  const meetOne = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { 'idempotency-key': key, 'x-service-merchant-account-id': account } = request.headers
    arrived.push({ request: `${request.method} ${request.url}`, key: key as string, account: account as string, body })
    const fate = fates.shift() ?? [200, {}, { id: 'done' }]
    if (fate === 'cut') request.socket.destroy()
    else if (fate !== 'silence') response.writeHead(fate[0], fate[1]).end(JSON.stringify(fate[2] ?? {}))
  }
  open = await startServer((request, response) => void meetOne(request, response))
  return { florin: new Florin({ baseUrl: open.url, token: 'x', merchantAccountId: 'shop' }), arrived }
}

const body = { amount: 1, currency: 'EUR' }
const error = (code: string, status: number): Fate => [
  status,
  {},
  { type: 'error', code, status, message: code, details: [] },
]

test.each<[string, Fate]>([
  ['the connection is cut after the request', 'cut'],
  ['502', [502]],
  ['503', [503]],
  ['504', error('gateway_timeout', 504)],
  ['408', [408]],
  ['425', error('too_early', 425)],
  ['429', error('too_many_requests', 429)],
  ['409 concurrent_request', error('concurrent_request', 409)],
])('%s: a payment is sent again with the same key, which is made for the call', async (_name, fate) => {
  const { florin, arrived } = await meet([fate, fate])
  await expect(florin.transactions.create(body)).resolves.toEqual({ id: 'done' })
  await florin.transactions.create(body)
  const [first, second, third, next] = arrived
  expect(first?.key).toMatch(/^[0-9a-f-]{36}$/)
  expect([second, third]).toEqual([first, first])
  expect(next?.key).not.toBe(first?.key)
})

test('the key of the caller is taken as it is, and so is the merchant account', async () => {
  const { florin, arrived } = await meet(['cut'])
  await florin.transactions.create(body, { idempotencyKey: 'order-4711', merchantAccountId: 'other' })
  const sent = { request: 'POST /transactions', key: 'order-4711', account: 'other', body: JSON.stringify(body) }
  expect(arrived).toEqual([sent, sent])
})

test.each<[string, Fate]>([
  ['cut', 'cut'],
  ['503', [503]],
  ['504', error('gateway_timeout', 504)],
])('%s: what takes no key and may have been done is not sent again', async (_name, fate) => {
  const { florin, arrived } = await meet([fate])
  await expect(florin.buyers.create({})).rejects.toThrow()
  expect(arrived.map(({ request, key }) => [request, key])).toEqual([['POST /buyers', undefined]])
})

test('any request with a key is sent again with it, and a POST without one is not', async () => {
  const { florin, arrived } = await meet(['cut', [200], 'cut'])
  const pay = { method: 'POST', path: '/transactions', body } as const
  await florin.request(pay, { idempotencyKey: 'order-4711' })
  const sent = { request: 'POST /transactions', key: 'order-4711', account: 'shop', body: JSON.stringify(body) }
  expect(arrived.splice(0)).toEqual([sent, sent])
  await expect(florin.request(pay)).rejects.toThrow(FlorinConnectionError)
  expect(arrived).toEqual([{ ...sent, key: undefined }])
})

test.each<[string, Fate]>([
  ['425', error('too_early', 425)],
  ['429', error('too_many_requests', 429)],
])('%s: what was surely not done is sent again, key or not', async (_name, fate) => {
  const { florin, arrived } = await meet([fate])
  await florin.buyers.create({})
  expect(arrived).toHaveLength(2)
})

test('a refused connection is tried again, key or not', async () => {
  const { florin } = await meet([])
  await open?.[Symbol.asyncDispose]()
  await expect(florin.buyers.create({})).rejects.toThrow(FlorinConnectionError)
  expect(waiting.waits).toHaveLength(2)
})

test.each(['get', 'update', 'delete'] as const)('%s does the same twice as once, and is sent again', async (name) => {
  const { florin, arrived } = await meet(['cut', [503]])
  await (name === 'update' ? florin.buyers.update('1', {}) : florin.buyers[name]('1'))
  expect(arrived).toHaveLength(3)
})

test.each([400, 401, 403, 404, 409, 422, 500])('%i is not tried again', async (status) => {
  const { florin, arrived } = await meet([error('duplicate_record', status)])
  await expect(florin.transactions.create(body)).rejects.toThrow()
  expect(arrived).toHaveLength(1)
})

test('after maxRetries the last failure is thrown', async () => {
  const { florin, arrived } = await meet(['cut', [503], error('gateway_timeout', 504)])
  expect((await caught(florin.buyers.get('1'))).code).toBe('gateway_timeout')
  expect(arrived).toHaveLength(3)
})

test('waiting grows, and is never the same for all', async () => {
  const { florin } = await meet(Array.from({ length: 8 }, (): Fate => [503]))
  await Promise.allSettled([florin.buyers.get('1'), florin.buyers.get('2')])
  expect(waiting.waits).toHaveLength(4)
  expect(new Set(waiting.waits).size).toBe(4)
  expect(waiting.waits.filter((ms) => ms <= 250)).toHaveLength(2)
})

test('Retry-After is waited for, in seconds or until a date', async () => {
  const date = new Date(Date.now() + 30_500).toUTCString()
  const { florin } = await meet([
    [429, { 'retry-after': '7' }],
    [503, { 'retry-after': date }],
  ])
  await florin.buyers.get('1')
  expect(waiting.waits[0]).toBe(7_000)
  expect(waiting.waits[1]).toBeGreaterThan(8_000)
  expect(waiting.waits[1]).toBeLessThanOrEqual(30_500)
})

test('whoever is asked to wait longer than a minute is told so at once', async () => {
  const { florin, arrived } = await meet([[429, { 'retry-after': '61' }]])
  expect((await caught(florin.buyers.get('1'))).status).toBe(429)
  expect(arrived).toHaveLength(1)
})

test('an attempt that takes too long is given up, and the next one may succeed', async () => {
  const { arrived } = await meet(['silence'])
  const florin = new Florin({ baseUrl: open?.url ?? '', token: 'x', timeoutMs: 300 })
  await expect(florin.buyers.get('1')).resolves.toEqual({ id: 'done' })
  expect(arrived).toHaveLength(2)
  const impatient = new Florin({ baseUrl: 'http://127.0.0.1', token: 'x', timeoutMs: 1, maxRetries: 0, fetch: stuck })
  await expect(impatient.buyers.get('1')).rejects.toThrow('no answer within 1 ms')
})

const stuck: typeof fetch = (_input, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
  })

test('a signal ends the call while it asks and while it waits', async () => {
  const reason = new Error('the buyer left')
  const asking = new AbortController()
  const florin = new Florin({ baseUrl: 'http://127.0.0.1', token: 'x', fetch: stuck })
  const asked = florin.buyers.get('1', { signal: asking.signal })
  asking.abort(reason)
  await expect(asked).rejects.toBe(reason)

  waiting.isReal = true
  const leaving = new AbortController()
  const { florin: other } = await meet([[503, { 'retry-after': '50' }]])
  const waited = other.buyers.get('1', { signal: leaving.signal })
  await expect.poll(() => waiting.waits.length).toBe(1)
  leaving.abort(reason)
  await expect(waited).rejects.toBe(reason)
})
