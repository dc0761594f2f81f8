import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { signNotification } from '../../../connectors/sandbox/mock-card/notification.ts'
import { connect } from '../../../platform/postgres.ts'
import { card, idOf, usePayments } from '../../../../test/payments.ts'
import { testCards } from '../../../../test/every-state.ts'
import { forgetOldNotifications } from './operations.ts'

const { api, makeService, paid, act, get, elapse, timeline, events } = usePayments()

const secret = 'a secret of this service'
const withSecret = (value: string) => ({
  fields: [
    { key: 'merchant_id', value: 'shop' },
    { key: 'webhook_secret', value },
  ],
  position: 0,
})
let service = ''
beforeAll(async () => {
  service = await makeService(withSecret(secret))
})

const processed = 'payment-connector-transaction-webhook-processed'
const message = (reference: string, change: object = {}) => ({ id: randomUUID(), reference, ...change })

/** Signed as the service's provider would, unless a test says otherwise. */
function notify(
  body: unknown,
  {
    to = service,
    with: key = secret,
    at = new Date(),
    headers = {} as Record<string, string>,
    bytes = undefined as Buffer | undefined,
  } = {},
) {
  const signed = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return api.request('POST', `/payment-services/${to}/notifications`, {
    token: '',
    headers: { ...signNotification({ secret: key, body: signed, now: at }), ...headers },
    rawBody: bytes ?? signed,
  })
}

const attemptOf = async (path: string, action = 'authorize') => {
  const [row] = await api.database.query<{ id: string }>(
    'select id from attempts where transaction_id = $1 and action = $2',
    [idOf(path), action],
  )
  return row?.id ?? ''
}
const notificationRows = async () =>
  (await api.database.query<{ count: number }>('select count(*)::int as count from provider_notifications'))[0]?.count

const pending = (change: object = {}) => paid({ payment_method: card(testCards.pending), ...change })

test('news about a payment that was pending settles it, as the provider tells when it is asked', async () => {
  const [approved, declined] = [await pending(), await pending({ amount: 200_011 })]
  await elapse()
  for (const path of [approved, declined]) {
    // What the message says beside its reference is nobody's business.
    const answer = await notify(message(await attemptOf(path), { status: 'captured', amount: 1 }))
    expect([answer.status, answer.text]).toEqual([200, ''])
  }
  expect(await get(approved)).toMatchObject({ status: 'authorization_succeeded', authorized_amount: 1299 })
  expect(await get(declined)).toMatchObject({ status: 'authorization_declined', error_code: 'insufficient_funds' })
  expect(await timeline(approved)).toEqual([
    'payment-connector-response-transaction-authorization-succeeded',
    'transaction-updated-status',
    processed,
  ])
})

test('captures, voids and refunds are settled by news too', async () => {
  const captured = await paid({ payment_method: card(testCards.captureLost) })
  await act(`${captured}/capture`)
  const voided = await paid({ payment_method: card(testCards.voidPending) })
  await act(`${voided}/void`)
  const refunded = await paid({ payment_method: card(testCards.refundPending), intent: 'capture' })
  await act(`${refunded}/refunds`, { amount: 300 })
  await elapse()
  await notify(message(await attemptOf(captured, 'capture')))
  await notify(message(await attemptOf(voided, 'void')))
  await notify(message(await attemptOf(refunded, 'refund')))
  expect(await get(captured)).toMatchObject({ status: 'capture_succeeded', captured_amount: 1299 })
  expect(await get(voided)).toMatchObject({ status: 'authorization_voided' })
  expect(await get(refunded)).toMatchObject({ refunded_amount: 300 })
})

test('a message that comes twice, or many times at once, has one effect', async () => {
  const path = await pending()
  await elapse()
  const body = message(await attemptOf(path))
  const answers = await Promise.all(Array.from({ length: 20 }, () => notify(body)))
  answers.push(await notify(body))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect((await timeline(path)).filter((name) => name === processed)).toHaveLength(1)
  expect(await events(idOf(path))).toEqual(['transaction.authorized 3'])
})

test('a message that comes too early changes nothing, and another one later does', async () => {
  const path = await pending()
  const reference = await attemptOf(path)
  expect((await notify(message(reference))).status).toBe(200)
  expect(await get(path)).toMatchObject({ status: 'processing' })
  await elapse()
  expect((await notify(message(reference))).status).toBe(200)
  expect(await get(path)).toMatchObject({ status: 'authorization_succeeded' })
})

test('a message whose effect was written and whose id was not, because the process died between, does nothing again', async () => {
  const path = await pending()
  await elapse()
  const body = message(await attemptOf(path))
  await notify(body)
  await api.database.query('delete from provider_notifications where id = $1', [body.id])
  const before = [await get(path), await timeline(path), await events(idOf(path))]
  expect((await notify(body)).status).toBe(200)
  expect([await get(path), await timeline(path), await events(idOf(path))]).toEqual(before)
})

test('news about a payment that is decided, or about none, is taken and does nothing', async () => {
  const path = await paid()
  const [before, rows] = [[await get(path), await timeline(path)], await notificationRows()]
  for (const reference of [await attemptOf(path), randomUUID(), 'no id at all', `${await attemptOf(path)}-cancel`]) {
    expect((await notify(message(reference))).status).toBe(200)
  }
  expect([await get(path), await timeline(path)]).toEqual(before)
  expect(await notificationRows()).toBe(rows)
})

test('whatever is wrong with a message, the answer is that of a service that does not exist, and nothing is written', async () => {
  const path = await pending()
  await elapse()
  const other = await makeService(withSecret('another secret'), 'other')
  const sibling = await makeService({ ...withSecret('a third secret'), position: 9 })
  const silent = await makeService({ position: 9 })
  const deleted = await makeService({ ...withSecret(secret), position: 9 })
  await api.request('DELETE', `/payment-services/${deleted}`)
  const rows = await notificationRows()
  const before = await get(path)
  const body = message(await attemptOf(path))
  const minutes = (count: number) => new Date(Date.now() + count * 60_000)
  const answers = await Promise.all([
    notify(body, { to: randomUUID() }),
    notify(body, { to: deleted }),
    notify(body, { to: silent, with: '' }),
    notify(body, { to: other }),
    notify(body, { to: sibling }),
    notify(body, { with: 'a guess' }),
    notify(body, { with: 'another secret' }),
    notify(body, { at: minutes(-6) }),
    notify(body, { at: minutes(6) }),
    notify(body, { headers: { 'x-sandbox-signature': '' } }),
    notify(body, { headers: { 'x-sandbox-timestamp': '1' } }),
    notify(body, { bytes: Buffer.from(`${JSON.stringify(body)} `) }),
    notify('no JSON'),
    notify('[]'),
    notify({ id: 'x'.repeat(256), reference: body.reference }),
    notify({ id: '', reference: body.reference }),
    notify({ id: 'a\0', reference: body.reference }),
    notify({ id: 'a', reference: 'x'.repeat(256) }),
  ])
  const [first] = answers
  for (const answer of answers) {
    expect([answer.status, answer.text]).toEqual([404, first?.text])
  }
  expect(await notificationRows()).toBe(rows)
  expect(await get(path)).toEqual(before)
})

test("a provider cannot have another service's payments looked at, neither of its own account nor of another", async () => {
  const path = await pending()
  await elapse()
  const reference = await attemptOf(path)
  const sibling = await makeService({ ...withSecret('s'), position: 9 })
  const foreign = await makeService(withSecret('f'), 'other')
  expect((await notify(message(reference), { to: sibling, with: 's' })).status).toBe(200)
  expect((await notify(message(reference), { to: foreign, with: 'f' })).status).toBe(200)
  expect(await get(path)).toMatchObject({ status: 'processing' })
})

test('a message of any content type is taken as it is', async () => {
  const path = await pending()
  await elapse()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await notify(message(await attemptOf(path)), { headers: type })).status).toBe(200)
  expect(await get(path)).toMatchObject({ status: 'authorization_succeeded' })
})

test('while the provider does not answer, the sender is told to come again, and then it is news still', async () => {
  const path = await paid({ payment_method: card(testCards.lost) })
  const body = message(await attemptOf(path))
  // Without its books the processor cannot answer.
  await api.database.query('alter table sandbox_card_operations rename to sandbox_card_operations_away')
  const refused = await notify(body)
  await api.database.query('alter table sandbox_card_operations_away rename to sandbox_card_operations')
  expect(refused.status).toBe(504)
  expect((await notify(body)).status).toBe(200)
  expect(await get(path)).toMatchObject({ status: 'authorization_succeeded' })
})

test('messages are forgotten after a day', async () => {
  for (const id of ['old', 'young']) await notify(message(await attemptOf(await pending()), { id }))
  await api.database.query(
    "update provider_notifications set received_at = received_at - interval '25 hours' where id = 'old'",
  )
  const db = connect({
    url: api.database.url('florin_worker'),
    applicationName: 'test',
    poolSize: 1,
    onError: () => undefined,
  })
  await forgetOldNotifications({ db, accounts: 'all', now: () => new Date() }, new AbortController().signal)
  await db.close()
  const left = await api.database.query<{ id: string }>(
    "select id from provider_notifications where id in ('old', 'young')",
  )
  expect(left).toEqual([{ id: 'young' }])
})
