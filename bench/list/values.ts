import { reconciliationIdOf } from '../../src/ids.ts'
import { end, idOf, idOfThing, momentOf, oldestCount, rowAt, start } from './world.ts'

/**
 * What the filters are measured with, on the big account: for each a value that matches nothing, one that matches exactly the 20 oldest rows, and one
 * that matches about half of all. The same values are drawn into the rows.
 *
 * Where a shape is missing, one table cannot hold it: an id is of one row, so its `oldest` is the oldest row alone; what was created after a moment is never
 * the oldest; amounts and updates of the 20 oldest rows are above all others, so `_lte` cannot find them alone; a yes or no splits the rows in two, so
 * each has one shape and, as `most`, the other side of it.
 */

export type Shape = 'nothing' | 'oldest' | 'half' | 'most'
export const shapes: readonly Shape[] = ['nothing', 'oldest', 'half', 'most']

const three = <Value>(nothing: Value, oldest: Value, half: Value) => ({ nothing, oldest, half })

/** Drawn into the rows as they are. */
export const marks = {
  amount: three(98_765_432, 12_345_678, 999),
  currency: three('ISK', 'XAF', 'EUR'),
  country: three('AQ', 'LI', 'DE'),
  method: three('zippay', 'giropay', 'card'),
  status: three('authorization_void_pending', 'buyer_approval_pending', 'capture_succeeded'),
  payment_source: three('installment', 'moto', 'ecommerce'),
  external_identifier: three('order-of-nobody', 'order-of-the-oldest', 'standing-order'),
  buyer_external_identifier: three('customer-of-nobody', 'customer-of-the-oldest', 'house-account'),
  buyer_id: three(idOfThing('buyer', -1), idOfThing('buyer', -2), idOfThing('buyer', -3)),
  buyer_email_address: three('nobody@example.com', 'oldest@example.com', 'house@example.com'),
  checkout_session_id: three(idOfThing('session', -1), idOfThing('session', -2), idOfThing('session', -3)),
  error_code: three('service_error', 'expired_card', 'insufficient_funds'),
  payment_method_id: three(idOfThing('method', -1), idOfThing('method', -2), idOfThing('method', -3)),
  payment_method_label: three('none', '0020', '4242'),
  payment_method_scheme: three('uatp', 'dankort', 'visa'),
  payment_method_country: three('AQ', 'LI', 'DE'),
  payment_method_bin: three('99999999', '50190020', '42424242'),
  payment_method_fingerprint: three('f'.repeat(64), '2'.repeat(64), '4'.repeat(64)),
  payment_service_id: three(idOfThing('service', -1), idOfThing('service', -2), idOfThing('service', -3)),
  payment_service_transaction_id: three('reference-of-nobody', 'reference-of-the-oldest', 'one-batch'),
  metadata: three({ channel: 'pigeon' }, { import: 'first' }, { channel: 'web' }),
  gift_card_id: three(idOfThing('giftCard', -1), idOfThing('giftCard', -2), idOfThing('giftCard', -3)),
  gift_card_last4: three('none', '0020', '4242'),
} as const

export type FilterValues = Readonly<Record<string, Partial<Record<Shape, string>>>>

type Value = string | number | boolean | Readonly<Record<string, string>>

const shaped = (name: string, values: Partial<Record<Shape, Value>>): Partial<Record<Shape, string>> =>
  Object.fromEntries(
    Object.entries(values).map(([shape, value]) => [
      shape,
      `${name}=${encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
    ]),
  )

const moment = (ms: number) => new Date(ms).toISOString()
const oneDay = 24 * 60 * 60 * 1000
/** The 20 oldest rows were changed after everything else. */
export const lateUpdate = end + 30 * oneDay

/** Filter -> query strings, for a table of this many rows. */
export function filterValues(rows: number): FilterValues {
  const { amount, metadata, ...equal } = marks
  const [oldest, middle] = [idOf(0, rows), moment(momentOf(rowAt(0.5, rows), rows))]
  const unknown = idOfThing('session', -4)
  const [before, after] = [moment(start - oneDay), moment(lateUpdate + oneDay)]
  const values: Record<string, Partial<Record<Shape, Value>>> = {
    ...equal,
    metadata,
    amount_eq: amount,
    amount_gte: three(amount.nothing, amount.oldest, amount.half + 1),
    amount_lte: { nothing: 1, half: amount.half, most: amount.oldest - 1 },
    created_at_gte: { nothing: after, half: middle, most: moment(momentOf(rowAt(0.01, rows), rows)) },
    created_at_lte: three(before, moment(momentOf(2 * oldestCount - 2, rows)), middle),
    updated_at_gte: three(after, moment(lateUpdate), middle),
    updated_at_lte: { nothing: before, half: middle, most: moment(end + oneDay) },
    id: { nothing: unknown, oldest },
    reconciliation_id: { nothing: reconciliationIdOf(unknown), oldest: reconciliationIdOf(oldest) },
    search: marks.buyer_external_identifier,
    buyer_search: marks.buyer_email_address,
    pending_review: { oldest: true, most: false },
    disputed: { nothing: true, most: false },
    has_refunds: { oldest: true, most: false },
    has_settlements: { half: true },
    used_3ds: { half: true },
    merchant_initiated: { oldest: true, most: false },
    is_subsequent_payment: { half: true },
    has_gift_card_redemptions: { half: true },
    payment_link_id: { nothing: unknown },
    reauthorized_from_transaction_id: { nothing: unknown },
    ip_address: { nothing: '192.0.2.1' },
  }
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shaped(name, value)]))
}
