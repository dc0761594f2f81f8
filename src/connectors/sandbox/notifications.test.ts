import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Decision, press } from '../../../test/buyer.ts'
import { testCards } from '../../../test/every-state.ts'
import { card, type Payment, usePayments } from '../../../test/payments.ts'
import { useJanitor } from '../../../test/simulator-rules.ts'
import { createNotificationSender } from './notifications.ts'

/* What the sandbox's processor decides later than its first answer, it tells by a message. */

const { api, makeService, pay, act, get, elapse, timeline } = usePayments()
const worker = useJanitor(api)
const secret = 'a secret of this service'
const { signal } = new AbortController()
let service = ''
let secretOf: (merchantAccountId: string, serviceId: string) => Promise<string | undefined>
const sendDue = () => createNotificationSender({ db: worker.db(), now: () => new Date(), secretOf })(signal)

/** Somebody who writes down what comes, and answers as a test wants. */
let listener: Server
let received: { id: string; reference: string; kind: string }[] = []
let status = 200
const here = () => `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`

beforeAll(async () => {
  const fields = [
    { key: 'merchant_id', value: 'shop' },
    { key: 'webhook_secret', value: secret },
  ]
  service = await makeService({ fields, position: 0, three_d_secure_enabled: true })
  listener = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push(JSON.parse(Buffer.concat(chunks).toString()) as (typeof received)[number])
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void listener.close())
beforeEach(() => {
  secretOf = (_account, id) => Promise.resolve(id === service ? secret : undefined)
})
afterEach(async () => {
  received = []
  status = 200
  await api.database.query('delete from sandbox_notifications')
  await act('/simulator-rules', { conditions: {}, outcome: {}, active: false })
})

const waiting = () =>
  api.database.query<{ id: string; url: string; reference: string; attempts: number; seconds: number }>(`
    select id, url, reference, attempts, extract(epoch from due_at - now())::int as seconds
    from sandbox_notifications where sent_at is null order by id`)
const becomeDue = () => api.database.query("update sandbox_notifications set due_at = now() - interval '1 second'")
const redirect = () => api.database.query('update sandbox_notifications set url = $1', [here()])

async function pending(change: object = {}): Promise<string> {
  const { body } = await pay({ payment_method: card(testCards.pending), ...change })
  return `/transactions/${body.id}`
}

async function deliverBy(notifications: object): Promise<void> {
  await api.database.query('delete from simulator_rules')
  const { status: made, text } = await act('/simulator-rules', { conditions: {}, outcome: {}, notifications })
  expect(made, text).toBe(201)
}

test('a payment that was pending is decided by the message that comes when it is time, without anybody asking', async () => {
  const path = await pending()
  expect(await waiting()).toMatchObject([
    { url: `${api.url()}/payment-services/${service}/notifications`, attempts: 0, seconds: expect.any(Number) },
  ])
  await api.database.query("update sandbox_notifications set due_at = now() + interval '1 hour'")
  expect(await sendDue()).toBe(0)
  await elapse()
  await becomeDue()
  expect(await sendDue()).toBe(1)
  expect(await get(path)).toMatchObject({ status: 'authorization_succeeded' })
  expect(await timeline(path)).toContain('payment-connector-transaction-webhook-processed')
  expect(await sendDue()).toBe(0)
})

test('captures, voids and refunds that are late or lost are told of, what was answered at once is not', async () => {
  const cards: [number: string, action: string, body: object | undefined, change: object][] = [
    [testCards.captureLost, 'capture', undefined, {}],
    [testCards.voidPending, 'void', undefined, {}],
    [testCards.refundPending, 'refunds', { amount: 100 }, { intent: 'capture' }],
  ]
  const paths: string[] = []
  for (const [number, action, body, change] of cards) {
    const path = `/transactions/${(await pay({ payment_method: card(number), ...change })).body.id}`
    expect(await waiting()).toHaveLength(paths.length)
    await act(`${path}/${action}`, body)
    paths.push(path)
  }
  await elapse()
  await becomeDue()
  expect(await sendDue()).toBe(3)
  const after = await Promise.all(paths.map((path) => get<Payment>(path)))
  expect(after).toMatchObject([
    { status: 'capture_succeeded' },
    { status: 'authorization_voided' },
    { status: 'capture_succeeded', refunded_amount: 100 },
  ])
})

test.each<[Decision, string]>([
  ['approved', 'authorization_succeeded'],
  ['rejected', 'authorization_declined'],
])('a buyer who has %s and does not come back is told of', async (decision, status) => {
  const { body } = await pay({ payment_method: card(undefined, { redirect_url: 'https://shop.example/done' }) })
  expect(body.status).toBe('buyer_approval_pending')
  expect(await waiting()).toEqual([])
  const { approval_url: url } = body['payment_method'] as { approval_url: string }
  await press(url, decision)
  await press(url, decision)
  expect(await waiting()).toHaveLength(1)
  await becomeDue()
  expect(await sendDue()).toBe(1)
  expect(await get(`/transactions/${body.id}`)).toMatchObject({ status })
})

test('what buyers decide is told in the manner of a rule, too', async () => {
  await deliverBy({ delivery: 'lost' })
  const { body } = await pay({ payment_method: card(undefined, { redirect_url: 'https://shop.example/done' }) })
  await press((body['payment_method'] as { approval_url: string }).approval_url, 'approved')
  expect(await waiting()).toEqual([])
})

test('a service without a secret is told nothing', async () => {
  secretOf = () => Promise.resolve(undefined)
  await pending()
  await redirect()
  await becomeDue()
  expect(await sendDue()).toBe(0)
  expect(received).toEqual([])
  expect(await waiting()).toEqual([])
})

test('lost: no message at all', async () => {
  await deliverBy({ delivery: 'lost' })
  await pending()
  expect(await waiting()).toEqual([])
})

test('late: the seconds of the rule later', async () => {
  await deliverBy({ delivery: 'late', delay_seconds: 3_000 })
  await pending()
  const [row] = await waiting()
  expect(row?.seconds).toBeGreaterThan(2_900)
})

test('duplicated: the same message as often as the rule says, and one effect', async () => {
  await deliverBy({ delivery: 'duplicated', count: 4 })
  const path = await pending()
  await elapse()
  await redirect()
  await becomeDue()
  expect(await sendDue()).toBe(1)
  expect(received).toHaveLength(4)
  expect(new Set(received.map(({ id }) => id)).size).toBe(1)

  await api.database.query('update sandbox_notifications set sent_at = null, attempts = 0, url = $1', [
    `${api.url()}/payment-services/${service}/notifications`,
  ])
  await becomeDue()
  expect(await sendDue()).toBe(1)
  const names = await timeline(path)
  expect(names.filter((name) => name.endsWith('webhook-processed'))).toHaveLength(1)
  expect(names.filter((name) => name === 'transaction-updated-status')).toHaveLength(1)
})

test('reordered: due together, and the newest goes first', async () => {
  await deliverBy({ delivery: 'reordered', delay_seconds: 60 })
  for (let payment = 0; payment < 4; payment += 1) await pending()
  await redirect()
  const sent = await waiting()
  await becomeDue()
  expect(await sendDue()).toBe(4)
  expect(received.map(({ id }) => id)).toEqual(sent.map(({ id }) => id).reverse())
})

test('what is not taken is sent again later each time, and at last no more', async () => {
  await pending()
  await redirect()
  status = 500
  const waits: (number | undefined)[] = []
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await becomeDue()
    expect(await sendDue()).toBe(0)
    expect(received).toHaveLength(attempt)
    const [row] = await waiting()
    expect(row?.attempts).toBe(attempt)
    waits.push(row?.seconds)
  }
  for (const [index, seconds] of waits.entries()) expect(seconds).toBeLessThanOrEqual(10 * 2 ** index)
  expect(waits.at(-1)).toBeGreaterThan(80)
  await becomeDue()
  await sendDue()
  expect(received).toHaveLength(5)
})

test('nobody there is like a refusal', async () => {
  await pending()
  await api.database.query("update sandbox_notifications set url = 'http://127.0.0.1:1/'")
  await becomeDue()
  expect(await sendDue()).toBe(0)
  expect(await waiting()).toMatchObject([{ attempts: 1 }])
})

test('two workers at once send each message once', async () => {
  for (let payment = 0; payment < 10; payment += 1) await pending()
  await redirect()
  await becomeDue()
  const counts = await Promise.all([sendDue(), sendDue()])
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10)
  expect(new Set(received.map(({ reference }) => reference)).size).toBe(10)
  expect(received).toHaveLength(10)
})

test('messages of yesterday go', async () => {
  await pending()
  await api.database.query("update sandbox_notifications set due_at = now() - interval '25 hours'")
  expect(await sendDue()).toBe(0)
  expect(await waiting()).toEqual([])
})
