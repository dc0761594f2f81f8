import type { StatementLine } from '../../../connectors/payment.ts'

/** What lines of statements make of a payment. Pure: no database, no clock. */

export const lineKinds = ['settlement', 'refund-settlement', 'chargeback', 'chargeback-reversal'] as const
export type LineKind = (typeof lineKinds)[number]

export interface Totals {
  settled: boolean
  settled_amount: number
  settled_currency: string | null
  disputed: boolean
}

type Counted = Pick<StatementLine, 'kind' | 'currency' | 'amount'>

/**
 * Of all lines of a payment, oldest first. It is settled from its first settlement on; the amount is what was settled less what was settled of
 * its refunds, before fees, in the currency of that first settlement. A dispute lasts as long as there are more chargebacks than reversals.
 */
export function totalsOf(lines: readonly Counted[]): Totals {
  const of = (kind: LineKind) => lines.filter((line) => line.kind === kind)
  const currency = of('settlement')[0]?.currency ?? null
  const sum = (kind: LineKind) =>
    of(kind)
      .filter((line) => line.currency === currency)
      .reduce((total, { amount }) => total + amount, 0)
  return {
    settled: currency !== null,
    settled_amount: sum('settlement') - sum('refund-settlement'),
    settled_currency: currency,
    disputed: of('chargeback').length > of('chargeback-reversal').length,
  }
}

export const timelineNames = {
  settlement: 'payment-connector-report-transaction-settled',
  'refund-settlement': 'payment-connector-report-refund-settled',
  chargeback: 'payment-connector-report-chargeback-posted',
  'chargeback-reversal': 'payment-connector-report-chargeback-reversal-posted',
} as const satisfies Record<LineKind, string>

const dayMs = 24 * 60 * 60 * 1000
/** Nobody is asked about a payment for longer. */
export const longestMs = 60 * dayMs

/** When a payment is asked about first, and how long whoever asks has for it. */
export const firstCheckMs = dayMs

export interface Reported extends Totals {
  currency: string
  captured_amount: number
  refunded_amount: number
  /** Nothing was charged and nothing will be. */
  isOver: boolean
  ageMs: number
}

/**
 * How long to wait before a payment is asked about again; undefined: no more. Every day while money is on its way, and then, because disputes
 * come late, after a quarter of the time that has passed.
 */
export function nextCheckMs(payment: Reported): number | undefined {
  if (payment.isOver || payment.ageMs >= longestMs) return undefined
  return isWhole(payment) ? Math.max(dayMs, payment.ageMs / 4) : dayMs
}

function isWhole(payment: Reported): boolean {
  const { settled, settled_amount, settled_currency, currency, captured_amount, refunded_amount } = payment
  // What was exchanged cannot be compared.
  return settled && (settled_currency !== currency || settled_amount === captured_amount - refunded_amount)
}
