import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { newNumber } from '../../../test/gift-card-provider.ts'
import { makeGiftCardService } from '../../../test/gift-cards.ts'
import { refusal } from '../../../test/payments.ts'
import type { GiftCard, GiftCardIssuance, GiftCardSummary } from './schema.ts'

const api = useApi()
beforeAll(() => makeGiftCardService(api))

const withKey = (key?: string) => (key === undefined ? {} : { headers: { 'Idempotency-Key': key } })
const activate = (body: object, key?: string) =>
  api.request<GiftCard>('POST', '/gift-cards/activations', { body, ...withKey(key) })
const issue = (change: object = {}, key?: string) =>
  api.request<GiftCardIssuance>('POST', '/gift-cards/issuances', {
    body: { theme: 'birthday', amount: 5000, currency: 'EUR', ...change },
    ...withKey(key),
  })
async function balance(number: string, pin: string): Promise<GiftCardSummary | undefined> {
  const { body } = await api.request<{ items: GiftCardSummary[] }>('POST', '/gift-cards/balances', {
    body: { items: [{ number, pin }] },
  })
  return body.items[0]
}
async function makeBuyer(): Promise<string> {
  return (await api.request<{ id: string }>('POST', '/buyers', { body: { display_name: 'Ada' } })).body.id
}
const euros = (amount: number) => ({ amount, currency: 'EUR' })

describe('an activation', () => {
  test('puts the amount on the card and shows it without storing it', async () => {
    const number = newNumber()
    const { status, body } = await activate({ number, ...euros(700) })
    expect([status, body]).toMatchObject([201, { type: 'gift-card', last4: number.slice(-4), buyer: null }])
    expect((await api.request('GET', `/gift-cards/${body.id}`)).status).toBe(404)
    expect(await balance(number, '05000')).toMatchObject({ balance: 700, currency: 'EUR' })
  })

  test('stores the card for its buyer, who may not have it yet', async () => {
    const card = { number: newNumber(), pin: '00800', store: true, buyer_id: await makeBuyer() }
    const { status, body } = await activate(card)
    expect([status, body.buyer?.id]).toEqual([201, card.buyer_id])
    expect((await api.request('GET', `/gift-cards/${body.id}`)).body).toEqual(body)
    const { body: looked } = await api.request('POST', '/gift-cards/balances', { body: { items: [{ id: body.id }] } })
    expect(looked).toMatchObject({ items: [{ balance: 800 }] })
    expect((await activate(card)).body).toMatchObject({ code: 'duplicate_record', resource_id: body.id })
    const names = await api.database.query('select name from events where resource_id = $1', [body.id])
    expect(names).toEqual([{ name: 'gift-card.created' }])
  })

  test('has amount and currency or neither, a PIN to be stored, a buyer only when stored', async () => {
    const number = newNumber()
    const buyer_id = await makeBuyer()
    expect(refusal(await activate({ number, amount: 5 }))).toEqual([400, '/currency value_error.missing'])
    expect(refusal(await activate({ number, currency: 'EUR' }))).toEqual([400, '/amount value_error.missing'])
    expect(refusal(await activate({ number, store: true }))).toEqual([400, '/pin value_error.missing'])
    expect(refusal(await activate({ number, pin: '0', buyer_id }))).toEqual([400, '/buyer_id value_error.conflict'])
    expect((await activate({ number, amount: 0, currency: 'EUR' })).status).toBe(201)
  })

  test('comes once per key, whatever the provider said', async () => {
    const number = newNumber()
    const [done, failed] = [randomUUID(), randomUUID()]
    const first = await activate({ number, ...euros(700) }, done)
    const again = await activate({ number, ...euros(700) }, done)
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([201, first.text, 'true'])
    expect(await balance(number, '0')).toMatchObject({ balance: 700 })
    const refused = await activate({ number, pin: '10002' }, failed)
    expect(refusal(refused)).toEqual([400, ' value_error.inactive_card'])
    const repeated = await activate({ number, pin: '10002' }, failed)
    expect([repeated.status, repeated.text]).toEqual([400, refused.text])
    expect(repeated.headers.get('idempotency-replayed')).toBe('true')
    expect(refusal(await activate({ number: newNumber(), ...euros(700) }, done))).toEqual([
      400,
      'Idempotency-Key value_error.conflict',
    ])
    const rows = await api.database.query('select state, error_code from gift_card_activations where last4 = $1', [
      number.slice(-4),
    ])
    expect(rows).toContainEqual({ state: 'failed', error_code: 'inactive_card' })
  })

  test('sent ten times at once with one key puts its amount on the card once', async () => {
    const number = newNumber()
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 10 }, () => activate({ number, ...euros(700) }, key)))
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
    expect((await activate({ number, ...euros(700) }, key)).status).toBe(201)
    expect(await balance(number, '0')).toMatchObject({ balance: 700 })
  })

  test('that nobody answered is found out by sending it again with its key', async () => {
    const buyer_id = await makeBuyer()
    const number = newNumber('9992')
    const card = { number, pin: '0', store: true, buyer_id, ...euros(700) }
    const key = randomUUID()
    const silent = await activate(card, key)
    expect([silent.status, silent.body]).toMatchObject([504, { message: expect.stringContaining('Idempotency-Key') }])
    const answer = await activate(card, key)
    expect([answer.status, answer.body]).toMatchObject([201, { last4: '9992', buyer: { id: buyer_id } }])
    expect(await balance(number, '0')).toMatchObject({ balance: 700 })
    expect((await api.request('GET', `/gift-cards/${answer.body.id}`)).status).toBe(200)
  })
})

describe('an issuance', () => {
  test('answers with an address, once per key', async () => {
    const key = randomUUID()
    const first = await issue({ external_identifier: 'order-1' }, key)
    expect([first.status, first.body]).toEqual([
      201,
      {
        type: 'gift-card-issuance',
        id: expect.any(String),
        merchant_account_id: 'default',
        gift_card_service: expect.objectContaining({ gift_card_service_definition_id: 'mock-gift-card' }),
        gift_card_service_payment_issuance_id: expect.any(String),
        url: expect.stringMatching(/^https:/),
        amount: 5000,
        currency: 'EUR',
        external_identifier: 'order-1',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ])
    expect((await issue({ external_identifier: 'order-1' }, key)).text).toBe(first.text)
    const made = await api.database.query("select state from gift_card_issuances where external_identifier = 'order-1'")
    expect(made).toEqual([{ state: 'succeeded' }])
  })

  test('of nothing is refused by the provider', async () => {
    expect(refusal(await issue({ amount: 0 }))).toEqual([400, ' value_error.invalid_amount'])
  })
})
