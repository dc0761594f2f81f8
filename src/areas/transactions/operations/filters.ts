import { type ErrorDetail, ValidationFailure } from '../../../errors.ts'
import { idOfReconciliationId } from '../../../ids.ts'
import { ceilMs, floorMs } from '../../../moments.ts'
import type { TransactionFilters } from '../schema/filters.ts'
import type { Alternative, Range, Search, Values } from '../store/search.ts'

/** What the query of a list asks for, in terms of the tables; undefined when nothing can match. */
export function searchOf(filters: TransactionFilters): Search | undefined {
  const metadata = metadataOf(filters.metadata ?? [])
  const { equals, isPossible } = ids(filters)
  const [createdTo, updatedTo] = [filters.created_at_lte, filters.updated_at_lte].map(floorMs)
  const isBefore1970 = [createdTo, updatedTo].some((ms) => ms !== undefined && ms < 0)
  if (!isPossible || isBefore1970 || asksForWhatNobodyHas(filters)) return undefined
  const buyerIds = filters.buyer_id === undefined ? undefined : [filters.buyer_id].filter(isUuid)
  const search: Search = {
    facts: withoutUndefined({
      currency: filters.currency,
      country: filters.country,
      payment_source: filters.payment_source,
      merchant_initiated: one(filters.merchant_initiated),
      is_subsequent_payment: one(filters.is_subsequent_payment),
      has_gift_card_redemptions: one(filters.has_gift_card_redemptions),
      method: filters.method,
      payment_method_id: one(filters.payment_method_id),
      payment_method_label: one(filters.payment_method_label),
      payment_method_scheme: filters.payment_method_scheme,
      payment_method_country: one(filters.payment_method_country),
      payment_method_bin: one(filters.payment_method_bin),
      payment_method_fingerprint: one(filters.payment_method_fingerprint),
      checkout_session_id: one(filters.checkout_session_id),
      buyer_id: buyerIds,
      buyer_external_identifier: one(filters.buyer_external_identifier),
      buyer_email_address: one(filters.buyer_email_address?.toLowerCase()),
      external_identifier: one(filters.external_identifier),
    }),
    states: withoutUndefined({
      status: filters.status,
      pending_review: one(filters.pending_review),
      disputed: one(filters.disputed),
      has_refunds: one(filters.has_refunds),
      has_settlements: one(filters.has_settlements),
      used_3ds: one(filters.used_3ds),
      payment_service_id: filters.payment_service_id,
      payment_service_transaction_id: one(filters.payment_service_transaction_id),
      error_code: filters.error_code,
    }),
    ids: { equals, from: ceilMs(filters.created_at_gte), to: createdTo },
    amount: {
      from: most([filters.amount_eq, filters.amount_gte]),
      to: least([filters.amount_eq, filters.amount_lte]),
    },
    updated: { from: ceilMs(filters.updated_at_gte), to: updatedTo },
    metadata,
    giftCards: { id: filters.gift_card_id, last4: filters.gift_card_last4 },
    anyOf: [
      ...(filters.search === undefined ? [] : [searchAlternatives(filters.search)]),
      ...(filters.buyer_search === undefined ? [] : [filters.buyer_search.flatMap(buyerAlternatives)]),
    ],
  }
  const isEmpty = [...Object.values(search.facts), ...Object.values(search.states), ...search.anyOf].some(
    (values: readonly unknown[]) => values.length === 0,
  )
  return isEmpty || [search.ids, search.amount, search.updated].some(isInverted) ? undefined : search
}

const isInverted = ({ from, to }: Range) => from !== undefined && to !== undefined && from > to

const one = <Value>(value: Value | undefined) => (value === undefined ? undefined : [value])
const withoutUndefined = <Key extends string>(values: Partial<Record<Key, Values | undefined>>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Record<Key, Values>>

const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

function ids({ id, reconciliation_id }: TransactionFilters): { equals: string | undefined; isPossible: boolean } {
  const spelled = reconciliation_id === undefined ? undefined : idOfReconciliationId(reconciliation_id)
  const isPossible =
    (reconciliation_id === undefined || spelled !== undefined) &&
    (id === undefined || spelled === undefined || id === spelled)
  return { equals: id ?? spelled, isPossible }
}

/** Payment links, payments authorized again, addresses: none yet, so whoever asks for one gets an empty list. */
const asksForWhatNobodyHas = (filters: TransactionFilters) =>
  [filters.payment_link_id, filters.reauthorized_from_transaction_id, filters.ip_address].some(
    (value) => value !== undefined,
  )

function searchAlternatives(text: string): Alternative[] {
  return [
    { table: 'facts', column: 'buyer_external_identifier', value: text },
    { table: 'facts', column: 'external_identifier', value: text },
    { table: 'states', column: 'payment_service_transaction_id', value: text },
    ...(isUuid(text)
      ? ([
          { table: 'facts', column: 'buyer_id', value: text },
          { table: 'facts', column: 'id', value: text },
        ] as const)
      : []),
  ]
}

function buyerAlternatives(text: string): Alternative[] {
  return [
    { table: 'facts', column: 'buyer_external_identifier', value: text },
    { table: 'facts', column: 'buyer_email_address', value: text.toLowerCase() },
    ...(isUuid(text) ? ([{ table: 'facts', column: 'buyer_id', value: text }] as const) : []),
  ]
}

const defined = (values: readonly (number | undefined)[]) => values.filter((value) => value !== undefined)
const most = (values: readonly (number | undefined)[]) =>
  defined(values).reduce<number | undefined>((left, right) => Math.max(left ?? right, right), undefined)
const least = (values: readonly (number | undefined)[]) =>
  defined(values).reduce<number | undefined>((left, right) => Math.min(left ?? right, right), undefined)

function metadataOf(texts: readonly string[]): [name: string, value: string][] {
  const pairs = new Map<string, string>()
  for (const text of texts) {
    const value = parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badMetadata()
    for (const [name, wanted] of Object.entries(value as Record<string, unknown>)) {
      if (typeof wanted !== 'string' || !isStorable(wanted) || !isStorable(name)) throw badMetadata()
      pairs.set(name, wanted)
    }
  }
  return [...pairs]
}

/** As for every text of a request; but these were hidden in another text. */
const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed()

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function badMetadata(): ValidationFailure {
  const message = 'Must be a JSON object whose values are texts, such as {"order":"4711"}, URL encoded'
  const detail: ErrorDetail = { location: 'query', pointer: 'metadata', message, type: 'type_error.object' }
  return new ValidationFailure([detail])
}
