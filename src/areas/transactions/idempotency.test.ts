import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { card, idOf, preferring, refusal, usePayments } from '../../../test/payments.ts'
import { onFailpoint } from '../../platform/failpoint.ts'

const { api, pay, paid, get, act, store } = usePayments()

const withKey = (key: string) => ({ 'Idempotency-Key': key })
const otherRequest = [400, 'Idempotency-Key value_error.conflict']
const count = async (table: string) =>
  Number((await api.database.query<{ count: string }>(`select count(*) from ${table}`))[0]?.count)

/** Stops whoever comes to this place until it is let go. */
function hold(place: string): { reached: Promise<void>; letGo: () => void } {
  const reached = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  onFailpoint(async (name) => {
    if (name !== place) return
    reached.resolve()
    await free.promise
  })
  return { reached: reached.promise, letGo: free.resolve }
}

/** Dies at this place, as a process would. */
function dieAt(place: string): void {
  onFailpoint(async (name) => {
    if (name === place) throw new Error('the process died')
  })
}
afterEach(() => onFailpoint(async () => undefined))

const expireLease = (key: string) =>
  api.database.query("update idempotency_keys set lease_until = now() - interval '1 second' where key = $1", [key])

describe('a payment with a key', () => {
  test('is made once, and answered with the same bytes', async () => {
    const key = randomUUID()
    const first = await pay({}, withKey(key))
    const before = await count('transactions')
    const again = await pay({}, withKey(key))
    expect([again.status, again.text]).toEqual([201, first.text])
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ])
    expect(await count('transactions')).toBe(before)
  })

  test.each([
    ['declined', { amount: 200_011 }],
    ['not taken by anybody', { currency: 'SEK' }],
    ['stored', { store: true }],
    ['not decided', { payment_method: card('4000000000002008') }],
  ])('is answered the same when it is %s', async (_name, change) => {
    const key = randomUUID()
    const first = await pay(change, withKey(key))
    const before = [await count('transactions'), await count('payment_methods')]
    const again = await pay(change, withKey(key))
    expect([again.status, again.text]).toEqual([first.status, first.text])
    expect([await count('transactions'), await count('payment_methods')]).toEqual(before)
  })

  test('is the first answer, whatever became of the payment since', async () => {
    const key = randomUUID()
    const first = await pay({}, withKey(key))
    await act(`/transactions/${first.body.id}/capture`)
    expect((await pay({}, withKey(key))).text).toBe(first.text)
  })

  test('is the first answer, also when the request could not be made any more', async () => {
    const key = randomUUID()
    const { id } = await store()
    const change = { payment_method: { method: 'id', id } }
    const first = await pay(change, withKey(key))
    await api.request('DELETE', `/payment-methods/${id}`)
    const again = await pay(change, withKey(key))
    expect([again.status, again.text]).toEqual([201, first.text])
  })

  test.each([
    ['another amount', { amount: 1300 }],
    ['another number', { payment_method: card('4242424242424242') }],
    ['another date', { payment_method: card(undefined, { expiration_date: '11/30' }) }],
    ['a field more', { external_identifier: 'order-1' }],
  ])('is refused with %s', async (_name, change) => {
    const key = randomUUID()
    await pay({}, withKey(key))
    expect(refusal(await pay(change, withKey(key)))).toEqual(otherRequest)
  })

  test('is the same request with another security code, or none, and with its fields in another order', async () => {
    const key = randomUUID()
    const first = await pay({}, withKey(key))
    for (const security_code of ['999', null]) {
      const again = await pay({ payment_method: card(undefined, { security_code }) }, withKey(key))
      expect(again.text).toBe(first.text)
    }
    const { security_code, expiration_date, number, method } = card()
    const payment_method = { security_code, expiration_date, number, method }
    const body = { payment_method, country: 'DE', currency: 'EUR', amount: 1299 }
    const again = await api.request('POST', '/transactions', { body, headers: withKey(key) })
    expect(again.text).toBe(first.text)
  })

  test('is not remembered when the request was refused', async () => {
    const key = randomUUID()
    expect((await pay({ amount: -1 }, withKey(key))).status).toBe(400)
    expect((await pay({ async_capture: true }, withKey(key))).status).toBe(400)
    expect((await pay({}, withKey(key))).status).toBe(201)
  })

  test('belongs to its merchant account and its operation', async () => {
    const key = randomUUID()
    const { body } = await pay({}, withKey(key))
    const other = { ...withKey(key), 'X-Service-Merchant-Account-ID': 'other' }
    const elsewhere = await pay({}, other)
    expect(elsewhere.status).toBe(201)
    expect(elsewhere.body.id).not.toBe(body.id)
    expect((await act(`/transactions/${body.id}/capture`, undefined, withKey(key))).status).toBe(200)
  })

  test('is a new one after 24 hours', async () => {
    const key = randomUUID()
    const first = await pay({}, withKey(key))
    const age = (hours: string) =>
      api.database.query('update idempotency_keys set created_at = now() - $2::interval where key = $1', [key, hours])
    await age('23 hours 59 minutes')
    expect((await pay({}, withKey(key))).body.id).toBe(first.body.id)
    await age('24 hours 1 minute')
    const second = await pay({ amount: 1300 }, withKey(key))
    expect(second.status).toBe(201)
    expect(second.body.id).not.toBe(first.body.id)
    expect((await pay({ amount: 1300 }, withKey(key))).text).toBe(second.text)
  })
})

describe('while the first request runs', () => {
  test.each(['authorize: intent recorded', 'authorize: provider answered'])(
    'a second one gets 409, and afterwards the answer (%s)',
    async (place) => {
      const key = randomUUID()
      const { reached, letGo } = hold(place)
      const first = pay({}, withKey(key))
      await reached
      const second = await pay({}, withKey(key))
      expect([second.status, second.body['code']]).toEqual([409, 'concurrent_request'])
      expect(refusal(await pay({ amount: 1 }, withKey(key)))).toEqual(otherRequest)
      letGo()
      const answer = await first
      expect(answer.status).toBe(201)
      expect((await pay({}, withKey(key))).text).toBe(answer.text)
    },
  )

  test('twenty at once make one payment', async () => {
    const key = randomUUID()
    const before = await count('transactions')
    const answers = await Promise.all(Array.from({ length: 20 }, () => pay({ store: true }, withKey(key))))
    expect(await count('transactions')).toBe(before + 1)
    const made = answers.filter(({ status }) => status === 201)
    expect(new Set(made.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
    expect(made.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1)
  })
})

describe('a request that died', () => {
  test.each([
    ['before its provider heard of it', 'authorize: intent recorded', 'authorization_failed'],
    ['after its provider had answered', 'authorize: provider answered', 'authorization_succeeded'],
  ])('%s is finished by asking the provider, not repeated', async (_name, place, status) => {
    const key = randomUUID()
    dieAt(place)
    expect((await pay({}, withKey(key))).status).toBe(500)
    onFailpoint(async () => undefined)
    const before = [await count('transactions'), await count('attempts')]
    expect((await pay({}, withKey(key))).status).toBe(409)
    await expireLease(key)
    const finished = await pay({}, withKey(key))
    expect([finished.status, finished.body.status]).toEqual([201, status])
    expect(finished.headers.get('idempotency-replayed')).toBe('true')
    expect([await count('transactions'), await count('attempts')]).toEqual(before)
    expect((await pay({}, withKey(key))).text).toBe(finished.text)
  })

  test('may be finished by one of those who come again, and only one', async () => {
    const key = randomUUID()
    dieAt('authorize: provider answered')
    await pay({}, withKey(key))
    onFailpoint(async () => undefined)
    await expireLease(key)
    const answers = await Promise.all(Array.from({ length: 5 }, () => pay({}, withKey(key))))
    const finished = answers.filter(({ status }) => status === 201)
    expect(finished.length).toBeGreaterThan(0)
    expect(new Set(finished.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
  })

  test('a capture is finished, with the answer that was preferred', async () => {
    const [key, path] = [randomUUID(), await paid()]
    const headers = { ...withKey(key), ...preferring('transaction-capture') }
    dieAt('capture: provider answered')
    expect((await act(`${path}/capture`, { amount: 1000 }, headers)).status).toBe(500)
    onFailpoint(async () => undefined)
    await expireLease(key)
    const finished = await act(`${path}/capture`, { amount: 1000 }, headers)
    expect(finished.body).toMatchObject({ type: 'transaction-capture', status: 'succeeded' })
    expect(await get(path)).toMatchObject({ status: 'capture_succeeded', captured_amount: 1000 })
    expect((await act(`${path}/capture`, { amount: 1000 }, headers)).text).toBe(finished.text)
  })

  test('a refund is finished, and the money is given back once', async () => {
    const [key, path] = [randomUUID(), await paid({ intent: 'capture' })]
    dieAt('refund: provider answered')
    expect((await act(`${path}/refunds`, { amount: 1000 }, withKey(key))).status).toBe(500)
    onFailpoint(async () => undefined)
    await expireLease(key)
    const finished = await act(`${path}/refunds`, { amount: 1000 }, withKey(key))
    expect([finished.status, finished.body.status]).toEqual([201, 'succeeded'])
    expect(await get(path)).toMatchObject({ refunded_amount: 1000 })
    const { items } = await get<{ items: unknown[] }>(`${path}/refunds`)
    expect(items).toHaveLength(1)
  })

  test('a void is finished', async () => {
    const [key, path] = [randomUUID(), await paid()]
    dieAt('void: intent recorded')
    expect((await act(`${path}/void`, undefined, withKey(key))).status).toBe(500)
    onFailpoint(async () => undefined)
    await expireLease(key)
    // The provider never heard of it: nothing was voided, and nothing is voided now.
    const finished = await act(`${path}/void`, undefined, { ...withKey(key), ...preferring('transaction-void') })
    expect(finished.body).toMatchObject({ status: 'failed', transaction: { status: 'authorization_succeeded' } })
    expect((await act(`${path}/void`)).body).toMatchObject({ status: 'authorization_voided' })
  })
})

test.each(['capture', 'void', 'refunds', 'refunds/all'])('%s with a key happens once', async (action) => {
  const path = await paid(action.startsWith('refunds') ? { intent: 'capture' } : {})
  const key = randomUUID()
  const first = await act(`${path}/${action}`, undefined, withKey(key))
  const again = await act(`${path}/${action}`, undefined, withKey(key))
  expect([again.status, again.text]).toEqual([first.status, first.text])
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(first.status).toBeLessThan(300)
  expect(await get(path)).toMatchObject({ id: idOf(path) })
})
