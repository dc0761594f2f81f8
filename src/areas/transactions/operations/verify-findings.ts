import type { TransactionBuyer, TransactionPaymentMethod } from '../schema/transaction.ts'
import type { WholeTransaction } from '../store/verify.ts'
import type { Checks } from './verify-checks.ts'

/** What a transaction is found by against what it says. Pure. */
export function checkFindings({ holds }: Checks, whole: WholeTransaction): void {
  const { row, redemptions, facts, state, metadata, giftCards } = whole
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
      has_gift_card_redemptions: redemptions.length > 0,
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
  const comparePairs = (
    what: string,
    expected: readonly (readonly [string, string])[],
    found: readonly { name: string; value: string }[],
  ) => {
    const pairs = new Set(expected.map(pairText))
    const isSame = pairs.size === found.length && found.every(({ name, value }) => pairs.has(pairText([name, value])))
    holds(`found by ${what}`, isSame, 'what the transaction says', 'other')
  }
  comparePairs('metadata', Object.entries(JSON.parse(row.metadata ?? '{}') as Record<string, string>), metadata)
  comparePairs(
    'gift cards',
    redemptions.flatMap(({ gift_card_id, last4 }) => [
      ...(gift_card_id === null ? [] : [['id', gift_card_id] as const]),
      ['last4', last4] as const,
    ]),
    giftCards,
  )
}

const pairText = (pair: readonly [string, string]) => JSON.stringify(pair)
