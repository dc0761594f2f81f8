import { percentiles, round } from '../rig.ts'
import type { Client } from './ask.ts'
import { type Chance, chanceOf } from './chance.ts'
import { drawRow } from './draw.ts'
import { filterValues } from './values.ts'
import { momentOf, rowAt } from './world.ts'

export const slowest = 500

export interface CombinationFigures {
  count: number
  p50: number
  p99: number
  max: number
  /** Answered, but later than 500 ms. */
  over: number
  /** Cut off by the time limit of a statement. */
  cut: number
  /** The ten that took longest. */
  slowest: { query: string; ms: number; status: number }[]
}

/** Random combinations of one to six filters, always the same ones. */
export async function measureCombinations(client: Client, rows: number, count: number): Promise<CombinationFigures> {
  const asked: { query: string; ms: number; status: number }[] = []
  for (let number = 0; number < count; number += 1) {
    const query = combinationOf(number, rows)
    const first = await client.ask(query)
    if (first.status !== 200 && first.status !== 504) throw new Error(`${query}: ${first.status} ${first.text}`)
    // What was cut off is not asked again; it would be cut off again.
    const times =
      first.status === 504 ? [first.ms] : [await client.ask(query), await client.ask(query)].map(({ ms }) => ms)
    asked.push({ query, ms: round(Math.max(...times), 2), status: first.status })
  }
  const answered = asked.filter(({ status }) => status === 200).map(({ ms }) => ms)
  const { p50, p99 } = percentiles(answered)
  return {
    count,
    p50,
    p99,
    max: Math.max(0, ...answered),
    over: answered.filter((ms) => ms > slowest).length,
    cut: asked.length - answered.length,
    slowest: asked.toSorted((left, right) => right.ms - left.ms).slice(0, 10),
  }
}

export function combinationOf(number: number, rows: number): string {
  const chance = chanceOf(1_000_000_000 + number)
  const typical = typicalValues(chance, rows)
  const filters = Object.entries(filterValues(rows)).map(([name, values]) => [
    ...Object.values(values),
    ...(typical[name] ?? []),
  ])
  const wanted = 1 + chance.below(6)
  const chosen = Array.from({ length: wanted }, () => filters.splice(chance.below(filters.length), 1)[0] ?? [])
  return chosen.map((queries) => queries[chance.below(queries.length)]).join('&')
}

/** What somebody would look for: the values of a payment that is there, and a month around it. */
function typicalValues(chance: Chance, rows: number): Record<string, string[]> {
  const row = rowAt(chance.next(), rows)
  const drawn = drawRow(row, rows)
  const month = 30 * 24 * 60 * 60 * 1000
  const at = (ms: number) => new Date(momentOf(row, rows) + ms).toISOString()
  const found: Record<string, unknown[]> = {
    amount_eq: [drawn.amount],
    amount_gte: [Math.floor(drawn.amount * 0.9)],
    amount_lte: [Math.ceil(drawn.amount * 1.1)],
    created_at_gte: [at(-month)],
    created_at_lte: [at(month)],
    updated_at_gte: [at(-month)],
    updated_at_lte: [at(month)],
    currency: [drawn.currency, 'USD', 'PLN'],
    country: [drawn.country ?? 'FR', 'US'],
    status: [drawn.status, 'processing', 'authorization_voided'],
    method: [drawn.method, 'klarna'],
    payment_source: [drawn.source],
    external_identifier: [drawn.reference ?? ''],
    buyer_id: [drawn.buyer?.id ?? ''],
    buyer_external_identifier: [drawn.buyer?.reference ?? ''],
    buyer_email_address: [drawn.buyer?.email ?? ''],
    payment_method_label: [drawn.card?.label ?? ''],
    payment_method_scheme: [drawn.card?.scheme ?? '', 'amex'],
    payment_service_id: [drawn.serviceId],
    error_code: [drawn.errorCode ?? 'suspected_fraud'],
  }
  return Object.fromEntries(
    Object.entries(found).map(([name, values]) => [
      name,
      values.filter((value) => value !== '').map((value) => `${name}=${encodeURIComponent(String(value))}`),
    ]),
  )
}
