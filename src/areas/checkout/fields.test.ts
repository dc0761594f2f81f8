import { expect, test } from 'vitest'
import { send, useApi } from '../../../test/api.ts'
import { checkoutOn, places, visa } from '../../../test/checkout.ts'
import type { CardDetails } from './schema.ts'

const api = useApi()
const checkout = checkoutOn(api)
const storeMethod = async (headers: Record<string, string> = {}) => {
  const body = { method: 'card', number: '5555555555554444', expiration_date: '11/40' }
  return String((await api.request('POST', '/payment-methods', { body, headers })).body['id'])
}

test('a card that is sent shows what a stored one shows, and nothing of its number or code', async () => {
  const { id } = await checkout.create()
  const sent = await checkout.sendCard(id, { security_code: '737' }, { postal_code: '10117' })
  expect([sent.status, sent.text]).toEqual([204, ''])
  const shown = await checkout.get(id)
  expect(shown.body.payment_method).toEqual({
    type: 'payment-method',
    id: null,
    method: 'card',
    label: '1111',
    scheme: 'visa',
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    details: { bin: '41111111', card_country: 'US', card_type: 'credit', card_issuer_name: expect.any(String) },
  })
  expect(shown.text).not.toContain(visa.number)
  expect(await checkout.inVault(id)).toEqual(['number', 'waiting security_code'])
  const [row] = await api.database.query<{ text: string }>(
    `select row_to_json(s)::text as text from checkout_sessions s where id = $1`,
    [id],
  )
  expect(row?.text).toContain('"expiration_date":"12/40","payment_method_id":null,"postal_code":"10117"')
  expect(row?.text).not.toMatch(/4111111111111111|"737"/)
})

test('PUT and POST are the same', async () => {
  const { id } = await checkout.create()
  expect((await checkout.fields(id, { payment_method: visa }, 'POST')).status).toBe(204)
  expect((await checkout.get(id)).body.payment_method?.label).toBe('1111')
  const other = { payment_method: { ...visa, number: '5555555555554444' } }
  expect((await checkout.fields(id, other, 'PUT')).status).toBe(204)
  expect((await checkout.get(id)).body.payment_method?.label).toBe('4444')
})

test('a mistyped number and a month that does not exist are refused, both at once, and nothing is kept', async () => {
  const { id } = await checkout.create()
  const refused = await checkout.sendCard(id, { number: '4111111111111112', expiration_date: '13/40' })
  expect(refused.status).toBe(400)
  expect(places(refused)).toEqual([
    'body /payment_method/number value_error.luhn',
    'body /payment_method/expiration_date value_error.range',
  ])
  expect(refused.text).not.toContain('4111111111111112')
  expect(await checkout.inVault(id)).toEqual([])
  expect((await checkout.get(id)).body.payment_method).toBeNull()
})

test.each([
  [{ number: '411111111111' }, 'body /payment_method/number value_error.pattern'],
  [{ number: 4111111111111111 }, 'body /payment_method/number type_error.string'],
  [{ security_code: '12' }, 'body /payment_method/security_code value_error.pattern'],
  [{ security_code: 'abc' }, 'body /payment_method/security_code value_error.pattern'],
  [{ expiration_date: '2040-12' }, 'body /payment_method/expiration_date value_error.length'],
  [{ method: 'paypal' }, 'body /payment_method/method type_error.enum'],
  [{ external_identifier: 'x' }, 'body /payment_method/external_identifier value_error.extra'],
])('a card with %o is refused', async (change, place) => {
  const { id } = await checkout.create()
  const refused = await checkout.sendCard(id, change)
  expect([refused.status, places(refused)]).toEqual([400, expect.arrayContaining([place])])
})

test('sending again replaces number, code and postal code; without a code none is left', async () => {
  const { id } = await checkout.create()
  await checkout.sendCard(id, {}, { postal_code: '10117' })
  await checkout.sendCard(id, { number: '5555555555554444', expiration_date: '01/41', security_code: '456' })
  expect(await checkout.inVault(id)).toEqual(['number', 'waiting security_code'])
  expect(await api.vault.client().readCard({ merchantAccountId: 'default', id })).toBe('5555555555554444')
  const [row] = await api.database.query('select expiration_date, postal_code from checkout_sessions where id = $1', [
    id,
  ])
  expect(row).toEqual({ expiration_date: '01/41', postal_code: null })
  await checkout.sendCard(id, { security_code: null })
  expect(await checkout.inVault(id)).toEqual(['number'])
})

test('a code waits no longer than its session', async () => {
  const { id, expires_at } = await checkout.create({ expires_in: 4000 })
  await checkout.sendCard(id)
  const [row] = await api.database.query<{ expires_at: Date }>('select expires_at from vault.waiting where id = $1', [
    id,
  ])
  expect(row?.expires_at.toISOString()).toBe(expires_at)
})

test('a stored method is chosen by its id: its facts are shown, its number stays its own, an earlier card is gone', async () => {
  const methodId = await storeMethod()
  const id = await checkout.ready()
  const sent = await checkout.fields(id, { payment_method: { method: 'id', id: methodId, security_code: '123' } })
  expect(sent.status).toBe(204)
  expect((await checkout.get(id)).body.payment_method).toMatchObject({
    id: methodId,
    label: '4444',
    scheme: 'mastercard',
  })
  expect(await checkout.inVault(id)).toEqual(['waiting security_code'])
  await checkout.fields(id, { payment_method: { method: 'id', id: methodId } })
  expect(await checkout.inVault(id)).toEqual([])
  await checkout.sendCard(id)
  expect((await checkout.get(id)).body.payment_method).toMatchObject({ id: null, label: '1111' })
})

test("a stored method must be there, in the session's own account; the card that was sent before stays", async () => {
  const foreign = await storeMethod({ 'X-Service-Merchant-Account-ID': 'other' })
  const id = await checkout.ready()
  for (const methodId of [foreign, '01900000-0000-7000-8000-000000000000']) {
    const refused = await checkout.fields(id, { payment_method: { method: 'id', id: methodId, security_code: '999' } })
    expect([refused.status, places(refused)]).toEqual([400, ['body /payment_method/id value_error.unknown']])
  }
  expect((await checkout.get(id)).body.payment_method?.label).toBe('1111')
  expect(await checkout.inVault(id)).toEqual(['number', 'waiting security_code'])
})

test('Click to Pay is known and not supported', async () => {
  const { id } = await checkout.create()
  const method = { method: 'click-to-pay', merchant_transaction_id: 'a', src_correlation_id: 'b', src_dpa_id: 'c' }
  const refused = await checkout.fields(id, { payment_method: method })
  expect([refused.status, places(refused)]).toEqual([400, ['body /payment_method/method value_error.unsupported']])
})

test('an unknown session takes nothing, and nothing of what was sent is kept', async () => {
  const [before] = await api.database.query('select count(*) from vault.secrets')
  const unknown = '0b8f8f2c-7f0b-4f6e-9d8e-1a2b3c4d5e6f'
  expect((await checkout.sendCard(unknown)).status).toBe(404)
  expect((await api.database.query('select count(*) from vault.secrets'))[0]).toEqual(before)
})

test.each([
  ['41111111', 'visa', []],
  ['555555', 'mastercard', []],
  ['378282', 'amex', []],
  ['670344', 'bancontact', ['maestro']],
  ['999999', 'other', []],
])('the first digits %s tell %s', async (bin, scheme, additional_schemes) => {
  const { id } = await checkout.create()
  const { status, body } = await send<CardDetails>(api.url(), 'POST', `/checkout/sessions/${id}/card-details`, {
    body: { bin },
  })
  expect(status).toBe(200)
  expect(body).toEqual({
    bin,
    card_type: null,
    scheme,
    scheme_icon_url: `${api.url()}/card-schemes/${scheme}.svg`,
    additional_schemes,
  })
  expect((await fetch(body.scheme_icon_url ?? '')).status).toBe(200)
})

test.each(['41111', '411111111', '41111a', ''])('%o is not the beginning of a card number', async (bin) => {
  const { id } = await checkout.create()
  const refused = await send(api.url(), 'POST', `/checkout/sessions/${id}/card-details`, { body: { bin } })
  expect([refused.status, places(refused)]).toEqual([400, ['body /bin value_error.pattern']])
})

test('when the vault cannot store the card the browser hears of it, and the session is as it was', async () => {
  const { id } = await checkout.create()
  await api.database.query('alter table vault.secrets add constraint refused check (false) not valid')
  try {
    expect((await checkout.sendCard(id)).status).toBeGreaterThanOrEqual(500)
  } finally {
    await api.database.query('alter table vault.secrets drop constraint refused')
  }
  expect((await checkout.get(id)).body.payment_method).toBeNull()
  expect((await checkout.sendCard(id)).status).toBe(204)
})
