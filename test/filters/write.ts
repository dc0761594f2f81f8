import {
  rendering,
  renderDetailsFixed,
  renderMethod,
  renderService,
  renderSummaryFixed,
  renderThreeDSecure,
} from '../../src/areas/transactions/operations/render.ts'
import type { TransactionRow } from '../../src/areas/transactions/store/rows.ts'
import { reconciliationIdOf } from '../../src/ids.ts'
import { redemptionRows } from '../redemptions.ts'
import type { Random } from './random.ts'
import type { Made } from './transactions.ts'

/** Runs SQL as the superuser, past every wall. */
export type Run = (text: string, values?: unknown[]) => Promise<unknown>

/** What becomes of a payment after it was made. */
const changing = [
  'status',
  'pending_review',
  'disputed',
  'captured_amount',
  'refunded_amount',
  'settled',
  'three_d_secure',
  'payment_service_id',
  'payment_service_transaction_id',
  'error_code',
  'external_identifier',
  'updated_at',
] as const satisfies (keyof TransactionRow)[]

export const tables = [
  'transactions',
  'transaction_facts',
  'transaction_states',
  'transaction_metadata',
  'transaction_gift_cards',
  'gift_card_redemptions',
]

/** These and no others are in the tables afterwards. Half of them were something else before, so that triggers have work. */
export async function writeTransactions(run: Run, random: Random, made: readonly Made[]): Promise<void> {
  const rows = made.map(rowOf)
  const before = rows.map((row) =>
    random.chance(0.5) ? { ...row, ...pickChanging(random.pick(rows)), updated_at: row.created_at } : row,
  )
  await run(`truncate ${tables.join()} cascade`)
  await insert(run, 'transactions', before)
  await insert(
    run,
    'transaction_facts',
    made.map((transaction, index) => ({
      ...factsOf(transaction),
      external_identifier: before[index]?.external_identifier ?? null,
    })),
  )
  await run(
    `update transactions as old set ${changing.map((name) => `${name} = new.${name}`).join(', ')}
     from json_populate_recordset(null::transactions, $1::json) as new
     where old.merchant_account_id = new.merchant_account_id and old.id = new.id`,
    [JSON.stringify(rows.filter((row, index) => row !== before[index]))],
  )
  await insert(run, 'transaction_metadata', made.flatMap(metadataOf))
  await insert(
    run,
    'gift_card_redemptions',
    made.flatMap((transaction) => redemptionRows(transaction, transaction.gift_card_redemptions)),
  )
}

async function insert(run: Run, table: string, rows: readonly object[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const columns = Object.keys(first).join(', ')
  await run(
    `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1::json)`,
    [JSON.stringify(rows)],
  )
}

const pickChanging = (row: TransactionRow) => Object.fromEntries(changing.map((name) => [name, row[name]]))

function factsOf(transaction: Made): object {
  return {
    merchant_account_id: transaction.merchant_account_id,
    id: transaction.id,
    amount: transaction.amount,
    currency: transaction.currency,
    country: transaction.country,
    payment_source: transaction.payment_source,
    merchant_initiated: transaction.merchant_initiated,
    is_subsequent_payment: transaction.is_subsequent_payment,
    method: transaction.method,
    payment_method_id: transaction.payment_method_id,
    payment_method_label: transaction.payment_method_label,
    payment_method_scheme: transaction.payment_method_scheme,
    payment_method_country: transaction.payment_method_country,
    payment_method_bin: transaction.payment_method_bin,
    payment_method_fingerprint: transaction.payment_method_fingerprint,
    checkout_session_id: transaction.checkout_session_id,
    buyer_id: transaction.buyer_id,
    buyer_external_identifier: transaction.buyer_external_identifier,
    buyer_email_address: transaction.buyer_email_address?.toLowerCase() ?? null,
    external_identifier: transaction.external_identifier,
  }
}

const metadataOf = ({ merchant_account_id, id, metadata }: Made) =>
  (metadata ?? []).map(([name, value]) => ({ merchant_account_id, name, value, id }))

function rowOf(transaction: Made): TransactionRow {
  const { merchant_account_id, id, amount, currency, country, status, method, error_code } = transaction
  const { payment_source, merchant_initiated, is_subsequent_payment, pending_review, disputed, settled } = transaction
  const { buyer_id, buyer_external_identifier, payment_method_id, checkout_session_id } = transaction
  const { payment_service_id, payment_service_transaction_id, external_identifier, refunded_amount } = transaction
  const fixed = { currency, amount, country, intent: 'authorize' as const, method, instrument_type: null }
  return {
    merchant_account_id,
    id,
    ...fixed,
    status,
    intent_outcome: 'pending',
    authorized_amount: 0,
    captured_amount: refunded_amount,
    refunded_amount,
    external_identifier,
    buyer_id,
    buyer_external_identifier,
    payment_method_id,
    checkout_session_id,
    payment_service_id,
    payment_service_transaction_id,
    gift_card_redemptions: null,
    payment_source,
    merchant_initiated,
    is_subsequent_payment,
    multi_tender: false,
    error_code,
    raw_response_code: null,
    raw_response_description: null,
    auth_response_code: null,
    avs_response_code: null,
    cvv_response_code: null,
    merchant_advice_code: null,
    scheme_transaction_id: null,
    pending_review,
    disputed,
    settled,
    settled_amount: 0,
    settled_currency: null,
    authorized_at: null,
    captured_at: null,
    voided_at: null,
    canceled_at: null,
    approval_expires_at: null,
    buyer_approval_timedout_at: null,
    three_d_secure: transaction.has_three_d_secure ? threeDSecure : null,
    anti_fraud_decision: null,
    metadata: transaction.metadata && JSON.stringify(Object.fromEntries(transaction.metadata)),
    connection_options: null,
    summary: renderSummaryFixed({
      ...fixed,
      buyer: buyerOf(transaction),
      shipping_details: null,
      checkout_session_id,
      gift_card_service: null,
      reauthorized_from_transaction_id: null,
      reconciliation_id: reconciliationIdOf(transaction.id),
    }),
    details: renderDetailsFixed({ payment_source, merchant_initiated, is_subsequent_payment }),
    payment_method: methodOf(transaction),
    payment_service: serviceOf(transaction),
    rendering,
    version: 1,
    created_at: new Date(transaction.created_at),
    updated_at: new Date(transaction.updated_at),
  }
}

const threeDSecure = renderThreeDSecure({ version: '2.2.0', status: 'complete', method: null, response_data: null })

function buyerOf({ buyer_id, buyer_external_identifier, buyer_email_address }: Made): object | null {
  if (buyer_id === null && buyer_external_identifier === null && buyer_email_address === null) return null
  return {
    type: 'buyer',
    id: buyer_id,
    reconciliation_id: buyer_id && reconciliationIdOf(buyer_id),
    display_name: null,
    external_identifier: buyer_external_identifier,
    billing_details:
      buyer_email_address === null ? null : { type: 'billing-details', email_address: buyer_email_address },
    account_number: null,
  }
}

function methodOf(transaction: Made): string | null {
  if (transaction.method === null) return null
  return renderMethod({
    type: 'payment-method',
    id: transaction.payment_method_id,
    method: transaction.method,
    mode: null,
    label: transaction.payment_method_label,
    scheme: transaction.payment_method_scheme,
    details: { bin: transaction.payment_method_bin, card_type: null, card_issuer_name: null },
    expiration_date: null,
    fingerprint: transaction.payment_method_fingerprint,
    country: transaction.payment_method_country,
    currency: null,
    approval_url: null,
    approval_target: null,
    external_identifier: null,
    last_replaced_at: null,
    payment_account_reference: null,
  })
}

function serviceOf({ payment_service_id, method }: Made): string | null {
  if (payment_service_id === null) return null
  return renderService({
    type: 'payment-service',
    id: payment_service_id,
    display_name: 'Sandbox',
    method: method ?? 'card',
    payment_service_definition_id: 'mock-card',
  })
}
