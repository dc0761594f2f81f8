import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useApi } from '../../../../test/api.ts'
import { cardOf, makePayments, makeService, testCards } from '../../../../test/every-state.ts'
import { redeem } from '../../../../test/redemptions.ts'
import { afterDays } from '../../../../test/statements.ts'
import { createConnectors, createGiftCards } from '../../../connectors/registry.ts'
import { createLog } from '../../../platform/log.ts'
import { connect, type Database } from '../../../platform/postgres.ts'
import { resolveDue } from './resolve.ts'
import { type Difference, verifyTransactions } from './verify.ts'
import { newId } from '../../../ids.ts'

const api = useApi()
const { query } = api.database
let worker: Database
let ids: Record<string, string>

/** What the command does, with the worker's grants. */
async function verify(accounts: 'all' | string[] = 'all', batch = 7) {
  const found: Difference[] = []
  const onDifference = (difference: Difference) => void found.push(difference)
  const result = await verifyTransactions({ db: worker, accounts }, { onDifference, batch })
  expect(result.differences).toBe(found.length)
  return { ...result, found }
}

const expectNothing = async () => expect((await verify()).found).toEqual([])

async function statuses() {
  const rows = await query<{ status: string }>('select distinct status from transactions order by status')
  return rows.map(({ status }) => status)
}

/** The janitor of a later time. */
async function resolveAt(minutes: number) {
  const now = () => new Date(Date.now() + minutes * 60_000)
  const connectors = createConnectors({ environment: 'sandbox', db: worker, now })
  const giftCards = createGiftCards({ environment: 'sandbox', db: worker, now })
  const log = createLog({ level: 'silent', process: 'test' })
  const ctx = {
    db: worker,
    vault: api.vault.client(),
    connectors,
    giftCards,
    now,
    newId,
    accounts: 'all' as const,
    log,
  }
  await resolveDue(ctx, new AbortController().signal)
}

/** A payment that was settled, refunded in part and charged back. */
async function payAndDispute(): Promise<string> {
  const make = async (path: string, body: object) => String((await api.request('POST', path, { body })).body['id'])
  const service = await make('/payment-services', {
    display_name: 'Reporting',
    payment_service_definition_id: 'mock-card',
    fields: [{ key: 'merchant_id', value: 'x' }],
    accepted_currencies: ['EUR'],
    accepted_countries: ['DE'],
    settlement_reporting_enabled: true,
  })
  const id = await make('/transactions', {
    amount: 1299,
    currency: 'EUR',
    country: 'DE',
    intent: 'capture',
    payment_service_id: service,
    payment_method: cardOf('4000000000004004'),
  })
  await make(`/transactions/${id}/refunds`, { amount: 300 })
  await afterDays(api, id, 5)
  return id
}

beforeAll(async () => {
  worker = connect({
    url: api.database.url('florin_worker'),
    applicationName: 'test',
    poolSize: 2,
    onError: () => undefined,
  })
  await makeService(api.request)
  await makeService(api.request, 'Second')
  ids = { ...(await makePayments(api.request)), disputed: await payAndDispute() }
}, 120_000)
afterAll(() => worker.close())

test('payments in every state agree with themselves, before and after their outcome is known', async () => {
  expect(await statuses()).toEqual([
    'authorization_declined',
    'authorization_failed',
    'authorization_succeeded',
    'authorization_void_pending',
    'authorization_voided',
    'capture_pending',
    'capture_succeeded',
    'processing',
  ])
  const before = await verify()
  expect(before).toMatchObject({ transactions: Object.keys(ids).length, found: [] })
  expect(before.checks).toBeGreaterThan(20 * before.transactions)

  for (const minutes of [2, 10, 120]) await resolveAt(minutes)
  const after = await statuses()
  expect(after.filter((status) => /processing|pending/.test(status))).toEqual([])
  await expectNothing()
})

test('an account is looked at by itself, and the size of the batches changes nothing', async () => {
  expect(await verify(['other'])).toMatchObject({ transactions: 0, checks: 0 })
  const { transactions, checks } = await verify()
  expect(await verify(['default'])).toMatchObject({ transactions, checks })
  expect(await verify('all', 1)).toMatchObject({ transactions, checks })
  expect(await verify('all', transactions)).toMatchObject({ transactions, checks })
})

interface Plant {
  what: string
  in: string
  /** $1 is the transaction. */
  plant: string
  undo: string
  difference: Partial<Difference>
}

const set = (column: string, value: string, before: string) => ({
  plant: `update transactions set ${column} = ${value} where id = $1`,
  undo: `update transactions set ${column} = ${before} where id = $1`,
})
const setPart = (table: string, column: string, value: string, before: string) => ({
  plant: `update ${table} set ${column} = ${value} where transaction_id = $1`,
  undo: `update ${table} set ${column} = ${before} where transaction_id = $1`,
})
const inText = (column: string, from: string, to: string) =>
  set(column, `replace(${column}, '${from}', '${to}')`, `replace(${column}, '${to}', '${from}')`)
const setFound = (table: string, column: string, value: string) => ({
  // The update of nothing makes the trigger copy the state again.
  plant: `update ${table} set ${column} = ${value} where id = $1`,
  undo: `with again as (update transactions set version = version where id = $1)
    update transaction_facts set amount = 1299, currency = 'EUR', payment_method_scheme = 'visa', has_gift_card_redemptions = false where id = $1`,
})
const ofCall = `where reference in (select id::text from attempts where transaction_id = $1)`
const ofPayment = `where id in (select payment_id from sandbox_card_operations ${ofCall})`

const plants: Plant[] = [
  {
    what: 'a payment that is found by another currency',
    in: 'authorized',
    ...setFound('transaction_facts', 'currency', `'USD'`),
    difference: { what: 'found by currency' },
  },
  {
    what: 'a payment that is found by another scheme',
    in: 'authorized',
    ...setFound('transaction_facts', 'payment_method_scheme', `'amex'`),
    difference: { what: 'found by payment_method_scheme' },
  },
  {
    what: 'a payment that is found in another state',
    in: 'authorized',
    ...setFound('transaction_states', 'status', `'processing'`),
    difference: { what: 'found by status' },
  },
  {
    what: 'a payment that is found as refunded',
    in: 'authorized',
    ...setFound('transaction_states', 'has_refunds', 'true'),
    difference: { what: 'found by has_refunds' },
  },
  {
    what: 'metadata that the payment has not',
    in: 'authorized',
    plant: `insert into transaction_metadata select merchant_account_id, 'strange', '1', id from transactions where id = $1`,
    undo: `delete from transaction_metadata where id = $1 and name = 'strange'`,
    difference: { what: 'found by metadata' },
  },
  {
    what: 'a payment that is found as one with gift cards',
    in: 'authorized',
    ...setFound('transaction_facts', 'has_gift_card_redemptions', 'true'),
    difference: { what: 'found by has_gift_card_redemptions' },
  },
  {
    what: 'a gift card that the payment has not',
    in: 'authorized',
    plant: `insert into transaction_gift_cards select merchant_account_id, 'last4', '1111', id from transactions where id = $1`,
    undo: `delete from transaction_gift_cards where id = $1`,
    difference: { what: 'found by gift cards' },
  },
  {
    what: 'an authorized total that is not the sum',
    in: 'authorized',
    ...set('authorized_amount', '1300', '1299'),
    difference: { what: 'authorized_amount', expected: 1299, found: 1300 },
  },
  {
    what: 'a captured total that is not the sum',
    in: 'captured',
    ...set('captured_amount', '1000', '1299'),
    difference: { what: 'captured_amount', expected: 1299, found: 1000 },
  },
  {
    what: 'a refunded total that is not the sum',
    in: 'refunded',
    ...set('refunded_amount', '0', '1299'),
    difference: { what: 'refunded_amount', expected: 1299, found: 0 },
  },
  {
    what: 'a captured amount without captures',
    in: 'captured a part',
    ...setPart('captures', 'amount', '499', '500'),
    difference: { what: 'captured by captures', expected: 499, found: 500 },
  },
  {
    what: 'an amount that is promised to no capture',
    in: 'authorized',
    ...setPart('transaction_instruments', 'capturing_amount', '5', '0'),
    difference: { what: 'capturing by captures', expected: 0, found: 5 },
  },
  {
    what: 'a refund that is not in the refunded amount',
    in: 'refunded',
    ...setPart('transaction_instruments', 'refunded_amount', '1298', '1299'),
    difference: { what: 'instrument 0 refunded_amount', expected: 1299, found: 1298 },
  },
  {
    what: 'an amount that is promised to no refund',
    in: 'sold',
    ...setPart('transaction_instruments', 'refunding_amount', '5', '0'),
    difference: { what: 'instrument 0 refunding_amount', expected: 0, found: 5 },
  },
  {
    what: 'more captured than allowed',
    in: 'captured',
    ...setPart('transaction_instruments', 'capture_limit', '1000', '1299'),
    difference: { what: 'instrument 0 capture_limit', expected: 'at least 1299', found: 1000 },
  },
  {
    what: 'more authorized than asked for',
    in: 'authorized',
    ...setPart('transaction_instruments', 'amount', '1000', '1299'),
    difference: { what: 'instrument 0 authorized_amount', expected: 'at most 1000', found: 1299 },
  },
  {
    what: 'more given back than taken',
    in: 'refunded',
    ...setPart('transaction_instruments', 'captured_amount', '1', '1299'),
    difference: { what: 'instrument 0 refunds', expected: 'at most 1', found: 1299 },
  },
  {
    what: 'a capture in another currency',
    in: 'sold',
    ...setPart('captures', 'currency', `'USD'`, `'EUR'`),
    difference: { expected: 'EUR', found: 'USD' },
  },
  {
    what: 'a status without the money',
    in: 'authorized',
    ...set('status', `'capture_succeeded'`, `'authorization_succeeded'`),
    difference: { what: 'captured when capture_succeeded', expected: true, found: false },
  },
  {
    what: 'a declined payment with money',
    in: 'authorized',
    ...set('status', `'authorization_declined'`, `'authorization_succeeded'`),
    difference: { what: 'authorized when authorization_declined', expected: false, found: true },
  },
  {
    what: 'a voided payment that can be captured',
    in: 'voided',
    ...setPart('transaction_instruments', 'capturable', 'true', 'false'),
    difference: { what: 'capturable when authorization_voided', expected: false, found: true },
  },
  {
    what: 'an outcome that does not fit',
    in: 'declined',
    ...set('intent_outcome', `'pending'`, `'failed'`),
    difference: { what: 'intent_outcome when authorization_declined', expected: 'failed', found: 'pending' },
  },
  {
    what: 'a payment under way that nobody asks about',
    in: 'declined',
    ...set('status', `'processing'`, `'authorization_declined'`),
    difference: { what: 'open attempts when processing', expected: 1, found: 0 },
  },
  {
    what: 'a void under way that nobody asks about',
    in: 'authorized',
    ...set('status', `'authorization_void_pending'`, `'authorization_succeeded'`),
    difference: { what: 'open attempts when authorization_void_pending', expected: 1, found: 0 },
  },
  {
    what: 'a capture under way that nobody asks about',
    in: 'captured a part',
    ...setPart('captures', 'status', `'pending'`, `'succeeded'`),
    difference: { what: expect.stringMatching(/^pending capture .* has an open attempt$/) as string, found: false },
  },
  {
    what: 'a refund under way that nobody asks about',
    in: 'refund lost',
    ...setPart('refunds', 'status', `'processing'`, `'succeeded'`),
    difference: { what: expect.stringMatching(/^processing refund .* has an open attempt$/) as string, found: false },
  },
  {
    what: 'an open call of a payment that is decided',
    in: 'authorized',
    plant: `update attempts set state = 'open', result = null, next_check_at = '2100-01-01' where transaction_id = $1`,
    undo: `update attempts set state = 'done', result = 'approved', next_check_at = null where transaction_id = $1`,
    difference: {
      expected: 'processing or buyer_approval_pending or capture_pending',
      found: 'authorization_succeeded',
    },
  },
  {
    what: 'two providers that both took the payment',
    in: 'sold',
    plant: `insert into attempts select (jsonb_populate_record(attempts, jsonb_build_object('id', gen_random_uuid()))).*
      from attempts where transaction_id = $1`,
    undo: `delete from attempts where transaction_id = $1 and id <> (select min(id::text)::uuid from attempts where transaction_id = $1)`,
    difference: { what: 'approved authorizations', expected: 'at most 1', found: 2 },
  },
  {
    what: 'text that says another amount',
    in: 'authorized',
    ...inText('summary', '"amount":1299', '"amount":9912'),
    difference: { what: 'summary.amount', expected: 1299, found: 9912 },
  },
  {
    what: 'text with a space too much',
    in: 'authorized',
    ...inText('summary', '"amount":1299', '"amount": 1299'),
    difference: { what: 'summary', found: expect.stringContaining('others') as string },
  },
  {
    what: 'text with a field that no schema has',
    in: 'authorized',
    ...inText('payment_method', '{"type"', '{"number":"x","type"'),
    difference: { what: 'payment_method' },
  },
  {
    what: 'details of another source',
    in: 'authorized',
    ...inText('details', '"ecommerce"', '"moto"'),
    difference: { what: 'details.payment_source', expected: 'ecommerce', found: 'moto' },
  },
  {
    what: 'the text of another service',
    in: 'authorized',
    ...set('payment_service_id', `'01900000-0000-7000-8000-000000000001'`, `(payment_service::json ->> 'id')::uuid`),
    difference: { what: 'payment_service.id', expected: '01900000-0000-7000-8000-000000000001' },
  },
  {
    what: 'text that is no JSON',
    in: 'authorized',
    ...inText('details', '"ecommerce"', '"ecommerce'),
    difference: { what: 'stored text', expected: 'JSON' },
  },
  {
    what: 'text of another version',
    in: 'authorized',
    ...set('rendering', '0', '2'),
    difference: { what: 'rendering', expected: 2, found: 0 },
  },
  {
    what: 'an answer that its schema does not allow',
    in: 'authorized',
    ...set('avs_response_code', `'perhaps'`, 'null'),
    difference: { what: 'answer fits its schema', expected: null, found: expect.stringContaining('/avs') as string },
  },
  {
    what: 'a settled amount that is not what the lines say',
    in: 'disputed',
    ...set('settled_amount', '1299', '999'),
    difference: { what: 'settled_amount', expected: 999, found: 1299 },
  },
  {
    what: 'a settled payment without a settlement',
    in: 'sold',
    ...set('settled', 'true', 'false'),
    difference: { what: 'settled', expected: false, found: true },
  },
  {
    what: 'a settlement in another currency',
    in: 'disputed',
    ...set('settled_currency', `'USD'`, `'EUR'`),
    difference: { what: 'settled_currency', expected: 'EUR', found: 'USD' },
  },
  {
    what: 'a chargeback that nobody was told of',
    in: 'disputed',
    ...set('disputed', 'false', 'true'),
    difference: { what: 'disputed', expected: true, found: false },
  },
  {
    what: 'a line of a statement that says another amount',
    in: 'disputed',
    plant: `update statement_lines set amount = 1300 where transaction_id = $1 and kind = 'settlement'`,
    undo: `update statement_lines set amount = 1299 where transaction_id = $1 and kind = 'settlement'`,
    difference: { what: 'settled_amount', expected: 1000, found: 999 },
  },
  {
    what: 'a refund that is settled with another amount',
    in: 'disputed',
    ...setPart('refunds', 'settled_amount', '1', '300'),
    difference: { what: expect.stringMatching(/^refund .* settled_amount$/) as string, expected: 300, found: 1 },
  },
  {
    what: 'a refund that is settled in the books only',
    in: 'refund lost',
    ...setPart('refunds', 'settled', 'true', 'false'),
    difference: { what: expect.stringMatching(/^refund .* settled$/) as string, expected: false, found: true },
  },
  {
    what: 'a review of a payment that nobody wanted to review',
    in: 'authorized',
    ...set('pending_review', 'true', 'false'),
    difference: { what: 'pending_review', expected: false, found: true },
  },
  {
    what: 'a provider that took more',
    in: 'captured a part',
    plant: `update sandbox_card_payments set captured = 1299 ${ofPayment}`,
    undo: `update sandbox_card_payments set captured = 500 ${ofPayment}`,
    difference: { what: 'sandbox captured', expected: 500, found: 1299 },
  },
  {
    what: 'a provider that gave nothing back',
    in: 'refunded',
    plant: `update sandbox_card_payments set refunded = 0 ${ofPayment}`,
    undo: `update sandbox_card_payments set refunded = 1299 ${ofPayment}`,
    difference: { what: 'sandbox refunded', expected: 1299, found: 0 },
  },
  {
    what: 'a provider that still holds the money',
    in: 'voided',
    plant: `update sandbox_card_payments set state = 'authorized' ${ofPayment}`,
    undo: `update sandbox_card_payments set state = 'voided' ${ofPayment}`,
    difference: { what: 'sandbox voided', expected: true, found: false },
  },
  {
    what: 'an approval that the provider never gave',
    in: 'authorized',
    plant: `update sandbox_card_operations set outcome = outcome || '{"result":"declined"}' ${ofCall}`,
    undo: `update sandbox_card_operations set outcome = outcome || '{"result":"approved"}' ${ofCall}`,
    difference: { expected: 'approved', found: 'declined' },
  },
  {
    what: 'a refusal that the provider never gave',
    in: 'declined',
    plant: `update sandbox_card_operations set outcome = outcome || '{"result":"approved"}' ${ofCall}`,
    undo: `update sandbox_card_operations set outcome = outcome || '{"result":"declined"}' ${ofCall}`,
    difference: { expected: 'not approved', found: 'approved' },
  },
  {
    what: 'a charge that belongs to no payment of ours',
    in: 'sold',
    plant: `update sandbox_card_operations set reference = 'x' || reference ${ofCall}`,
    undo: `update sandbox_card_operations set reference = substr(reference, 2)
      where substr(reference, 2) in (select id::text from attempts where transaction_id = $1)`,
    difference: { what: 'sandbox operation', expected: 'an attempt of ours', found: 'a sale of 1299' },
  },
]

describe('each kind of difference is reported:', () => {
  beforeAll(async () => {
    // The database itself would refuse most of them.
    const constraints = await query<{ tab: string; name: string }>(
      `select conrelid::regclass::text as tab, conname as name from pg_constraint
       where contype = 'c' and connamespace = 'public'::regnamespace and conrelid::regclass::text ~
         '^(transactions|transaction_instruments|captures|refunds|attempts|sandbox_card_payments|sandbox_card_operations)$'`,
    )
    for (const { tab, name } of constraints) await query(`alter table ${tab} drop constraint ${name}`)
  })

  test.each(plants)('$what', async ({ in: name, plant, undo, difference }) => {
    const id = ids[name] ?? ''
    await query(plant, [id])
    const { found } = await verify()
    await query(undo, [id])
    const isStrange = difference.what === 'sandbox operation'
    const expected = { merchant_account_id: 'default', ...(!isStrange && { id }), ...difference }
    expect(found).toEqual(expect.arrayContaining([expect.objectContaining(expected)]))
    await expectNothing()
  })

  test('a transaction without an instrument', async () => {
    const id = ids['checked'] ?? ''
    const rows = await query<{ row: string }>(
      'delete from transaction_instruments where transaction_id = $1 returning to_jsonb(transaction_instruments)::text as row',
      [id],
    )
    const { found } = await verify()
    await query(
      'insert into transaction_instruments select (jsonb_populate_record(null::transaction_instruments, $1)).*',
      [rows[0]?.row],
    )
    expect(found).toEqual([expect.objectContaining({ id, what: 'instruments', expected: 'at least 1', found: 0 })])
    await expectNothing()
  })
})

test('gift cards that a payment has and is not found by are reported', async () => {
  const id = ids['declined'] ?? ''
  const findings = async () => (await verify()).found.filter(({ what }) => what.startsWith('found by'))
  const card = newId()
  await redeem(query, id, [
    { gift_card_id: card, last4: '1111', status: 'failed' },
    { gift_card_id: null, last4: '1111', status: 'skipped' },
  ])
  expect(await findings()).toEqual([])
  await query('update transaction_facts set has_gift_card_redemptions = false where id = $1', [id])
  expect(await findings()).toMatchObject([{ id, what: 'found by has_gift_card_redemptions' }])
  await query('update transaction_facts set has_gift_card_redemptions = true where id = $1', [id])
  await query(`update transaction_gift_cards set value = $2 where id = $1 and name = 'id'`, [id, newId()])
  expect(await findings()).toMatchObject([{ id, what: 'found by gift cards' }])
  await query(`delete from transaction_gift_cards where id = $1 and name = 'id'`, [id])
  expect(await findings()).toMatchObject([{ id, what: 'found by gift cards' }])
})

test('a charge that is refused after its answer agrees with the provider', async () => {
  const headers = { 'x-service-merchant-account-id': 'other' }
  const request: typeof api.request = (method, path, options) => api.request(method, path, { headers, ...options })
  await makeService(request)
  const body = {
    amount: 500_002,
    currency: 'EUR',
    country: 'DE',
    intent: 'capture',
    async_capture: true,
    payment_method: cardOf(testCards.approved),
  }
  await request('POST', '/transactions', { body })
  await resolveAt(2)
  expect(await verify(['other'])).toMatchObject({ transactions: 1, found: [] })
})
