import { describe, expect, test } from 'vitest'
import { card, refusal, usePayments } from '../../../test/payments.ts'
import { newId } from '../../ids.ts'
import { paymentSources } from './rules.ts'

const { api, pay, paid, get, store, act } = usePayments()

describe('the amount', () => {
  test.each([0, 1, 99_999_999])('%i can be authorized', async (amount) => {
    const { status, body } = await pay({ amount })
    expect([status, body.status, body['authorized_amount']]).toEqual([201, 'authorization_succeeded', amount])
  })

  test.each([
    [-1, 'value_error.range'],
    [100_000_000, 'value_error.range'],
    [1.5, 'type_error.integer'],
    ['1', 'type_error.integer'],
  ])('%o is refused', async (amount, type) => {
    expect(refusal(await pay({ amount }))).toEqual([400, `/amount ${type}`])
  })

  test('nothing cannot be charged', async () => {
    expect(refusal(await pay({ amount: 0, intent: 'capture' }))).toEqual([400, '/amount value_error.range'])
  })

  test('amount and currency are required, and something that pays', async () => {
    const missing = (body: object) => api.request('POST', '/transactions', { body }).then(refusal)
    expect(await missing({})).toEqual([400, '/amount value_error.missing', '/currency value_error.missing'])
    const payment = { amount: 1299, currency: 'EUR' }
    expect(await missing(payment)).toEqual([400, '/payment_method value_error.missing'])
    expect(await missing({ ...payment, payment_method: null, gift_cards: [] })).toEqual([
      400,
      '/payment_method value_error.missing',
    ])
  })
})

test('intent capture charges at once, intent authorize only reserves', async () => {
  expect((await pay({ intent: 'capture' })).body).toMatchObject({
    status: 'capture_succeeded',
    intent: 'capture',
    intent_outcome: 'succeeded',
    authorized_amount: 1299,
    captured_amount: 1299,
    captured_at: expect.any(String),
  })
  expect((await pay()).body).toMatchObject({
    status: 'authorization_succeeded',
    intent: 'authorize',
    intent_outcome: 'succeeded',
    captured_amount: 0,
    authorized_at: expect.any(String),
    captured_at: null,
  })
})

test('a declined payment is created with its code, not refused as a request', async () => {
  const { status, body } = await pay({ amount: 200_011 })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    status: 'authorization_declined',
    error_code: 'insufficient_funds',
    raw_response_code: '51',
    intent_outcome: 'failed',
    authorized_amount: 0,
    authorized_at: null,
  })
})

test('what failed leads to the page about its code: a payment, also when it is asked for again, a capture, a refund', async () => {
  const help = ({ headers }: { headers: Headers }) => headers.get('link')
  const page = (code: string) => `</docs/errors/${code}>; rel="help"`
  const headers = { 'idempotency-key': newId() }
  const metadata = { error_code: 'mine' }
  const declined = await pay({ amount: 200_011, metadata }, headers)
  const { id } = declined.body
  expect(help(declined)).toBe(page('insufficient_funds'))
  expect(help(await pay({ amount: 200_011, metadata }, headers))).toBe(page('insufficient_funds'))
  expect(help(await api.request('GET', `/transactions/${id}`))).toBe(page('insufficient_funds'))
  expect(help(await api.request('GET', `/transactions?id=${id}`))).toBeNull()
  expect(help(await pay({ metadata }))).toBeNull()

  const path = await paid({ amount: 500_002 })
  await act(`${path}/capture`)
  const { items } = await get<{ items: { id: string }[] }>(`${path}/captures`)
  expect(help(await api.request('GET', `${path}/captures/${items[0]?.id}`))).toBe(page('refused_transaction'))
  const refunded = await act(`${await paid({ amount: 520_002, intent: 'capture' })}/refunds`, {})
  expect(help(refunded)).toBe(page('issuer_decline'))
})

test('async_capture goes with intent capture only', async () => {
  expect(refusal(await pay({ async_capture: true }))).toEqual([400, '/async_capture value_error.conflict'])
  expect(refusal(await pay({ async_capture: true, intent: 'authorize' }))[0]).toBe(400)
  expect((await pay({ async_capture: true, intent: 'capture' })).status).toBe(201)
})

test('cart items: at most 249, each of a quantity above 0', async () => {
  const item = { name: 'Boots', quantity: 1, unit_amount: 1299 }
  const { status, body } = await pay({ cart_items: Array.from({ length: 249 }, () => item) })
  expect([status, body['cart_items']]).toEqual([201, expect.arrayContaining([expect.objectContaining(item)])])
  expect(refusal(await pay({ cart_items: Array.from({ length: 250 }, () => item) }))).toEqual([
    400,
    '/cart_items value_error.length',
  ])
  expect(refusal(await pay({ cart_items: [{ ...item, quantity: 0 }] }))).toEqual([
    400,
    '/cart_items/0/quantity value_error.range',
  ])
})

test('metadata: at most 50 keys of 1 to 40 characters with values of up to 500', async () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'x']))
  const metadata = { ...keys(49), ['k'.repeat(40)]: 'v'.repeat(500) }
  expect((await pay({ metadata })).body['metadata']).toEqual(metadata)
  expect((await pay({ metadata: { empty: '' } })).body['metadata']).toEqual({ empty: '' })
  for (const wrong of [keys(51), { ['k'.repeat(41)]: 'x' }, { '': 'x' }, { key: 'v'.repeat(501) }, { key: 1 }]) {
    const [status, ...pointers] = refusal(await pay({ metadata: wrong }))
    expect(status).toBe(400)
    expect(pointers.every((pointer) => pointer.startsWith('/metadata'))).toBe(true)
  }
})

test('the external identifier of a transaction need not be unique', async () => {
  const same = { external_identifier: 'order-1' }
  expect([(await pay(same)).status, (await pay(same)).status]).toEqual([201, 201])
})

describe('the payment method', () => {
  test.each([
    ['an unknown kind', { method: 'gold' }, '/payment_method/method type_error.enum'],
    ['no kind', { number: '4111111111111111' }, '/payment_method/method value_error.missing'],
    ['a number that fails its check', card('4111111111111112'), '/payment_method/number value_error.luhn'],
    [
      'a month that is not',
      card(undefined, { expiration_date: '13/30' }),
      '/payment_method/expiration_date value_error.range',
    ],
    [
      'a security code of letters',
      card(undefined, { security_code: 'abc' }),
      '/payment_method/security_code value_error.pattern',
    ],
    ['a field of another kind', card(undefined, { id: newId() }), '/payment_method/id value_error.extra'],
    ['an id that nothing has', { method: 'id', id: newId() }, '/payment_method/id value_error.unknown'],
  ])('%s is refused', async (_name, payment_method, expected) => {
    expect(refusal(await pay({ payment_method }))).toEqual([400, expected])
  })

  test('one that was deleted cannot pay any more', async () => {
    const { id } = await store()
    await api.request('DELETE', `/payment-methods/${id}`)
    expect(refusal(await pay({ payment_method: { method: 'id', id } }))).toEqual([
      400,
      '/payment_method/id value_error.unknown',
    ])
  })

  test('one that could not be stored cannot pay', async () => {
    const declined = await pay({ amount: 200_011, store: true })
    const { id } = declined.body['payment_method'] as { id: string }
    expect(refusal(await pay({ payment_method: { method: 'id', id } }))).toEqual([
      400,
      '/payment_method/id value_error.conflict',
    ])
  })

  test('a stored card that has expired is declined by its provider', async () => {
    const { id } = await store({ expiration_date: '01/20' })
    expect((await pay({ payment_method: { method: 'id', id } })).body).toMatchObject({
      status: 'authorization_declined',
      error_code: 'expired_payment_method',
    })
  })

  test('a card is shown by its last digits and what is known of it, never by its number', async () => {
    const { text, body } = await pay()
    expect(body['payment_method']).toMatchObject({ id: null, label: '1111', scheme: 'visa', expiration_date: '12/30' })
    expect(text).not.toContain('4111111111111111')
  })
})

describe('source, initiator, series and storing', () => {
  /** As the contract has it, in its own words. */
  function expected(source: string, byMerchant: boolean, subsequent: boolean, stores: boolean, isStored: boolean) {
    const inSeries = source === 'recurring' || source === 'installment'
    const onFile = source === 'card_on_file'
    const isAllowed = subsequent ? !byMerchant || inSeries || onFile : !byMerchant || onFile
    const mustStore = inSeries && !byMerchant && !isStored
    return isAllowed && (!mustStore || stores) && !(isStored && stores) ? 201 : 400
  }

  test.each([false, true])(
    'every combination is taken or refused as agreed, with a stored card: %o',
    async (isStored) => {
      const { id } = await store()
      const payment_method = isStored ? { method: 'id', id } : card()
      const wrong: string[] = []
      for (const payment_source of paymentSources) {
        for (const flags of [0, 1, 2, 3, 4, 5, 6, 7]) {
          const [merchant_initiated, is_subsequent_payment, stores] = [
            (flags & 1) > 0,
            (flags & 2) > 0,
            (flags & 4) > 0,
          ]
          const how = { payment_source, merchant_initiated, is_subsequent_payment, store: stores }
          const { status, text } = await pay({ payment_method, ...how })
          const wanted = expected(payment_source, merchant_initiated, is_subsequent_payment, stores, isStored)
          if (status !== wanted) wrong.push(`${JSON.stringify(how)} is ${status}, not ${wanted}: ${text}`)
        }
      }
      expect(wrong).toEqual([])
    },
  )

  test.each([
    [{ merchant_initiated: true }, '/merchant_initiated'],
    [{ merchant_initiated: true, payment_source: 'recurring' }, '/is_subsequent_payment'],
    [{ payment_source: 'installment' }, '/store'],
  ])('a refusal of %o names the field that is wrong', async (how, pointer) => {
    expect(refusal(await pay(how))).toEqual([400, `${pointer} value_error.conflict`])
  })

  test('the answer says how it was', async () => {
    const how = { payment_source: 'card_on_file', merchant_initiated: true, is_subsequent_payment: true }
    const path = await paid(how)
    expect(await get(path)).toMatchObject(how)
  })
})

describe('checks of address and security code', () => {
  test.each([
    ['10477', 'no_match'],
    ['10488', 'partial_match_postcode'],
    ['10499', 'partial_match_address'],
    ['10115', 'match'],
  ])('the postal code %s is answered with %s', async (postal_code, avs_response_code) => {
    const buyer = { billing_details: { address: { postal_code } } }
    expect((await pay({ buyer })).body).toMatchObject({ avs_response_code })
  })

  test.each([
    ['222', 'not_provided'],
    ['333', 'no_match'],
    ['123', 'match'],
    [null, 'not_provided'],
  ])('the security code %s is answered with %s', async (security_code, cvv_response_code) => {
    const payment_method = card(undefined, { security_code })
    expect((await pay({ payment_method })).body).toMatchObject({ cvv_response_code })
  })
})

test('a transaction is found by its id, and an unknown one is not', async () => {
  const path = await paid()
  expect((await get(path)).status).toBe('authorization_succeeded')
  expect((await act(`/transactions/${newId()}/capture`)).status).toBe(404)
})
