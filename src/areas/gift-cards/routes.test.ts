import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, useApi } from '../../../test/api.ts'
import { newNumber } from '../../../test/gift-card-provider.ts'
import { makeGiftCardService } from '../../../test/gift-cards.ts'
import { refusal } from '../../../test/payments.ts'
import type { GiftCard, GiftCardSummary } from './schema.ts'

const api = useApi()
let service: string
beforeAll(async () => {
  service = await makeGiftCardService(api)
})

const inOther = { 'X-Service-Merchant-Account-ID': 'other' }
const typed = (pin = '05000', number = newNumber()) => ({ number, pin })
const store = (body: object, headers: Record<string, string> = {}) =>
  api.request<GiftCard>('POST', '/gift-cards', { body, headers })

async function stored(change: object = {}): Promise<GiftCard> {
  const { status, text, body } = await store({ ...typed(), ...change })
  if (status !== 201) throw new Error(text)
  return body
}

let buyers = 0
async function makeBuyer(): Promise<{ id: string; external_identifier: string }> {
  const external_identifier = `gift-card-buyer-${(buyers += 1)}`
  const { body } = await api.request<{ id: string; external_identifier: string }>('POST', '/buyers', {
    body: { external_identifier },
  })
  return body
}

const balances = (items: object[], headers: Record<string, string> = {}) =>
  api.request<{ items: GiftCardSummary[] }>('POST', '/gift-cards/balances', { body: { items }, headers })
const balancesOf = ({ body }: Answer<{ items: GiftCardSummary[] }>) =>
  body.items.map(({ balance, balance_error_code }) => balance ?? balance_error_code)
const ofBuyer = (query: string) => api.request<{ items: GiftCardSummary[] }>('GET', `/buyers/gift-cards?${query}`)
const secretsOf = (id: string) =>
  api.vault.client().readSecrets({ merchantAccountId: 'default', id }, ['gift_card_number', 'gift_card_pin'])
const events = (id: string) =>
  api.database.query<{ name: string; sequence: number }>(
    'select name, sequence from events where resource_id = $1 order by sequence',
    [id],
  )

describe('a stored gift card', () => {
  test('shows parts of its number, and is read, listed and deleted', async () => {
    const buyer = await makeBuyer()
    const card = typed('05000', '6035001234567891')
    const { status, body: made } = await store({ ...card, buyer_external_identifier: buyer.external_identifier })
    expect([status, made]).toEqual([
      201,
      {
        type: 'gift-card',
        id: expect.any(String),
        merchant_account_id: 'default',
        gift_card_service: {
          type: 'gift-card-service',
          id: service,
          gift_card_service_definition_id: 'mock-gift-card',
          display_name: 'Gift cards',
        },
        bin: '603500',
        sub_bin: '123',
        last4: '7891',
        expiration_date: expect.any(String),
        buyer: expect.objectContaining({ id: buyer.id }),
        last_used_at: null,
        usage_count: 0,
        cit_last_used_at: null,
        cit_usage_count: 0,
        created_at: expect.any(String),
        updated_at: made.created_at,
      },
    ])
    expect((await api.request('GET', `/gift-cards/${made.id}`)).body).toEqual(made)
    for (const query of [`buyer_id=${buyer.id}`, `buyer_external_identifier=${buyer.external_identifier}`]) {
      expect((await api.request('GET', `/gift-cards?${query}`)).body).toMatchObject({ items: [made] })
    }
    expect(await secretsOf(made.id)).toEqual({ gift_card_number: card.number, gift_card_pin: card.pin })

    expect((await api.request('DELETE', `/gift-cards/${made.id}`)).status).toBe(204)
    expect((await api.request('GET', `/gift-cards/${made.id}`)).status).toBe(404)
    expect((await api.request('DELETE', `/gift-cards/${made.id}`)).status).toBe(404)
    expect(await secretsOf(made.id)).toEqual({})
    expect(await events(made.id)).toEqual([
      { name: 'gift-card.created', sequence: 1 },
      { name: 'gift-card.deleted', sequence: 2 },
    ])
  })

  test('is out of reach of other accounts, also by filters', async () => {
    const buyer = await makeBuyer()
    const card = await stored({ buyer_id: buyer.id })
    expect((await api.request('GET', `/gift-cards/${card.id}`, { headers: inOther })).status).toBe(404)
    expect((await api.request('DELETE', `/gift-cards/${card.id}`, { headers: inOther })).status).toBe(404)
    for (const path of ['/gift-cards', '/buyers/gift-cards']) {
      const { body } = await api.request('GET', `${path}?buyer_id=${buyer.id}`, { headers: inOther })
      expect(body).toMatchObject({ items: [] })
    }
    expect(refusal(await balances([{ id: card.id }], inOther))).toEqual([400, '/items/0/id value_error.unknown'])
    await makeGiftCardService(api, {}, inOther)
    const named = await store({ ...typed(), buyer_id: buyer.id }, inOther)
    expect(refusal(named)).toEqual([400, '/buyer_id value_error.unknown'])
  })

  test('is refused with the code of the provider, or when it has expired', async () => {
    for (const [pin, code] of [
      ['10000', 'invalid_gift_card'],
      ['20002', 'inactive_card'],
      ['30009', 'service_error'],
      ['no PIN', 'invalid_gift_card'],
    ]) {
      expect(refusal(await store(typed(pin))), pin).toEqual([400, ` value_error.${code}`])
    }
    expect(refusal(await store(typed('05000', newNumber('0'))))).toEqual([400, ' value_error.expired_card'])
  })

  test('is refused where no service is active, and nothing stays in the vault', async () => {
    await api.makeAccount('without-service')
    const headers = { 'X-Service-Merchant-Account-ID': 'without-service' }
    expect(refusal(await store(typed(), headers))).toEqual([400, ' value_error.invalid_service_configuration'])
  })

  test('is not stored while its provider is silent', { timeout: 30_000 }, async () => {
    expect((await store(typed('05000', newNumber('9991')))).status).toBe(504)
  })

  test('belongs to a buyer once, also when it is sent ten times at once', async () => {
    const buyer = await makeBuyer()
    const card = { ...typed(), buyer_id: buyer.id }
    const answers = await Promise.all(Array.from({ length: 10 }, () => store(card)))
    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(1)
    for (const { status, body } of answers.filter((answer) => answer !== made[0])) {
      expect([status, body]).toMatchObject([409, { code: 'duplicate_record', resource_id: made[0]?.body.id }])
    }
    const numbers = await api.database.query<{ count: number }>(
      `select count(*) from vault.secrets where field = 'gift_card_number' and (merchant_account_id, id) not in
         (select merchant_account_id, id from gift_cards)`,
    )
    expect(numbers).toEqual([{ count: 0 }])
    const another = await makeBuyer()
    expect((await store({ ...card, buyer_id: another.id })).status).toBe(201)
    await api.request('DELETE', `/gift-cards/${made[0]?.body.id}`)
    expect((await store(card)).status).toBe(201)
  })

  test('is one of ten at most that a buyer has, also when fifteen are sent at once', async () => {
    const buyer = await makeBuyer()
    const answers = await Promise.all(Array.from({ length: 15 }, () => store({ ...typed(), buyer_id: buyer.id })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(refusal(answer)).toEqual([400, ' value_error.max_gift_cards_reached'])
    }
  })
})

describe('balances', () => {
  test('of new and stored cards, good and bad, come in the order of the request', async () => {
    const card = await stored({ pin: '00700' })
    const number = newNumber()
    const answer = await balances([typed('00500'), { id: card.id }, typed('10002'), typed('00900', number)])
    expect(answer.status).toBe(200)
    expect(balancesOf(answer)).toEqual([500, 700, 'inactive_card', 900])
    expect(answer.body.items.map(({ id }) => id)).toEqual([null, card.id, null, null])
    expect(answer.body.items[2]).toMatchObject({
      balance: null,
      currency: null,
      balance_raw_error_code: 'VALIDATION_ERROR',
      balance_raw_error_message: expect.any(String),
    })
    expect(answer.body.items[3]).toEqual({
      type: 'gift-card',
      id: null,
      merchant_account_id: 'default',
      bin: number.slice(0, 6),
      sub_bin: number.slice(6, 9),
      last4: number.slice(-4),
      currency: 'USD',
      expiration_date: expect.any(String),
      balance: 900,
      balance_error_code: null,
      balance_raw_error_code: null,
      balance_raw_error_message: null,
      last_used_at: null,
      usage_count: 0,
      cit_last_used_at: null,
      cit_usage_count: 0,
    })
  })

  test('are of one to ten cards', async () => {
    expect(refusal(await balances([]))).toEqual([400, '/items value_error.length'])
    const eleven = Array.from({ length: 11 }, () => typed())
    expect(refusal(await balances(eleven))).toEqual([400, '/items value_error.length'])
    expect((await balances(eleven.slice(1))).status).toBe(200)
  })

  test('of the same card twice are refused, however the two are named', async () => {
    const card = typed()
    const { id } = await stored(card)
    const { id: copy } = await stored(card)
    const other = typed()
    expect(refusal(await balances([other, card, { ...card, pin: '1' }, { id }, { id: copy }, other]))).toEqual([
      400,
      '/items/2/number value_error.conflict',
      '/items/3/id value_error.conflict',
      '/items/4/id value_error.conflict',
      '/items/5/number value_error.conflict',
    ])
    expect(refusal(await balances([{ id }, { id }]))).toEqual([400, '/items/1/id value_error.conflict'])
  })

  test('need either an id, or a number and a PIN', async () => {
    const { id } = await stored()
    const { number, pin } = typed()
    expect(refusal(await balances([{}, { id, number }, { number }, { pin }, { number, pin }]))).toEqual([
      400,
      '/items/0 value_error.missing',
      '/items/1/number value_error.conflict',
      '/items/2/pin value_error.missing',
      '/items/3/number value_error.missing',
    ])
    const unknown = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e'
    expect(refusal(await balances([{ id }, { id: unknown }]))).toEqual([400, '/items/1/id value_error.unknown'])
  })

  test('are there for the others when one provider is silent, within the deadline', { timeout: 30_000 }, async () => {
    const began = performance.now()
    const answer = await balances([typed('00500'), typed('00600', newNumber('9991')), typed('00700')])
    expect(balancesOf(answer)).toEqual([500, 'service_network_error', 700])
    // The deadline of five seconds, with much room for a busy machine; the provider itself is silent for a minute.
    expect(performance.now() - began).toBeLessThan(25_000)
  })

  test('say where no service is active', async () => {
    await api.makeAccount('no-service')
    const answer = await balances([typed(), typed()], { 'X-Service-Merchant-Account-ID': 'no-service' })
    expect(balancesOf(answer)).toEqual(['invalid_service_configuration', 'invalid_service_configuration'])
  })
})

describe("a buyer's gift cards", () => {
  test('come with their balances; expired and empty ones are archived and nowhere to be found', async () => {
    const buyer = await makeBuyer()
    const owned = (pin: string) => stored({ ...typed(pin), buyer_id: buyer.id })
    const [good, empty, late] = [await owned('00500'), await owned('0'), await owned('00700')]
    const { body: before } = await ofBuyer(`buyer_id=${buyer.id}`)
    expect(before.items.map(({ id, balance }) => [id, balance])).toEqual([
      [late.id, 700],
      [good.id, 500],
    ])
    expect((await api.request('GET', `/gift-cards/${empty.id}`)).status).toBe(404)
    expect((await api.request('DELETE', `/gift-cards/${empty.id}`)).status).toBe(404)
    expect(await secretsOf(empty.id)).toEqual({})
    await api.database.query(
      "update sandbox_gift_cards set expires_at = now() - interval '1 day' where fingerprint = (select fingerprint from gift_cards where id = $1)",
      [late.id],
    )
    const { body: after } = await ofBuyer(`buyer_external_identifier=${buyer.external_identifier}`)
    expect(after.items.map(({ id }) => id)).toEqual([good.id])
    expect((await api.request('GET', `/gift-cards?buyer_id=${buyer.id}`)).body).toMatchObject({
      items: [{ id: good.id }],
    })
    const rows = await api.database.query<{ id: string }>(
      'select id from gift_cards where archived_at is not null and buyer_id = $1 order by id',
      [buyer.id],
    )
    expect(rows.map(({ id }) => id)).toEqual([empty.id, late.id])
  })

  test('are all there when their balances cannot be looked up', async () => {
    const buyer = await makeBuyer()
    const card = await stored({ ...typed('00500'), buyer_id: buyer.id })
    await api.vault.client().remove([{ merchantAccountId: 'default', id: card.id }], ['gift_card_pin'])
    const { body } = await ofBuyer(`buyer_id=${buyer.id}`)
    expect(body.items).toMatchObject([{ id: card.id, balance: null, balance_error_code: 'service_network_error' }])
  })

  test('are sorted as asked for, newest first without', async () => {
    const buyer = await makeBuyer()
    const cards = [
      await stored({ buyer_id: buyer.id }),
      await stored({ buyer_id: buyer.id }),
      await stored({ buyer_id: buyer.id }),
    ]
    const [one, two, three] = cards.map(({ id }) => id)
    await api.database.query('update gift_cards set usage_count = 5, last_used_at = now() where id = $1', [one])
    await api.database.query('update gift_cards set usage_count = 2 where id = $1', [three])
    const order = async (query: string) =>
      (await ofBuyer(`buyer_id=${buyer.id}${query}`)).body.items.map(({ id }) => id)
    expect(await order('')).toEqual([three, two, one])
    expect(await order('&sort_by=usage_count')).toEqual([one, three, two])
    expect(await order('&sort_by=usage_count&order_by=asc')).toEqual([two, three, one])
    expect(await order('&sort_by=last_used_at')).toEqual([one, three, two])
  })

  test('need a buyer, named once', async () => {
    expect(refusal(await ofBuyer(''))).toEqual([400, 'buyer_id value_error.missing'])
    const buyer = await makeBuyer()
    const both = `buyer_id=${buyer.id}&buyer_external_identifier=${buyer.external_identifier}`
    expect(refusal(await ofBuyer(both))).toEqual([400, 'buyer_id value_error.conflict'])
  })
})
