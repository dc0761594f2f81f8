import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { walk } from '../../../../test/buyer.ts'
import { balanceOf, differences, type GiftCard, giftCard, makeGiftCardService } from '../../../../test/gift-cards.ts'
import { card, refusal, usePayments } from '../../../../test/payments.ts'

/* Payments with gift cards, alone and beside another method. */

const payments = usePayments()
const { api, pay, paid, act, get, timeline, events } = payments
const balance = (card: GiftCard) => balanceOf(api, card)

beforeAll(() => makeGiftCardService(api))

/** Our books, the card processor's and the gift card provider's. */
afterEach(async () => expect(await differences(api)).toEqual([]))

const using = (gift: GiftCard, amount: number) => ({ ...gift, amount })
const alone = (amount: number, change: object = {}) => ({ payment_method: null, amount, ...change })

describe('beside a payment method', () => {
  test('each pays its part: the card is reserved, the gift cards are charged', async () => {
    const [first, second] = [giftCard(500), giftCard(400)]
    const { status, body } = await pay({ amount: 2000, gift_cards: [using(first, 500), using(second, 300)] })
    expect([status, body]).toMatchObject([
      201,
      {
        status: 'authorization_succeeded',
        amount: 2000,
        authorized_amount: 2000,
        captured_amount: 0,
        method: 'card',
        multi_tender: true,
        intent_outcome: 'succeeded',
        gift_card_service: { type: 'gift-card-service', gift_card_service_definition_id: 'mock-gift-card' },
        gift_card_redemptions: [
          {
            type: 'gift-card-redemption',
            status: 'succeeded',
            amount: 500,
            refunded_amount: 0,
            error_code: null,
            gift_card: {
              type: 'gift-card',
              id: null,
              bin: first.number.slice(0, 6),
              sub_bin: first.number.slice(6, 9),
              last4: first.number.slice(-4),
            },
          },
          { status: 'succeeded', amount: 300 },
        ],
      },
    ])
    expect([await balance(first), await balance(second)]).toEqual([0, 100])
    const [payment] = await api.database.query('select authorized from sandbox_card_payments order by id desc limit 1')
    expect(payment).toEqual({ authorized: 1200 })
    expect(await events(body.id)).toEqual(['transaction.authorized 3'])
    expect(await timeline(`/transactions/${body.id}`)).toEqual([
      'payment-connector-response-transaction-authorization-succeeded',
      'gift-card-redemption-succeeded',
      'gift-card-redemption-succeeded',
      'transaction-updated-status',
    ])
    expect(await get(`/transactions/${body.id}`)).toEqual(body)
  })

  test('with intent capture all is taken, and the capture is of all', async () => {
    const gift = giftCard(500)
    const { body } = await pay({ amount: 2000, intent: 'capture', gift_cards: [using(gift, 500)] })
    expect(body).toMatchObject({ status: 'capture_succeeded', authorized_amount: 2000, captured_amount: 2000 })
    const { items } = await get<{ items: object[] }>(`/transactions/${body.id}/captures`)
    expect(items).toMatchObject([{ amount: 2000, status: 'succeeded' }])
    expect(await events(body.id)).toEqual(['transaction.captured 4'])
  })

  test('a capture later takes what is reserved and keeps what gift cards paid', async () => {
    const path = await paid({ amount: 2000, gift_cards: [using(giftCard(500), 500)] })
    expect(refusal(await act(`${path}/capture`, { amount: 500 }))).toEqual([400, '/amount value_error.range'])
    expect(refusal(await act(`${path}/capture`, { amount: 2001 }))).toEqual([400, '/amount value_error.range'])
    const { body } = await act(`${path}/capture`, { amount: 1200 })
    expect(body).toMatchObject({ status: 'capture_succeeded', captured_amount: 1200, authorized_amount: 2000 })
    const [payment] = await api.database.query('select captured from sandbox_card_payments order by id desc limit 1')
    expect(payment).toEqual({ captured: 700 })
  })

  test('a gift card that cannot pay takes everything back: the other gift card, and the reservation', async () => {
    const [rich, poor] = [giftCard(500), giftCard(100)]
    const { status, body } = await pay({
      amount: 2000,
      intent: 'capture',
      gift_cards: [using(rich, 500), using(poor, 300)],
    })
    expect([status, body]).toMatchObject([
      201,
      {
        status: 'authorization_failed',
        error_code: 'insufficient_funds',
        intent_outcome: 'failed',
        authorized_amount: 0,
        captured_amount: 0,
        gift_card_redemptions: [
          { status: 'failed', error_code: 'operation_canceled' },
          { status: 'failed', error_code: 'insufficient_funds' },
        ],
      },
    ])
    expect([await balance(rich), await balance(poor)]).toEqual([500, 100])
    const [payment] = await api.database.query('select state from sandbox_card_payments order by id desc limit 1')
    expect(payment).toEqual({ state: 'voided' })
    expect(await events(body.id)).toEqual(['transaction.failed 4'])
    expect(await timeline(`/transactions/${body.id}`)).toEqual([
      'payment-connector-response-transaction-authorization-succeeded',
      'gift-card-redemption-succeeded',
      'gift-card-redemption-failed',
      'gift-card-reversal-succeeded',
      'payment-connector-response-transaction-void-succeeded',
      'transaction-updated-status',
    ])
  })

  test('a card that is declined keeps gift cards from being asked', async () => {
    const gift = giftCard(500)
    const { body } = await pay({ amount: 200_012 + 500, gift_cards: [using(gift, 500)] })
    expect(body).toMatchObject({
      status: 'authorization_declined',
      error_code: 'issuer_decline',
      gift_card_redemptions: [{ status: 'skipped' }],
    })
    expect(await balance(gift)).toBeNull()
  })

  test('no service for the card keeps gift cards from being asked', async () => {
    const gift = giftCard(500)
    const { body } = await pay({ amount: 1299, currency: 'JPY', gift_cards: [using(gift, 500)] })
    expect(body).toMatchObject({ status: 'authorization_failed', gift_card_redemptions: [{ status: 'skipped' }] })
    expect(await balance(gift)).toBeNull()
  })

  test('a charge that is refused after the gift cards paid gives them their money back', async () => {
    const gift = giftCard(500)
    const { body } = await pay({ amount: 500_002 + 500, intent: 'capture', gift_cards: [using(gift, 500)] })
    expect(body).toMatchObject({
      status: 'authorization_failed',
      error_code: 'refused_transaction',
      gift_card_redemptions: [{ status: 'failed', error_code: 'operation_canceled' }],
    })
    expect(await balance(gift)).toBe(500)
  })

  test('a reservation that its provider does not let go ends the payment all the same', async () => {
    const gift = giftCard(100)
    const { body } = await pay({ amount: 510_002 + 500, gift_cards: [using(gift, 500)] })
    expect(body).toMatchObject({ status: 'authorization_failed', error_code: 'insufficient_funds' })
    expect(await timeline(`/transactions/${body.id}`)).toContain('payment-connector-response-transaction-void-declined')
  })

  test('a void lets go of everything', async () => {
    const gift = giftCard(500)
    const path = await paid({ amount: 2000, gift_cards: [using(gift, 500)] })
    const { body } = await act(`${path}/void`)
    expect(body).toMatchObject({
      status: 'authorization_voided',
      intent_outcome: 'succeeded',
      gift_card_redemptions: [{ status: 'failed', error_code: 'operation_canceled' }],
    })
    expect(await balance(gift)).toBe(500)
    expect((await events(body.id)).at(-1)).toMatch(/^transaction.voided /)
  })

  test('a void that is declined lets go of nothing', async () => {
    const gift = giftCard(500)
    const path = await paid({ amount: 510_002 + 500, gift_cards: [using(gift, 500)] })
    const { body } = await act(`${path}/void`)
    expect(body).toMatchObject({ status: 'authorization_succeeded', gift_card_redemptions: [{ status: 'succeeded' }] })
    expect(await balance(gift)).toBe(0)
  })
})

describe('alone', () => {
  test('they pay at once, or are held until a capture', async () => {
    const [first, second] = [giftCard(500), giftCard(800)]
    const cards = [using(first, 500), using(second, 800)]
    const { body } = await pay(alone(1300, { intent: 'capture', gift_cards: cards }))
    expect(body).toMatchObject({
      status: 'capture_succeeded',
      method: 'gift-card',
      payment_method: null,
      payment_service: null,
      instrument_type: null,
      multi_tender: true,
      captured_amount: 1300,
    })
    const held = await pay(alone(100, { gift_cards: [using(giftCard(100), 100)] }))
    expect(held.body).toMatchObject({ status: 'authorization_succeeded', multi_tender: false, captured_amount: 0 })
    const path = `/transactions/${held.body.id}`
    expect(refusal(await act(`${path}/capture`, { amount: 50 }))).toEqual([400, '/amount value_error.range'])
    expect((await act(`${path}/capture`)).body).toMatchObject({ status: 'capture_succeeded', captured_amount: 100 })
    expect((await act(`${path}/void`)).status).toBe(400)
  })

  test('one that cannot pay fails the payment', async () => {
    const [rich, poor] = [giftCard(500), giftCard(100)]
    const { body } = await pay(alone(800, { gift_cards: [using(rich, 500), using(poor, 300)] }))
    expect(body).toMatchObject({
      status: 'authorization_failed',
      error_code: 'insufficient_funds',
      authorized_amount: 0,
    })
    expect([await balance(rich), await balance(poor)]).toEqual([500, 100])
  })

  test('a void gives them their money back', async () => {
    const gift = giftCard(500)
    const path = await paid(alone(500, { gift_cards: [using(gift, 500)] }))
    expect((await act(`${path}/void`, undefined, { Prefer: 'resource=transaction-void' })).body).toMatchObject({
      status: 'succeeded',
      transaction: { status: 'authorization_voided' },
    })
    expect(await balance(gift)).toBe(500)
  })

  test('errors of the provider are told as documented', async () => {
    const { number } = giftCard(0)
    const fail = async (pin: string) => (await pay(alone(500, { gift_cards: [{ number, pin, amount: 500 }] }))).body
    expect(await fail('10002')).toMatchObject({ status: 'authorization_failed', error_code: 'inactive_card' })
    expect(await fail('20009')).toMatchObject({ error_code: 'service_error' })
    expect(await fail('30011')).toMatchObject({ error_code: 'unknown_error' })
  })
})

describe('what is refused', () => {
  const gift = giftCard(500)
  test.each([
    ['the same card twice', [using(gift, 100), using(gift, 100)], '/gift_cards/1/number value_error.conflict'],
    ['more than the amount', [using(gift, 3000)], '/gift_cards value_error.range'],
    ['a payment method with nothing to pay', [using(gift, 2000)], '/payment_method value_error.conflict'],
    ['nothing to charge', [using(gift, 0)], '/gift_cards/0/amount value_error.range'],
    ['a card without a PIN', [{ number: gift.number, amount: 5 }], '/gift_cards/0/pin value_error.missing'],
    ['a card without a number', [{ pin: '01', amount: 5 }], '/gift_cards/0/number value_error.missing'],
    [
      'an unknown stored card',
      [{ id: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', amount: 5 }],
      '/gift_cards/0/id value_error.unknown',
    ],
    ['too many', Array.from({ length: 11 }, () => using(giftCard(10), 10)), '/gift_cards value_error.length'],
  ])('%s', async (_what, gift_cards, problem) => {
    expect(refusal(await pay({ amount: 2000, gift_cards }))).toEqual([400, problem])
  })

  test('too little without a payment method', async () => {
    const answer = await pay(alone(600, { gift_cards: [using(gift, 500)] }))
    expect(refusal(answer)).toEqual([400, '/payment_method value_error.missing'])
  })
})

describe('refunds', () => {
  test('go to the redemption that is named, never more than it paid', async () => {
    const gift = giftCard(500)
    const path = await paid({ amount: 2000, intent: 'capture', gift_cards: [using(gift, 500)] })
    const { gift_card_redemptions: redemptions } = await get<{ gift_card_redemptions: { id: string }[] }>(path)
    const target = { target_type: 'gift-card-redemption', target_id: redemptions[0]?.id }
    const { status, body } = await act(`${path}/refunds`, { ...target, amount: 200 })
    expect([status, body]).toMatchObject([201, { ...target, status: 'succeeded', amount: 200 }])
    expect(await balance(gift)).toBe(200)
    expect(refusal(await act(`${path}/refunds`, { ...target, amount: 310 }))).toEqual([
      400,
      '/amount value_error.range',
    ])
    expect((await act(`${path}/refunds`, target)).body).toMatchObject({ amount: 300, status: 'succeeded' })
    expect(await get(path)).toMatchObject({ refunded_amount: 500, gift_card_redemptions: [{ refunded_amount: 500 }] })
    expect((await act(`${path}/refunds`, target)).status).toBe(400)
    expect((await act(`${path}/refunds`)).body).toMatchObject({ amount: 1500, target_type: 'payment-method' })
    expect(await timeline(path)).toContain('gift-card-refund-succeeded')
  })

  test('that the provider refuses leave the money where it is', async () => {
    const gift = giftCard(500)
    const path = await paid(alone(500, { intent: 'capture', gift_cards: [using(gift, 500)] }))
    const { gift_card_redemptions: redemptions } = await get<{ gift_card_redemptions: { id: string }[] }>(path)
    const target = { target_type: 'gift-card-redemption', target_id: redemptions[0]?.id }
    expect((await act(`${path}/refunds`, { ...target, amount: 101 })).body).toMatchObject({ status: 'failed' })
    expect(await get(path)).toMatchObject({ refunded_amount: 0 })
    expect(await balance(gift)).toBe(0)
  })

  test('of all give every instrument its own, and a repeated key the same answer', async () => {
    const [first, second] = [giftCard(500), giftCard(400)]
    const path = await paid({ amount: 2000, intent: 'capture', gift_cards: [using(first, 500), using(second, 400)] })
    const key = { 'Idempotency-Key': `all-${path}` }
    const answer = await act<{ items: { amount: number }[] }>(`${path}/refunds/all`, {}, key)
    expect(answer.status).toBe(201)
    expect(answer.body.items.map(({ amount }) => amount)).toEqual([1100, 500, 400])
    expect(await get(path)).toMatchObject({ refunded_amount: 2000, status: 'capture_succeeded' })
    expect([await balance(first), await balance(second)]).toEqual([500, 400])
    expect((await act(`${path}/refunds/all`, {}, key)).text).toBe(answer.text)
    expect((await act(`${path}/refunds/all`, {})).status).toBe(400)
  })
})

describe('a repeated key', () => {
  test('charges gift cards once, whatever the PIN, and refuses another number', async () => {
    const gift = giftCard(500)
    const key = { 'Idempotency-Key': `gift-${gift.number}` }
    const body = alone(200, { gift_cards: [using(gift, 200)] })
    const first = await pay(body, key)
    expect((await pay(body, key)).text).toBe(first.text)
    expect((await pay(alone(200, { gift_cards: [using({ ...gift, pin: '01' }, 200)] }), key)).text).toBe(first.text)
    expect((await pay(alone(200, { gift_cards: [using(giftCard(500), 200)] }), key)).status).toBe(400)
    expect(await balance(gift)).toBe(300)
  })
})

describe('a buyer who is asked', () => {
  beforeAll(async () => {
    await api.request('PUT', `/payment-services/${payments.service()}`, { body: { three_d_secure_enabled: true } })
  })
  type Asked = { payment_method: { approval_url: string } }
  const asked = async (gift: GiftCard) => {
    const method = card(undefined, { redirect_url: 'https://shop.example.com/return' })
    const { body } = await pay({
      amount: 2000,
      intent: 'capture',
      payment_method: method,
      gift_cards: [using(gift, 500)],
    })
    expect(body.status).toBe('buyer_approval_pending')
    return body as typeof body & Asked
  }
  const waiting = async () => (await api.database.query('select from vault.waiting')).length

  test('pays with the gift card after the approval, and nothing of it waits any longer', async () => {
    const gift = giftCard(500)
    const payment = await asked(gift)
    expect(await balance(gift)).toBeNull()
    expect(await waiting()).toBe(2)
    await walk(payment.payment_method.approval_url, 'approved')
    expect(await get(`/transactions/${payment.id}`)).toMatchObject({
      status: 'capture_succeeded',
      captured_amount: 2000,
    })
    expect(await balance(gift)).toBe(0)
    expect(await waiting()).toBe(0)
  })

  test('gets everything back where the PIN has gone meanwhile', async () => {
    const gift = giftCard(500)
    const payment = await asked(gift)
    await api.database.query('delete from vault.waiting')
    await walk(payment.payment_method.approval_url, 'approved')
    expect(await get(`/transactions/${payment.id}`)).toMatchObject({
      status: 'authorization_failed',
      error_code: 'operation_canceled',
      authorized_amount: 0,
    })
    expect(await balance(gift)).toBeNull()
  })

  test('who declines has paid nothing', async () => {
    const gift = giftCard(500)
    const payment = await asked(gift)
    await walk(payment.payment_method.approval_url, 'rejected')
    expect(await get(`/transactions/${payment.id}`)).toMatchObject({
      gift_card_redemptions: [{ status: 'skipped' }],
      authorized_amount: 0,
    })
    expect(await balance(gift)).toBeNull()
  })
})
