import type { TransactionFilters } from '../../src/areas/transactions/schema/filters.ts'
import { newId, reconciliationIdOf } from '../../src/ids.ts'
import { changedLate, few, fewUuid, madeAt, manyUuid, sizes } from './big-table.ts'

/** How many transactions of the big table a filter matches: none, its 20 oldest, half; or half and others, by several values. */
export type Share = 'nothing' | 'few' | 'many' | 'several'
/** What has no value for a share cannot match that many. */
export type Values = Partial<Record<Share, TransactionFilters>>

/** Filters, and the ranges that two of them make. */
export type Subject = keyof TransactionFilters | 'created_at' | 'updated_at' | 'amount'

const before = madeAt(-1).toISOString()
const middle = madeAt(sizes.big / 2).toISOString()
const after = new Date(changedLate.getTime() + 1).toISOString()
const anHour = 60 * 60 * 1000
/** Which transaction of the big account was changed last at this moment: an hour after it was made. */
const changedAt = (number: number) => new Date(madeAt(number).getTime() + anHour).toISOString()

const one = <Name extends keyof TransactionFilters>(
  name: Name,
  values: Partial<Record<Share, TransactionFilters[Name]>>,
): Values => Object.fromEntries(Object.entries(values).map(([share, value]) => [share, { [name]: value }])) as Values
const list = (name: keyof TransactionFilters, nothing: string, fewValue: string, many: string): Values =>
  one(name, { nothing: [nothing], few: [fewValue], many: [many], several: [nothing, fewValue, many] } as never)
const text = (name: keyof TransactionFilters) => one(name, { nothing: 'nothing', few: 'few', many: 'many' })
const uuid = (name: keyof TransactionFilters) => one(name, { nothing: newId(), few: fewUuid, many: manyUuid })

/** A filter without a line here fails the test. `oldest` is the id of the big account's first transaction. */
export const valuesFor = (oldest: string): Record<Subject, Values> => ({
  id: one('id', { nothing: newId(), few: oldest }),
  reconciliation_id: one('reconciliation_id', {
    nothing: reconciliationIdOf(newId()),
    few: reconciliationIdOf(oldest),
  }),
  external_identifier: text('external_identifier'),
  search: one('search', { nothing: newId(), few: fewUuid, many: 'many', several: manyUuid }),
  created_at_gte: one('created_at_gte', { nothing: after, few: madeAt(sizes.big - few).toISOString(), many: middle }),
  created_at_lte: one('created_at_lte', { nothing: before, few: madeAt(few).toISOString(), many: middle }),
  updated_at_gte: one('updated_at_gte', { nothing: after, few: changedLate.toISOString(), many: middle }),
  updated_at_lte: one('updated_at_lte', { nothing: before, few: changedAt(2 * few), many: middle }),
  status: list('status', 'authorization_voided', 'authorization_failed', 'capture_succeeded'),
  amount_eq: one('amount_eq', { nothing: 99_999_999, few: 1_000_001, many: 5_000 }),
  amount_gte: one('amount_gte', { nothing: 99_999_999, few: 1_000_000, many: 5_000 }),
  amount_lte: one('amount_lte', { nothing: 0, few, many: 5_000 }),
  currency: list('currency', 'NOK', 'SEK', 'EUR'),
  country: list('country', 'NO', 'SE', 'DE'),
  metadata: one('metadata', {
    nothing: ['{"order":"nothing"}'],
    few: ['{"order":"few"}'],
    many: ['{"order":"many"}'],
    several: ['{"order":"many","other":"nothing"}'],
  }),
  buyer_id: uuid('buyer_id'),
  buyer_external_identifier: text('buyer_external_identifier'),
  buyer_email_address: text('buyer_email_address'),
  buyer_search: one('buyer_search', {
    nothing: ['nothing', newId()],
    few: ['few'],
    many: ['many'],
    several: [newId(), 'few', 'many', fewUuid, manyUuid],
  }),
  method: list('method', 'oxxo', 'klarna', 'card'),
  payment_method_id: uuid('payment_method_id'),
  payment_method_label: text('payment_method_label'),
  payment_method_scheme: list('payment_method_scheme', 'uatp', 'jcb', 'visa'),
  payment_method_country: one('payment_method_country', { nothing: 'NO', few: 'SE', many: 'DE' }),
  payment_method_bin: text('payment_method_bin'),
  payment_method_fingerprint: text('payment_method_fingerprint'),
  payment_service_id: list('payment_service_id', newId(), fewUuid, manyUuid),
  payment_service_transaction_id: text('payment_service_transaction_id'),
  error_code: list('error_code', 'nothing', 'expired_card', 'insufficient_funds'),
  payment_source: list('payment_source', 'installment', 'moto', 'ecommerce'),
  checkout_session_id: uuid('checkout_session_id'),
  // A flag has two values, so each has the shares that the table gives it; all are parts of the same two numbers.
  merchant_initiated: one('merchant_initiated', { many: true }),
  is_subsequent_payment: one('is_subsequent_payment', { few: true, many: false }),
  pending_review: one('pending_review', { few: true, many: false }),
  disputed: one('disputed', { nothing: true, many: false }),
  used_3ds: one('used_3ds', { few: true, many: false }),
  has_refunds: one('has_refunds', { many: true }),
  has_settlements: one('has_settlements', { many: true }),
  has_gift_card_redemptions: one('has_gift_card_redemptions', { few: true, many: false }),
  gift_card_id: uuid('gift_card_id'),
  gift_card_last4: one('gift_card_last4', { nothing: 'none', few: '0020', many: '4242' }),
  // Nothing has one of these yet, and no statement is run for them.
  ip_address: one('ip_address', { nothing: '192.0.2.1' }),
  payment_link_id: one('payment_link_id', { nothing: newId() }),
  reauthorized_from_transaction_id: one('reauthorized_from_transaction_id', { nothing: newId() }),

  created_at: {
    nothing: { created_at_gte: before, created_at_lte: before },
    few: { created_at_gte: before, created_at_lte: madeAt(few).toISOString() },
    many: {
      created_at_gte: madeAt(sizes.big / 4).toISOString(),
      created_at_lte: madeAt((sizes.big / 4) * 3).toISOString(),
    },
  },
  updated_at: {
    nothing: { updated_at_gte: after, updated_at_lte: after },
    few: { updated_at_gte: changedLate.toISOString(), updated_at_lte: after },
    many: { updated_at_gte: changedAt(sizes.big / 4), updated_at_lte: changedAt((sizes.big / 4) * 3) },
  },
  amount: {
    nothing: { amount_gte: 50_000_000, amount_lte: 99_999_999 },
    few: { amount_gte: 1_000_000, amount_lte: 1_100_000 },
    many: { amount_gte: 4_000, amount_lte: 6_000 },
  },
})
