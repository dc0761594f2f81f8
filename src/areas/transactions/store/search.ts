import { any, raw, type Sql, sql } from '../../../platform/sql.ts'
import { paymentSources, transactionStatuses } from '../rules.ts'

/** What transactions are found by, as conditions on the tables that hold it. docs/decisions/0014 says why there are several. */

export type Values = readonly (string | boolean)[]
export interface Range {
  from: number | undefined
  to: number | undefined
}

const factColumns = {
  currency: [sql`facts.currency`, sql`text`],
  country: [sql`facts.country`, sql`text`],
  method: [sql`facts.method`, sql`text`],
  payment_method_id: [sql`facts.payment_method_id`, sql`uuid`],
  payment_method_label: [sql`facts.payment_method_label`, sql`text`],
  payment_method_scheme: [sql`facts.payment_method_scheme`, sql`text`],
  payment_method_country: [sql`facts.payment_method_country`, sql`text`],
  payment_method_bin: [sql`facts.payment_method_bin`, sql`text`],
  payment_method_fingerprint: [sql`facts.payment_method_fingerprint`, sql`text`],
  checkout_session_id: [sql`facts.checkout_session_id`, sql`uuid`],
  buyer_id: [sql`facts.buyer_id`, sql`uuid`],
  buyer_external_identifier: [sql`facts.buyer_external_identifier`, sql`text`],
  buyer_email_address: [sql`facts.buyer_email_address`, sql`text`],
  external_identifier: [sql`facts.external_identifier`, sql`text`],
} as const
const stateColumns = {
  payment_service_id: [sql`states.payment_service_id`, sql`uuid`],
  payment_service_transaction_id: [sql`states.payment_service_transaction_id`, sql`text`],
  error_code: [sql`states.error_code`, sql`text`],
} as const
const sourcingFlags = ['merchant_initiated', 'is_subsequent_payment', 'has_gift_card_redemptions'] as const
const stateFlags = ['pending_review', 'disputed', 'has_refunds', 'has_settlements', 'used_3ds'] as const

/** One of several columns that may hold a value. */
export type Alternative =
  | { table: 'facts'; column: keyof typeof factColumns | 'id'; value: string }
  | { table: 'states'; column: keyof typeof stateColumns; value: string }

/** What transactions must be like. No list of values is empty. */
export interface Search {
  facts: Partial<Record<keyof typeof factColumns | (typeof sourcingFlags)[number] | 'payment_source', Values>>
  states: Partial<Record<keyof typeof stateColumns | (typeof stateFlags)[number] | 'status', Values>>
  /** Milliseconds of creation, or exactly one. */
  ids: Range & { equals: string | undefined }
  amount: Range
  updated: Range
  metadata: readonly (readonly [name: string, value: string])[]
  /** Of a gift card that was to pay; the two may be of different ones. */
  giftCards: { id: string | undefined; last4: string | undefined }
  /** Of each, at least one. */
  anyOf: readonly (readonly Alternative[])[]
}

/** A condition on one of the tables, by its place in `from`. */
export interface Condition {
  table: string
  text: Sql
  /** Where the column may have one of several values: to read them apart, each in the order of ids. */
  values?: { column: Sql; type: Sql; list: readonly unknown[] }
}

function equals(table: string, [column, type]: readonly [Sql, Sql], wanted: readonly unknown[]): Condition {
  // Each value is read apart: one that is given twice would find everything twice.
  const list = [...new Set(wanted)]
  return list.length === 1
    ? { table, text: sql`${column} = ${list[0]}::${type}` }
    : { table, text: sql`${column} = any(${list}::${type}[])`, values: { column, type, list } }
}

function between(table: string, column: Sql, from: unknown, to: unknown): Condition[] {
  // Of one value the index has the order of ids; of a range it has not.
  if (from !== undefined && from === to) return [{ table, text: sql`${column} = ${from}` }]
  return [
    ...(from === undefined ? [] : [{ table, text: sql`${column} >= ${from}` }]),
    ...(to === undefined ? [] : [{ table, text: sql`${column} <= ${to}` }]),
  ]
}

const paired = (table: string, [name, value]: readonly [string, string]): Condition => ({
  table,
  text: sql`${raw(table)}.name = ${name} and ${raw(table)}.value = ${value}`,
})

/** Everything but the ids. */
function conditionsOf({ facts, states, amount, updated, metadata, giftCards }: Search): Condition[] {
  const named = <Column extends string>(
    table: string,
    columns: Record<Column, readonly [Sql, Sql]>,
    wanted: Partial<Record<NoInfer<Column>, Values>>,
  ) =>
    (Object.keys(columns) as Column[]).flatMap((name) => {
      const list = wanted[name]
      return list ? [equals(table, columns[name], list)] : []
    })
  const moment = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms))
  return [
    ...named('facts', factColumns, facts),
    ...(facts.payment_source || sourcingFlags.some((name) => facts[name])
      ? [
          equals(
            'facts',
            [sql`facts.sourcing`, sql`smallint`],
            numbersOf(paymentSources, facts.payment_source, sourcingFlags, facts),
          ),
        ]
      : []),
    ...between('facts', sql`facts.amount`, amount.from, amount.to),
    ...named('states', stateColumns, states),
    ...(states.status || stateFlags.some((name) => states[name])
      ? [
          equals(
            'states',
            [sql`states.state`, sql`smallint`],
            numbersOf(transactionStatuses, states.status, stateFlags, states),
          ),
        ]
      : []),
    ...between('states', sql`states.updated_at`, moment(updated.from), moment(updated.to)),
    ...metadata.map((pair, index) => paired(`metadata_${index}`, pair)),
    ...Object.entries(giftCards).flatMap(([name, value]) =>
      value === undefined ? [] : [paired(`gift_card_${name}`, [name, value])],
    ),
  ]
}

const both = [false, true] as const

/** The numbers that a generated column has for these values: one of several names, and flags that are a bit each, the last the lowest. */
function numbersOf<Flag extends string>(
  names: readonly string[],
  wantedNames: Values | undefined,
  flags: readonly Flag[],
  wanted: Partial<Record<NoInfer<Flag>, Values>>,
): number[] {
  return flags.reduce<number[]>(
    (numbers, flag) => numbers.flatMap((number) => (wanted[flag] ?? both).map((value) => number * 2 + Number(value))),
    [...new Set(wantedNames ?? names)].map((name) => names.indexOf(String(name)) + 1),
  )
}

const ofAlternative = (alternative: Alternative): Condition => {
  if (alternative.table === 'states') return equals('states', stateColumns[alternative.column], [alternative.value])
  const column = alternative.column === 'id' ? ([sql`facts.id`, sql`uuid`] as const) : factColumns[alternative.column]
  return equals('facts', column, [alternative.value])
}

/**
 * Conditions that hold together, and are read in the order of ids. A search that has alternatives is several of these: each has an index of its
 * own, which a single statement with `or` could not use.
 */
export interface Scan {
  tables: readonly string[]
  conditions: readonly Condition[]
}

export function scansOf(search: Search): Scan[] {
  const [first, ...others] = search.anyOf.map((group) => group.map(ofAlternative))
  const common: readonly Condition[] = conditionsOf(search)
  const either = others.map((group) => ({
    tables: group.map(({ table }) => table),
    text: any(group.map(({ text }) => text)),
  }))
  const scan = (conditions: readonly Condition[]): Scan => {
    const tables = [...conditions.map(({ table }) => table), ...either.flatMap((group) => group.tables)]
    const [anchor = 'transactions'] = tables
    return {
      tables: [...new Set([anchor, ...tables])],
      conditions: [...conditions, ...either.map(({ text }) => ({ table: anchor, text }))],
    }
  }
  return first ? first.map((alternative) => scan([alternative, ...common])) : [scan(common)]
}
