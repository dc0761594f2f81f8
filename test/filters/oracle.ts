import { reconciliationIdOf } from '../../src/ids.ts'
import type { Made, Pair } from './transactions.ts'

/** The filters of GET /transactions, read. A moment is nanoseconds since 1970: a caller may be more exact than we are. */
export interface Filters {
  created_at_gte?: bigint
  created_at_lte?: bigint
  updated_at_gte?: bigint
  updated_at_lte?: bigint
  amount_eq?: number
  amount_gte?: number
  amount_lte?: number
  id?: string
  reconciliation_id?: string
  external_identifier?: string
  buyer_id?: string
  buyer_external_identifier?: string
  buyer_email_address?: string
  buyer_search?: readonly string[]
  search?: string
  checkout_session_id?: string
  payment_link_id?: string
  reauthorized_from_transaction_id?: string
  ip_address?: string
  gift_card_id?: string
  gift_card_last4?: string
  has_gift_card_redemptions?: boolean
  has_refunds?: boolean
  has_settlements?: boolean
  used_3ds?: boolean
  pending_review?: boolean
  disputed?: boolean
  is_subsequent_payment?: boolean
  merchant_initiated?: boolean
  status?: readonly string[]
  currency?: readonly string[]
  country?: readonly string[]
  method?: readonly string[]
  error_code?: readonly string[]
  payment_source?: readonly string[]
  payment_service_id?: readonly string[]
  payment_service_transaction_id?: string
  payment_method_id?: string
  payment_method_label?: string
  payment_method_scheme?: readonly string[]
  payment_method_country?: string
  payment_method_bin?: string
  payment_method_fingerprint?: string
  /** Each object as its pairs in their order. */
  metadata?: readonly (readonly Pair[])[]
}
export type FilterName = keyof Filters

/** What each filter means, for one transaction. */
export type Meanings = { [Name in FilterName]-?: (transaction: Made, value: NonNullable<Filters[Name]>) => boolean }

const nanoseconds = (milliseconds: number) => BigInt(milliseconds) * 1_000_000n
const isOneOf = (value: string | null, wanted: readonly string[]) => value !== null && wanted.includes(value)
const isSameAddress = (address: string | null, wanted: string) => address?.toLowerCase() === wanted.toLowerCase()

export const meanings: Meanings = {
  created_at_gte: ({ created_at }, bound) => nanoseconds(created_at) >= bound,
  created_at_lte: ({ created_at }, bound) => nanoseconds(created_at) <= bound,
  updated_at_gte: ({ updated_at }, bound) => nanoseconds(updated_at) >= bound,
  updated_at_lte: ({ updated_at }, bound) => nanoseconds(updated_at) <= bound,
  amount_eq: ({ amount }, wanted) => amount === wanted,
  amount_gte: ({ amount }, bound) => amount >= bound,
  amount_lte: ({ amount }, bound) => amount <= bound,
  id: ({ id }, wanted) => id === wanted,
  reconciliation_id: ({ id }, wanted) => reconciliationIdOf(id) === wanted,
  external_identifier: ({ external_identifier }, wanted) => external_identifier === wanted,
  buyer_id: ({ buyer_id }, wanted) => buyer_id === wanted,
  buyer_external_identifier: ({ buyer_external_identifier }, wanted) => buyer_external_identifier === wanted,
  buyer_email_address: ({ buyer_email_address }, wanted) => isSameAddress(buyer_email_address, wanted),
  buyer_search: ({ buyer_id, buyer_external_identifier, buyer_email_address }, wanted) =>
    wanted.some(
      (text) => buyer_id === text || buyer_external_identifier === text || isSameAddress(buyer_email_address, text),
    ),
  search: (transaction, text) =>
    transaction.buyer_external_identifier === text ||
    transaction.buyer_id === text ||
    transaction.external_identifier === text ||
    transaction.id === text ||
    transaction.payment_service_transaction_id === text,
  checkout_session_id: ({ checkout_session_id }, wanted) => checkout_session_id === wanted,
  // Nothing has one of these yet.
  payment_link_id: () => false,
  reauthorized_from_transaction_id: () => false,
  ip_address: () => false,
  gift_card_id: ({ gift_card_redemptions }, wanted) =>
    gift_card_redemptions.some(({ gift_card_id }) => gift_card_id === wanted),
  gift_card_last4: ({ gift_card_redemptions }, wanted) => gift_card_redemptions.some(({ last4 }) => last4 === wanted),
  has_gift_card_redemptions: ({ gift_card_redemptions }, wanted) => gift_card_redemptions.length > 0 === wanted,
  has_refunds: ({ refunded_amount }, wanted) => refunded_amount > 0 === wanted,
  has_settlements: ({ settled }, wanted) => settled === wanted,
  used_3ds: ({ has_three_d_secure }, wanted) => has_three_d_secure === wanted,
  pending_review: ({ pending_review }, wanted) => pending_review === wanted,
  disputed: ({ disputed }, wanted) => disputed === wanted,
  is_subsequent_payment: ({ is_subsequent_payment }, wanted) => is_subsequent_payment === wanted,
  merchant_initiated: ({ merchant_initiated }, wanted) => merchant_initiated === wanted,
  status: ({ status }, wanted) => wanted.includes(status),
  currency: ({ currency }, wanted) => wanted.includes(currency),
  country: ({ country }, wanted) => isOneOf(country, wanted),
  method: ({ method }, wanted) => isOneOf(method, wanted),
  error_code: ({ error_code }, wanted) => isOneOf(error_code, wanted),
  payment_source: ({ payment_source }, wanted) => wanted.includes(payment_source),
  payment_service_id: ({ payment_service_id }, wanted) => isOneOf(payment_service_id, wanted),
  payment_service_transaction_id: ({ payment_service_transaction_id }, wanted) =>
    payment_service_transaction_id === wanted,
  payment_method_id: ({ payment_method_id }, wanted) => payment_method_id === wanted,
  payment_method_label: ({ payment_method_label }, wanted) => payment_method_label === wanted,
  payment_method_scheme: ({ payment_method_scheme }, wanted) => isOneOf(payment_method_scheme, wanted),
  payment_method_country: ({ payment_method_country }, wanted) => payment_method_country === wanted,
  payment_method_bin: ({ payment_method_bin }, wanted) => payment_method_bin === wanted,
  payment_method_fingerprint: ({ payment_method_fingerprint }, wanted) => payment_method_fingerprint === wanted,
  metadata: ({ metadata }, objects) => {
    // The last value of a name counts.
    const wanted = new Map(objects.flat())
    const has = new Map(metadata ?? [])
    return [...wanted].every(([name, value]) => has.get(name) === value)
  },
}

export const filterNames = Object.keys(meanings) as FilterName[]

/** Ids of the transactions of these accounts that all filters let through, newest first. */
export function find(
  transactions: readonly Made[],
  accounts: readonly string[],
  filters: Filters,
  by: Meanings = meanings,
): string[] {
  return transactions
    .filter(({ merchant_account_id }) => accounts.includes(merchant_account_id))
    .filter((transaction) => passes(transaction, filters, by))
    .map(({ id }) => id)
    .sort()
    .reverse()
}

function passes(transaction: Made, filters: Filters, by: Meanings): boolean {
  const names = Object.keys(filters) as FilterName[]
  return names.every((name) => {
    const lets = by[name] as (transaction: Made, value: unknown) => boolean
    return lets(transaction, filters[name])
  })
}
