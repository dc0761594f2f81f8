import fc from 'fast-check'
import pg from 'pg'
import type { Static } from 'typebox'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { apiConfig, send } from '../../../test/api.ts'
import { walk } from '../../../test/buyer.ts'
import { makePayments, testCards } from '../../../test/every-state.ts'
import { giftCard, makeGiftCardService } from '../../../test/gift-cards.ts'
import { card, usePayments } from '../../../test/payments.ts'
import { afterDays } from '../../../test/statements.ts'
import { newId } from '../../ids.ts'
import { startApi } from '../../main/api.ts'
import type { Transaction } from './schema/transaction.ts'
import { ListTransactionsQuery } from './schema/filters.ts'

/* Payments made through the API are found by what the API says of them, whichever filter asks. */

const payments = usePayments()
const { api, pay, get, act, store } = payments

type Shown = Static<typeof Transaction>
let shown: Shown[]

const find = async (query: string): Promise<string[]> => {
  const { status, text, body } = await api.request<{ items: Shown[] }>('GET', `/transactions?limit=500${query}`)
  expect(status, text).toBe(200)
  return body.items.map(({ id }) => id)
}

/** What each filter looks at; undefined where a transaction has nothing that it could find. */
type Look = (transaction: Shown) => string | number | boolean | null | undefined
const looks: Record<string, Look> = {
  id: ({ id }) => id,
  reconciliation_id: ({ reconciliation_id }) => reconciliation_id,
  external_identifier: ({ external_identifier }) => external_identifier,
  status: ({ status }) => status,
  amount_eq: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  country: ({ country }) => country,
  buyer_id: ({ buyer }) => buyer?.id,
  buyer_external_identifier: ({ buyer }) => buyer?.external_identifier,
  buyer_email_address: ({ buyer }) => buyer?.billing_details?.email_address,
  method: ({ method }) => method,
  payment_method_id: ({ payment_method }) => payment_method?.id,
  payment_method_label: ({ payment_method }) => payment_method?.label,
  payment_method_scheme: ({ payment_method }) => payment_method?.scheme,
  payment_method_country: ({ payment_method }) => payment_method?.country,
  payment_method_bin: ({ payment_method }) => payment_method?.details?.bin,
  payment_method_fingerprint: ({ payment_method }) => payment_method?.fingerprint,
  payment_service_id: ({ payment_service }) => payment_service?.id,
  payment_service_transaction_id: ({ payment_service_transaction_id }) => payment_service_transaction_id,
  error_code: ({ error_code }) => error_code,
  payment_source: ({ payment_source }) => payment_source,
  merchant_initiated: ({ merchant_initiated }) => merchant_initiated,
  is_subsequent_payment: ({ is_subsequent_payment }) => is_subsequent_payment,
  checkout_session_id: ({ checkout_session_id }) => checkout_session_id,
  pending_review: ({ pending_review }) => pending_review,
  disputed: ({ disputed }) => disputed,
  used_3ds: ({ three_d_secure }) => three_d_secure !== null,
  has_refunds: ({ refunded_amount }) => refunded_amount > 0,
  has_settlements: ({ settled }) => settled,
  has_gift_card_redemptions: ({ gift_card_redemptions }) => gift_card_redemptions.length > 0,
}
const ranges: Record<
  string,
  [look: (transaction: Shown) => string | number, isWithin: (value: number, bound: number) => boolean]
> = {
  amount_gte: [({ amount }) => amount, (value, bound) => value >= bound],
  amount_lte: [({ amount }) => amount, (value, bound) => value <= bound],
  created_at_gte: [({ created_at }) => created_at, (value, bound) => value >= bound],
  created_at_lte: [({ created_at }) => created_at, (value, bound) => value <= bound],
  updated_at_gte: [({ updated_at }) => updated_at, (value, bound) => value >= bound],
  updated_at_lte: [({ updated_at }) => updated_at, (value, bound) => value <= bound],
}
const nobodyHas = ['payment_link_id', 'reauthorized_from_transaction_id', 'ip_address']
const testedApart = ['search', 'buyer_search', 'metadata', 'gift_card_id', 'gift_card_last4', ...nobodyHas]

beforeAll(async () => {
  const service = await payments.makeService({
    display_name: 'Asks',
    three_d_secure_enabled: true,
    settlement_reporting_enabled: true,
  })
  await makePayments(api.request)
  const asked = await pay({
    payment_service_id: service,
    payment_method: card(undefined, { redirect_url: 'https://shop.example.com/' }),
  })
  await walk(String((asked.body['payment_method'] as { approval_url: string }).approval_url), 'approved')
  const { body: buyer } = await api.request('POST', '/buyers', {
    body: { external_identifier: 'Buyer-1', billing_details: { email_address: 'Ada@Example.com' } },
  })
  const stored = await store({ number: '5555555555554444' })
  await pay({
    buyer_id: buyer['id'],
    external_identifier: 'order 1/ä?&=',
    metadata: { order: '1', 'odd key': 'a=b&c' },
  })
  await pay({ buyer_external_identifier: 'Buyer-1', amount: 1, metadata: { order: '1', other: '' } })
  await makeGiftCardService(api)
  await pay({ gift_cards: [{ ...giftCard(500), amount: 500 }] })
  await pay({ buyer: { billing_details: { email_address: 'guest@example.com' } }, currency: 'USD', country: 'US' })
  await pay({
    payment_method: { method: 'id', id: stored.id },
    payment_source: 'recurring',
    merchant_initiated: true,
    is_subsequent_payment: true,
  })
  await payments.makeService({ payment_service_definition_id: 'mock-redirect' })
  const redirect = {
    method: 'custom_redirect',
    currency: 'EUR',
    country: 'DE',
    redirect_url: 'https://shop.example.com/',
  }
  expect((await pay({ payment_method: redirect })).body.status).toBe('buyer_approval_pending')
  const { body: session } = await api.request('POST', '/checkout/sessions', { body: { amount: 1299, currency: 'EUR' } })
  await api.request('PUT', `/checkout/sessions/${String(session['id'])}/fields`, { body: { payment_method: card() } })
  await pay({ payment_method: { method: 'checkout-session', id: session['id'] } })
  const disputed = await pay({
    intent: 'capture',
    payment_service_id: service,
    payment_method: card('4000000000004004'),
  })
  await afterDays(api, disputed.body.id, 5)
  await api.request('POST', '/anti-fraud-services', {
    body: { anti_fraud_service_definition_id: 'mock-anti-fraud', display_name: 'Fraud checks' },
  })
  await pay({ buyer: { billing_details: { email_address: 'review@example.com' } } })
  const ids = await find('')
  shown = await Promise.all(ids.map((id) => get<Shown>(`/transactions/${id}`)))
}, 180_000)

const idsWhere = (fits: (transaction: Shown) => boolean) => shown.filter(fits).map(({ id }) => id)
const same = (left: unknown, right: unknown) => String(left).toLowerCase() === String(right).toLowerCase()

test('every filter of the list is tried here', () => {
  const names = Object.keys(ListTransactionsQuery.properties).filter((name) => name !== 'cursor' && name !== 'limit')
  expect([...Object.keys(looks), ...Object.keys(ranges), ...testedApart].toSorted()).toEqual(names.toSorted())
})

test.each(Object.entries(looks))('%s finds exactly those that say so', async (name, look) => {
  const values = [...new Set(shown.map(look))].filter((value) => value !== null && value !== undefined)
  // With one kind of payment only, a filter that does nothing would pass.
  expect(new Set(shown.map(look)).size).toBeGreaterThan(1)
  for (const value of values) {
    const expected = idsWhere((transaction) => same(look(transaction) ?? '', value))
    expect(await find(`&${name}=${encodeURIComponent(value)}`), `${name}=${String(value)}`).toEqual(expected)
  }
})

test.each(Object.entries(ranges))('%s includes its bound and nothing beyond', async (name, [look, isWithin]) => {
  const numberOf = (value: string | number) => (typeof value === 'number' ? value : Date.parse(value))
  for (const bound of [...new Set(shown.map(look))].slice(0, 15)) {
    const expected = idsWhere((transaction) => isWithin(numberOf(look(transaction)), numberOf(bound)))
    expect(await find(`&${name}=${encodeURIComponent(bound)}`), `${name}=${bound}`).toEqual(expected)
  }
})

test('a list shows each payment as it is shown alone', async () => {
  const { body } = await api.request<{ items: Record<string, unknown>[] }>('GET', '/transactions?limit=500')
  const alone = new Map<unknown, Record<string, unknown>>(shown.map((transaction) => [transaction.id, transaction]))
  const items = body.items.filter(({ id }) => alone.has(id))
  expect(items).toHaveLength(shown.length)
  for (const item of items) {
    const whole = alone.get(item['id']) ?? {}
    expect(item).toEqual(Object.fromEntries(Object.keys(item).map((name) => [name, whole[name]])))
  }
})

test('several values of a filter are any of them, several filters all of them', async () => {
  const either = idsWhere(({ status }) => status === 'authorization_voided' || status === 'authorization_declined')
  expect(await find('&status=authorization_voided&status=authorization_declined')).toEqual(either)
  const both = idsWhere(({ status, currency }) => status === 'authorization_succeeded' && currency === 'USD')
  expect(both).not.toEqual([])
  expect(await find('&status=authorization_succeeded&currency=USD')).toEqual(both)
})

test('metadata holds all pairs; of a key given twice the last counts', async () => {
  const ask = (...pairs: string[]) => find(pairs.map((pair) => `&metadata=${encodeURIComponent(pair)}`).join(''))
  const holding = (wanted: Record<string, string>) =>
    idsWhere(({ metadata }) => Object.entries(wanted).every(([name, value]) => metadata?.[name] === value))
  expect(await ask('{"order":"1"}')).toEqual(holding({ order: '1' }))
  expect(await ask('{"order":"1","odd key":"a=b&c"}')).toEqual(holding({ order: '1', 'odd key': 'a=b&c' }))
  expect(await ask('{"order":"1"}', '{"other":""}')).toEqual(holding({ order: '1', other: '' }))
  expect(await ask('{"order":"2"}', '{"order":"1"}')).toEqual(holding({ order: '1' }))
  expect(await ask('{"order":"2","order":"1"}')).toEqual(holding({ order: '1' }))
  expect(holding({ order: '1' })).toHaveLength(2)
  expect(await ask('{}')).toEqual(idsWhere(() => true))
})

test('search finds the five identifiers exactly, buyer_search the three of a buyer', async () => {
  const withAll = shown.find(({ buyer, external_identifier }) => buyer?.id && external_identifier)
  expect(withAll).toBeDefined()
  const fields = ({ id, external_identifier, payment_service_transaction_id, buyer }: Shown) => [
    id,
    external_identifier,
    payment_service_transaction_id,
    buyer?.id,
    buyer?.external_identifier,
  ]
  for (const text of withAll ? fields(withAll) : []) {
    const expected = idsWhere((transaction) => fields(transaction).includes(text))
    expect(await find(`&search=${encodeURIComponent(String(text))}`)).toEqual(expected)
  }
  expect(await find('&search=buyer-1')).toEqual([])
  const ofAda = idsWhere(({ buyer }) => buyer?.external_identifier === 'Buyer-1')
  expect(ofAda).toHaveLength(2)
  for (const text of [String(withAll?.buyer?.id), 'Buyer-1', 'ADA@example.com']) {
    expect(await find(`&buyer_search=${encodeURIComponent(text)}`)).toEqual(ofAda)
  }
  const guests = idsWhere(({ buyer }) => buyer?.billing_details?.email_address === 'guest@example.com')
  expect(await find('&buyer_search=Buyer-1&buyer_search=guest@example.com')).toEqual(
    idsWhere(({ id }) => ofAda.includes(id) || guests.includes(id)),
  )
})

test('what no payment has yet finds nothing', async () => {
  for (const name of nobodyHas) expect(await find(`&${name}=0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e`)).toEqual([])
})

const ending = (last4: string, balance: number) => ({
  ...giftCard(balance),
  number: `${giftCard(0).number.slice(0, -4)}${last4}`,
})

test('a payment is found by any gift card that was to pay, whatever became of it, and once', async () => {
  const storeGiftCard = async (last4: string, balance: number) => {
    const { text, body } = await api.request<{ id: string }>('POST', '/gift-cards', { body: ending(last4, balance) })
    expect(body.id, text).toEqual(expect.any(String))
    return body.id
  }
  const statuses = async (change: object) => {
    const { text, body } = await pay({ amount: 2000, ...change })
    const { id, gift_card_redemptions: redemptions } = body as unknown as Shown
    return { id, statuses: redemptions.map(({ status }) => status), text }
  }
  const [rich, poor] = [await storeGiftCard('1111', 500), await storeGiftCard('2222', 10)]
  const paid = await statuses({
    gift_cards: [
      { id: rich, amount: 100 },
      { ...ending('1111', 500), amount: 100 },
    ],
  })
  const failed = await statuses({
    gift_cards: [
      { ...ending('1111', 500), amount: 100 },
      { id: poor, amount: 100 },
    ],
  })
  const skipped = await statuses({
    payment_method: card(testCards.declined),
    gift_cards: [{ ...ending('3333', 500), amount: 100 }],
  })
  expect(paid.statuses, paid.text).toEqual(['succeeded', 'succeeded'])
  expect(failed.statuses, failed.text).toContain('failed')
  expect(skipped.statuses, skipped.text).toEqual(['skipped'])
  expect(await find(`&gift_card_id=${rich}`)).toEqual([paid.id])
  expect(await find(`&gift_card_id=${poor}`)).toEqual([failed.id])
  expect(await find(`&gift_card_id=${newId()}`)).toEqual([])
  expect(await find('&gift_card_last4=1111')).toEqual([failed.id, paid.id])
  expect(await find('&gift_card_last4=2222')).toEqual([failed.id])
  expect(await find('&gift_card_last4=3333')).toEqual([skipped.id])
  expect(await find('&gift_card_last4=4444')).toEqual([])
  expect(await find(`&gift_card_id=${poor}&gift_card_last4=1111`)).toEqual([failed.id])
  expect(await find(`&gift_card_id=${rich}&gift_card_last4=2222`)).toEqual([])
  expect(await find('&has_gift_card_redemptions=true&gift_card_last4=3333')).toEqual([skipped.id])
  expect(await find('&has_gift_card_redemptions=false&gift_card_last4=3333')).toEqual([])
})

test('has_refunds counts what only a gift card gave back', async () => {
  const { body } = await pay({ amount: 2000, intent: 'capture', gift_cards: [{ ...ending('5555', 500), amount: 100 }] })
  const [redemption] = (body as unknown as Shown).gift_card_redemptions
  const ask = async () =>
    Promise.all(['true', 'false'].map((wanted) => find(`&gift_card_last4=5555&has_refunds=${wanted}`)))
  expect(await ask()).toEqual([[], [body.id]])
  await act(`/transactions/${body.id}/refunds`, { target_type: 'gift-card-redemption', target_id: redemption?.id })
  expect(await ask()).toEqual([[body.id], []])
})

test('PostgreSQL writes any text into a list as JSON.stringify would', async () => {
  const { body } = await pay()
  const odd = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }).filter((text) => !text.includes('\0'))
  await fc.assert(
    fc.asyncProperty(odd, async (text) => {
      await api.database.query('update transactions set external_identifier = $2, error_code = $3 where id = $1', [
        body.id,
        text,
        `${text}\\`,
      ])
      const list = await api.request('GET', `/transactions?id=${body.id}`)
      expect(list.text).toContain(
        `"external_identifier":${JSON.stringify(text)},"error_code":${JSON.stringify(`${text}\\`)}`,
      )
    }),
    { numRuns: 200 },
  )
})

test('a payment that changes is found by what it is now', async () => {
  const { body } = await pay({ external_identifier: 'before', metadata: { stage: 'before' } })
  const path = `/transactions/${body.id}`
  const ask = (name: string, value: string) => find(`&${name}=${encodeURIComponent(value)}&id=${body.id}`)
  expect(await ask('external_identifier', 'before')).toEqual([body.id])
  await api.request('PUT', path, { body: { external_identifier: 'after', metadata: { stage: 'after' } } })
  expect(await ask('external_identifier', 'before')).toEqual([])
  expect(await ask('external_identifier', 'after')).toEqual([body.id])
  expect(await ask('metadata', '{"stage":"before"}')).toEqual([])
  expect(await ask('metadata', '{"stage":"after"}')).toEqual([body.id])
  expect(await ask('status', 'authorization_succeeded')).toEqual([body.id])
  await act(`${path}/capture`)
  expect(await ask('status', 'authorization_succeeded')).toEqual([])
  expect(await ask('has_refunds', 'true')).toEqual([])
  await act(`${path}/refunds/all`)
  expect(await ask('has_refunds', 'true')).toEqual([body.id])
  await api.request('PUT', path, { body: { metadata: null } })
  expect(await ask('metadata', '{"stage":"after"}')).toEqual([])
})

test.each([
  ['', /Add the filter created_at_gte/],
  ['&created_at_gte=2026-01-01T00:00:00Z', /Add the filter created_at_lte too/],
  ['&created_at_gte=2026-01-01T00:00:00Z&created_at_lte=2027-01-01T00:00:00Z', /closer together/],
])('a list that takes too long is 504 and says which filter to add (%s)', async (query, advice) => {
  const url = `${api.database.url('florin_api')}?options=-c%20statement_timeout%3D300`
  const impatient = await startApi(apiConfig(url, { vaultUrl: api.vault.url() }), () => undefined)
  onTestFinished(() => impatient.close())
  const blocker = new pg.Client({ connectionString: api.database.url() })
  await blocker.connect()
  onTestFinished(() => blocker.end())
  await blocker.query('begin; lock table transaction_facts in access exclusive mode')
  const { status, body } = await send(impatient.url, 'GET', `/transactions?currency=EUR${query}`, {
    token: api.token(),
  })
  expect([status, body['code']]).toEqual([504, 'gateway_timeout'])
  expect(body['message']).toMatch(advice)
})
