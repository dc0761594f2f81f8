import type { TransactionBuyer, TransactionPaymentMethod } from '../schema/transaction.ts'
import type { WholeTransaction } from '../store/verify.ts'
import type { Checks } from './verify-checks.ts'

/** What a transaction is found by against what it says. Pure. */
export function checkFindings({ holds }: Checks, { row, facts, state, metadata }: WholeTransaction): void {
  let method: TransactionPaymentMethod | null
  let buyer: TransactionBuyer | null
  try {
    method = row.payment_method === null ? null : (JSON.parse(row.payment_method) as TransactionPaymentMethod)
    buyer = (JSON.parse(`{${row.summary}}`) as { buyer: TransactionBuyer | null }).buyer
  } catch {
    return // reported as text that is none
  }
  const compare = (
    kind: string,
    expected: Readonly<Record<string, unknown>>,
    found: Record<string, unknown> | null,
  ) => {
    // What buyers are called is not for terminals and logs.
    for (const [name, value] of Object.entries(expected))
      holds(
        `found by ${name}`,
        value === (found?.[name] ?? null),
        'what the transaction says',
        found ? 'other' : `no ${kind}`,
      )
  }
  compare(
    'facts',
    {
      amount: row.amount,
      currency: row.currency,
      country: row.country,
      payment_source: row.payment_source,
      merchant_initiated: row.merchant_initiated,
      is_subsequent_payment: row.is_subsequent_payment,
      method: row.method,
      payment_method_id: row.payment_method_id,
      payment_method_label: method?.label ?? null,
      payment_method_scheme: method?.scheme ?? null,
      payment_method_country: method?.country ?? null,
      payment_method_bin: method?.details?.bin ?? null,
      payment_method_fingerprint: method?.fingerprint ?? null,
      checkout_session_id: row.checkout_session_id,
      buyer_id: row.buyer_id,
      buyer_external_identifier: row.buyer_external_identifier,
      buyer_email_address: buyer?.billing_details?.email_address?.toLowerCase() ?? null,
      external_identifier: row.external_identifier,
    },
    facts,
  )
  compare(
    'state',
    {
      status: row.status,
      pending_review: row.pending_review,
      disputed: row.disputed,
      has_refunds: row.refunded_amount > 0,
      has_settlements: row.settled,
      used_3ds: row.three_d_secure !== null,
      payment_service_id: row.payment_service_id,
      payment_service_transaction_id: row.payment_service_transaction_id,
      error_code: row.error_code,
      updated_at: row.updated_at.getTime(),
    },
    state && { ...state, updated_at: new Date(state.updated_at).getTime() },
  )
  const pairs = Object.entries(JSON.parse(row.metadata ?? '{}') as Record<string, string>).map(pairText)
  const listed = metadata.map(({ name, value }) => pairText([name, value]))
  const isSame = pairs.length === listed.length && pairs.every((pair) => listed.includes(pair))
  holds('found by metadata', isSame, 'what the transaction says', 'other')
}

const pairText = (pair: readonly [string, string]) => JSON.stringify(pair)
