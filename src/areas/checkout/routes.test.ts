import { expect, test } from 'vitest'
import { type Answer, send, useApi } from '../../../test/api.ts'
import { accountHeader, checkoutOn, places } from '../../../test/checkout.ts'
import type { CheckoutSession } from './schema.ts'

const api = useApi()
const checkout = checkoutOn(api)
const post = (body?: object) =>
  api.request<CheckoutSession>('POST', '/checkout/sessions', body === undefined ? {} : { body })
const put = (id: string, body: object) => api.request<CheckoutSession>('PUT', `/checkout/sessions/${id}`, { body })
const remove = (id: string) => api.request('DELETE', `/checkout/sessions/${id}`)
const secondsLeft = ({ expires_at }: CheckoutSession) => (new Date(expires_at).getTime() - Date.now()) / 1000

const everything = {
  amount: 1299,
  currency: 'EUR',
  metadata: { order: '4711', note: 'a "quoted" line' },
  cart_items: [{ name: 'Boots', quantity: 2, unit_amount: 600, categories: ['shoes'] }],
  airline: { booking_code: 'X1', legs: [{ arrival_airport: 'BER', stop_over: false }], passengers: null },
  buyer: {
    display_name: 'Ada',
    billing_details: { first_name: 'Ada', address: { postal_code: '10117', country: 'DE' } },
    shipping_details: { last_name: 'Lovelace', address: { city: 'London' } },
  },
  payment_service_id: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e',
}
const hidden = {
  country: 'DE',
  intent: 'capture',
  payment_source: 'card_on_file',
  merchant_initiated: false,
  is_subsequent_payment: true,
}

test('a session can be made of nothing: no body, an empty one with a JSON content type, an empty object', async () => {
  const empty = await api.request('POST', '/checkout/sessions', { headers: { 'content-type': 'application/json' } })
  const blank = await api.request('POST', '/checkout/sessions', { rawBody: '' })
  for (const made of [await post(), empty, blank, await post({})]) {
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      type: 'checkout-session',
      id: expect.any(String),
      amount: null,
      currency: null,
      buyer: null,
      cart_items: null,
      metadata: null,
      airline: null,
      payment_service_id: null,
      payment_method: null,
      expires_at: expect.any(String),
    })
  }
})

test('ids are random throughout: they are what a browser shows', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, async () => (await checkout.create()).id))
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(20)
})

test('what was said comes back as it was given, but for what a session does not show', async () => {
  const made = await post({ ...everything, ...hidden, expires_in: 3600 })
  expect(made.body).toMatchObject(everything)
  for (const name of [...Object.keys(hidden), 'expires_in', 'merchant_account_id']) {
    expect(made.body).not.toHaveProperty(name)
  }
  expect((await checkout.get(made.body.id)).body).toEqual(made.body)
})

test('a session lives an hour, or as long as it was asked to, up to a day', async () => {
  const lives = [undefined, 3600, 5000.5, 86_400]
  for (const expires_in of lives) {
    const { body } = await post(expires_in === undefined ? {} : { expires_in })
    expect(Math.abs(secondsLeft(body) - (expires_in ?? 3600))).toBeLessThan(10)
  }
  for (const expires_in of [3599, 86_401, 0, -1, '3600', null]) {
    const refused = await post({ expires_in })
    expect([refused.status, places(refused as unknown as Answer)[0]]).toEqual([
      400,
      expect.stringMatching(/^body \/expires_in /),
    ])
  }
})

test('an update changes what it names, clears what is null, and keeps the rest', async () => {
  const made = await checkout.create({ ...everything, ...hidden })
  const changed = await put(made.id, { amount: 1, metadata: { other: 'x' }, airline: null })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({ ...made, amount: 1, metadata: { other: 'x' }, airline: null })
  expect((await put(made.id, {})).body).toEqual(changed.body)
  const [row] = await api.database.query(
    'select country, intent, payment_source, merchant_initiated, is_subsequent_payment from checkout_sessions where id = $1',
    [made.id],
  )
  expect(row).toEqual(hidden)
})

test('an update leaves the end where it was, unless it names another', async () => {
  const made = await checkout.create({ expires_in: 7200 })
  expect((await put(made.id, { amount: 5 })).body.expires_at).toBe(made.expires_at)
  const longer = await put(made.id, { expires_in: 80_000 })
  expect(Math.abs(secondsLeft(longer.body) - 80_000)).toBeLessThan(10)
})

test('source, initiator and series must make sense together once all three are said', async () => {
  const odd = { payment_source: 'ecommerce', merchant_initiated: true, is_subsequent_payment: false }
  expect(places((await post(odd)) as unknown as Answer)).toEqual(['body /merchant_initiated value_error.conflict'])
  const series = { payment_source: 'recurring', merchant_initiated: true, is_subsequent_payment: false }
  expect(places((await post(series)) as unknown as Answer)).toEqual([
    'body /is_subsequent_payment value_error.conflict',
  ])
  const { payment_source, merchant_initiated } = odd
  const open = await post({ payment_source, merchant_initiated })
  expect(open.status).toBe(201)
  const closed = await put(open.body.id, { is_subsequent_payment: false })
  expect(places(closed as unknown as Answer)).toEqual(['body /merchant_initiated value_error.conflict'])
  // The first of a series is stored; whether it will be is for the payment to say.
  expect(
    (await post({ payment_source: 'recurring', merchant_initiated: false, is_subsequent_payment: false })).status,
  ).toBe(201)
})

test('an expired session is not there, for anybody and anything', async () => {
  const id = await checkout.ready()
  await checkout.expire(id)
  const browser = (method: string, path: string, body: object) =>
    send(api.url(), method, `/checkout/sessions/${id}/${path}`, { body })
  const card = { payment_method: { method: 'card', number: '4111111111111111', expiration_date: '12/40' } }
  const statuses = [
    await checkout.get(id),
    await put(id, { expires_in: 3600 }),
    await remove(id),
    await browser('PUT', 'fields', card),
    await browser('POST', 'fields', card),
    await browser('POST', 'card-details', { bin: '411111' }),
    await checkout.pay(id),
    await api.request('POST', '/payment-methods', { body: { method: 'checkout-session', id } }),
  ].map(({ status }) => status)
  expect(statuses).toEqual(Array(8).fill(404))
})

test('a deleted session is not there either, and its card and code are gone from the vault', async () => {
  const id = await checkout.ready()
  expect(await checkout.inVault(id)).toEqual(['number', 'waiting security_code'])
  expect((await remove(id)).status).toBe(204)
  expect(await checkout.inVault(id)).toEqual([])
  const answers = [await checkout.get(id), await remove(id), await checkout.sendCard(id), await checkout.pay(id)]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
})

test('another account does not see a session: not to read, change, delete, pay with or store', async () => {
  const { id } = await checkout.create({}, 'other')
  expect((await checkout.sendCard(id)).status).toBe(204)
  const store = { body: { method: 'checkout-session', id } }
  const answers = [
    await checkout.get(id),
    await put(id, { amount: 1 }),
    await remove(id),
    await checkout.pay(id),
    await api.request('POST', '/payment-methods', store),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  const headers = { [accountHeader]: 'other' }
  expect((await api.request('POST', '/payment-methods', { ...store, headers })).status).toBe(201)
})

test('every change of a session is in the audit log, those of a browser under its own name', async () => {
  const id = await checkout.ready({ amount: 1 })
  await put(id, { amount: 2 })
  await remove(id)
  const rows = await api.database.query(
    `select action, operation, actor_id is null as is_nobody, actor_name from audit_logs where resource_id = $1 order by id`,
    [id],
  )
  const by = (action: string, operation: string) => ({ action, operation, is_nobody: false, actor_name: 'Test' })
  expect(rows).toEqual([
    by('created', 'createCheckoutSession'),
    { action: 'updated', operation: 'updateCheckoutSessionFields', is_nobody: true, actor_name: 'checkout session' },
    by('updated', 'updateCheckoutSession'),
    by('deleted', 'deleteCheckoutSession'),
  ])
})
