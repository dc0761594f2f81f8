import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { accountHeader, checkoutOn } from '../../../test/checkout.ts'
import { card, type Payment, refusal, usePayments } from '../../../test/payments.ts'

const { api, pay, store, get } = usePayments()
const checkout = checkoutOn(api)

/** A token for a browser with these pinned values. */
const browser = (embed?: object, claims: object = {}) =>
  api.makeToken(api.owner(), { scopes: ['embed'], claims: { ...(embed && { embed }), ...claims } })

interface Sent {
  headers?: Record<string, string>
}
const payWith = (token: string, change: object = {}, { headers = {} }: Sent = {}) =>
  api.request<Payment>('POST', '/transactions', {
    token,
    headers,
    body: { amount: 1299, currency: 'EUR', country: 'DE', payment_method: card(), ...change },
  })

async function makeBuyer(account = 'default'): Promise<{ id: string; external_identifier: string }> {
  const { body } = await api.request<{ id: string; external_identifier: string }>('POST', '/buyers', {
    headers: { [accountHeader]: account },
    body: { external_identifier: `buyer-${randomUUID()}`, display_name: 'Ada' },
  })
  return body
}

const messages = (answer: { body: unknown }) =>
  (answer.body as { details: { message: string }[] }).details.map(({ message }) => message)

test('a browser pays with a token that pins nothing, as a guest', async () => {
  const answer = await payWith(await browser(), { buyer: { display_name: 'Ada' } })
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({ amount: 1299, status: 'authorization_succeeded', buyer: { id: null } })
})

test('a token with the scope embed is for browsers, whatever other scopes it lists', async () => {
  const token = await api.makeToken(api.owner(), { scopes: ['embed', '*.read', '*.write'] })
  expect((await api.request('GET', '/transactions', { token })).status).toBe(403)
  expect((await payWith(token)).status).toBe(201)
})

test("a key pair's roles do not matter to a token for browsers", async () => {
  const pair = await api.makeKeyPair({ roleIds: [] })
  expect((await payWith(await api.makeToken(pair, { scopes: ['embed'] }))).status).toBe(201)
  expect((await payWith(await api.makeToken(pair))).status).toBe(403)
})

test('what is pinned must be sent, every difference is told at once, and nothing is paid', async () => {
  const pins = {
    amount: 1299,
    currency: 'EUR',
    metadata: { order: '1', shop: 'a' },
    cart_items: [{ name: 'Boots', quantity: 1, unit_amount: 1299 }],
    connection_options: { 'mock-card': { a: 1, b: [1, 2] } },
  }
  const same = {
    metadata: { shop: 'a', order: '1' },
    cart_items: [{ unit_amount: 1299, quantity: 1, name: 'Boots' }],
    connection_options: { 'mock-card': { b: [1, 2], a: 1 } },
  }
  const token = await browser(pins)
  expect((await payWith(token, same)).status).toBe(201)
  const before = await api.database.query('select from transactions')
  const refused = await payWith(token, { amount: 1, currency: 'USD', metadata: { order: '1' } })
  expect(refusal(refused)).toEqual([
    400,
    '/amount value_error.conflict',
    '/cart_items value_error.conflict',
    '/connection_options value_error.conflict',
    '/currency value_error.conflict',
    '/metadata value_error.conflict',
  ])
  expect(messages(refused)).toContain('Must be 1299, as the token says')
  expect(messages(refused)).toContain('Must be {"order":"1","shop":"a"}, as the token says')
  for (const [name, value] of [
    ['metadata', { ...same.metadata, more: 'x' }],
    ['metadata', null],
    ['cart_items', [...same.cart_items, ...same.cart_items]],
    ['cart_items', []],
    ['connection_options', { 'mock-card': { a: 1, b: [2, 1] } }],
    ['amount', 1300],
  ] as const) {
    expect(refusal(await payWith(token, { ...same, [name]: value }))).toEqual([400, `/${name} value_error.conflict`])
  }
  expect(await api.database.query('select from transactions')).toHaveLength(before.length)
})

test('a pinned account is the default and the only one', async () => {
  const token = await browser({ merchant_account_id: 'other' })
  expect((await payWith(token)).body).toMatchObject({ merchant_account_id: 'other' })
  expect((await payWith(token, {}, { headers: { [accountHeader]: 'other' } })).status).toBe(201)
  expect((await payWith(token, {}, { headers: { [accountHeader]: 'default' } })).status).toBe(404)
})

test('a pinned account that does not exist, or that the key pair does not reach, is not found', async () => {
  expect((await payWith(await browser({ merchant_account_id: 'nowhere' }))).status).toBe(404)
  const bound = await api.makeKeyPair({ merchantAccountIds: ['default'] })
  const token = await api.makeToken(bound, { scopes: ['embed'], claims: { embed: { merchant_account_id: 'other' } } })
  for (const headers of [{}, { [accountHeader]: 'other' }, { [accountHeader]: 'default' }]) {
    expect((await payWith(token, {}, { headers })).status).toBe(404)
  }
})

test('a browser pays for the buyer that its token pins, by either name', async () => {
  const buyer = await makeBuyer()
  const names = [{ buyer_id: buyer.id }, { buyer_external_identifier: buyer.external_identifier }]
  for (const embed of names) {
    for (const named of names) {
      const answer = await payWith(await browser(embed), named)
      expect(answer.body).toMatchObject({ buyer: { id: buyer.id } })
    }
  }
  const nested = await payWith(await browser(names[0]), { payment_method: card(undefined, { buyer_id: buyer.id }) })
  expect(nested.body).toMatchObject({ buyer: { id: buyer.id } })
})

test('a buyer that the token does not pin is refused, with advice, and so is leaving out the one that it pins', async () => {
  const [buyer, other] = [await makeBuyer(), await makeBuyer()]
  const guest = await payWith(await browser(), { buyer_id: buyer.id })
  expect(refusal(guest)).toEqual([400, '/buyer_id value_error.conflict'])
  expect(messages(guest)[0]).toMatch(/sign the token with embed\.buyer_id/)
  const token = await browser({ buyer_id: buyer.id })
  for (const [pointer, change] of [
    ['/buyer_id', { buyer_id: other.id }],
    ['/buyer_external_identifier', { buyer_external_identifier: other.external_identifier }],
    ['/buyer_external_identifier', { buyer_external_identifier: 'nobody' }],
    ['/payment_method/buyer_id', { payment_method: card(undefined, { buyer_id: other.id }) }],
    ['/payment_method/buyer_id', { buyer_id: buyer.id, payment_method: card(undefined, { buyer_id: other.id }) }],
    ['/buyer_id', {}],
    ['/buyer_id', { buyer: { display_name: 'a guest' } }],
  ] as const) {
    expect(refusal(await payWith(token, change))).toEqual([400, `${pointer} value_error.conflict`])
  }
  const byReference = await browser({ buyer_external_identifier: buyer.external_identifier })
  expect(refusal(await payWith(byReference))).toEqual([400, '/buyer_external_identifier value_error.conflict'])
  expect(refusal(await payWith(byReference, { buyer_id: other.id }))).toEqual([400, '/buyer_id value_error.conflict'])
})

test('a pinned buyer of another account is nobody here', async () => {
  const [here, there] = [await makeBuyer(), await makeBuyer('other')]
  const method = await store({ buyer_id: here.id })
  const token = await browser({ buyer_external_identifier: there.external_identifier })
  const change = {
    buyer_external_identifier: there.external_identifier,
    payment_method: { method: 'id', id: method.id },
  }
  expect(refusal(await payWith(token, change))).toEqual([
    400,
    '/buyer_external_identifier value_error.unknown',
    '/payment_method/id value_error.unknown',
  ])
})

test('a stored method of a buyer is there for a token that pins this buyer, and for no other browser', async () => {
  const [buyer, other] = [await makeBuyer(), await makeBuyer()]
  const method = await store({ buyer_id: buyer.id })
  const stored = { payment_method: { method: 'id', id: method.id } }
  const unknown = { payment_method: { method: 'id', id: randomUUID() } }
  for (const [embed, named] of [
    [undefined, {}],
    [{ buyer_id: other.id }, { buyer_id: other.id }],
  ] as const) {
    const token = await browser(embed)
    const [foreign, none] = [
      await payWith(token, { ...stored, ...named }),
      await payWith(token, { ...unknown, ...named }),
    ]
    expect(refusal(foreign)).toEqual([400, '/payment_method/id value_error.unknown'])
    expect(foreign.body).toEqual(none.body)
    const remove = (id: string) => api.request('DELETE', `/payment-methods/${id}`, { token })
    expect((await remove(method.id)).status).toBe(404)
    expect((await remove(method.id)).body).toEqual((await remove(randomUUID())).body)
    const list = await api.request('GET', `/buyers/payment-methods?buyer_id=${buyer.id}`, { token })
    expect(refusal(list)).toEqual([400, 'buyer_id value_error.conflict'])
  }
  expect(await get(`/payment-methods/${method.id}`)).toMatchObject({ id: method.id })

  const own = await browser({ buyer_external_identifier: buyer.external_identifier })
  const list = await api.request<{ items: { id: string }[] }>('GET', `/buyers/payment-methods?buyer_id=${buyer.id}`, {
    token: own,
  })
  expect(list.body.items.map(({ id }) => id)).toEqual([method.id])
  expect((await payWith(own, { ...stored, buyer_id: buyer.id })).status).toBe(201)
  expect((await api.request('DELETE', `/payment-methods/${method.id}`, { token: own })).status).toBe(204)
})

test("a method that a browser chose for a checkout session is its buyer's all the same", async () => {
  const buyer = await makeBuyer()
  const method = await store({ buyer_id: buyer.id })
  const { id } = await checkout.create()
  await checkout.fields(id, { payment_method: { method: 'id', id: method.id } })
  const payment_method = { method: 'checkout-session', id }
  expect(refusal(await payWith(await browser(), { payment_method }))).toEqual([
    400,
    '/payment_method/id value_error.unknown',
  ])
  const own = await browser({ buyer_id: buyer.id })
  expect((await payWith(own, { payment_method, buyer_id: buyer.id })).status).toBe(201)
})

test('a payment with a token of a checkout session belongs to it, whatever pays, and uses it up', async () => {
  const method = await store()
  for (const payment_method of [card(), { method: 'id', id: method.id }]) {
    const { id } = await checkout.create({ metadata: { order: 'of the session' } })
    const token = await browser(undefined, { checkout_session_id: id })
    const paid = await payWith(token, { payment_method })
    expect(paid.body).toMatchObject({ checkout_session_id: id, metadata: { order: 'of the session' } })
    expect(await get(`/transactions/${paid.body.id}`)).toMatchObject({ checkout_session_id: id })
    const again = await payWith(token, { payment_method })
    expect(refusal(again)).toEqual([400, 'Authorization value_error.conflict'])
    expect(messages(again)[0]).toMatch(/used already.*make a new one/)
    expect((await checkout.sendCard(id)).status).toBe(400)
  }
})

test('the claim holds servers too, and its session takes what was sent to it with the payment', async () => {
  const id = await checkout.ready()
  const token = await api.makeToken(api.owner(), { claims: { checkout_session_id: id } })
  const other = await checkout.ready()
  const refused = await payWith(token, { payment_method: { method: 'checkout-session', id: other } })
  expect(refusal(refused)).toEqual([400, '/payment_method/id value_error.conflict'])
  const paid = await payWith(token, { payment_method: { method: 'checkout-session', id } })
  expect(paid.body).toMatchObject({ checkout_session_id: id, status: 'authorization_succeeded' })
  expect(await checkout.inVault(id)).toEqual([])
})

test("a card that is sent with the payment keeps its own security code, not the session's", async () => {
  const id = await checkout.ready(undefined, { security_code: '123' })
  const token = await browser(undefined, { checkout_session_id: id })
  const paid = await payWith(token, { payment_method: card(undefined, { security_code: '999' }) })
  const alone = await pay({ payment_method: card(undefined, { security_code: '999' }) })
  expect(paid.body['cvv_response_code']).toBe(alone.body['cvv_response_code'])
  expect(paid.body).toMatchObject({ checkout_session_id: id })
  expect(await checkout.inVault(id)).toEqual([])
})

test('a session that is not there, has expired, or says another amount is refused', async () => {
  const { id } = await checkout.create({ amount: 500 })
  const token = await browser(undefined, { checkout_session_id: id })
  expect(refusal(await payWith(token))).toEqual([400, '/amount value_error.conflict'])
  await checkout.expire(id)
  const elsewhere = await checkout.create({}, 'other')
  for (const claimed of [id, elsewhere.id, randomUUID()]) {
    const answer = await payWith(await browser(undefined, { checkout_session_id: claimed }))
    expect(refusal(answer)).toEqual([400, 'Authorization value_error.conflict'])
    expect(messages(answer)[0]).toMatch(/no such checkout session/)
  }
})

test('of many payments at once in one session of a token exactly one is made', async () => {
  const { id } = await checkout.create()
  const token = await browser(undefined, { checkout_session_id: id })
  const answers = await Promise.all(Array.from({ length: 20 }, () => payWith(token)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expect(refusal(answer)).toEqual([400, 'Authorization value_error.conflict'])
  }
})

test('the same key is answered again in the same session, and is another request in another', async () => {
  const [one, other] = [await checkout.create(), await checkout.create()]
  const headers = { 'idempotency-key': randomUUID() }
  const within = async (id: string) => payWith(await browser(undefined, { checkout_session_id: id }), {}, { headers })
  const first = await within(one.id)
  const again = await within(one.id)
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(refusal(await within(other.id))).toEqual([400, 'Idempotency-Key value_error.conflict'])
})
