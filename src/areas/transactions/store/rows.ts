import { raw, sql } from '../../../platform/sql.ts'
import { type ShownAs, shownFields, shownFirst } from '../schema/shown.ts'
import type { Intent, PaymentSource, TransactionStatus } from '../rules.ts'

export interface TransactionRow {
  merchant_account_id: string
  id: string
  status: TransactionStatus
  intent: Intent
  intent_outcome: 'pending' | 'succeeded' | 'failed'
  amount: number
  currency: string
  country: string | null
  authorized_amount: number
  captured_amount: number
  refunded_amount: number
  external_identifier: string | null
  buyer_id: string | null
  buyer_external_identifier: string | null
  payment_method_id: string | null
  checkout_session_id: string | null
  method: string | null
  instrument_type: string | null
  payment_service_id: string | null
  payment_service_transaction_id: string | null
  payment_source: PaymentSource
  merchant_initiated: boolean
  is_subsequent_payment: boolean
  multi_tender: boolean
  error_code: string | null
  raw_response_code: string | null
  raw_response_description: string | null
  auth_response_code: string | null
  avs_response_code: string | null
  cvv_response_code: string | null
  merchant_advice_code: string | null
  scheme_transaction_id: string | null
  pending_review: boolean
  disputed: boolean
  settled: boolean
  settled_amount: number
  settled_currency: string | null
  authorized_at: Date | null
  captured_at: Date | null
  voided_at: Date | null
  canceled_at: Date | null
  approval_expires_at: Date | null
  buyer_approval_timedout_at: Date | null
  three_d_secure: string | null
  anti_fraud_decision: string | null
  metadata: string | null
  connection_options: string | null
  summary: string
  details: string
  payment_method: string | null
  payment_service: string | null
  /** Null for a payment without gift cards. */
  gift_card_redemptions: string | null
  rendering: number
  version: number
  created_at: Date
  updated_at: Date
}

/** As JSON, in the spelling of `JSON.stringify`. */
const inJson: Record<ShownAs, (column: string) => string> = {
  plain: (column) => `'"', ${column}, '"'`,
  bare: (column) => `${column}::text`,
  text: (column) => `coalesce(to_json(${column})::text, 'null')`,
  json: (column) => `coalesce(${column}, 'null')`,
  list: (column) => `coalesce(${column}, '[]')`,
  moment: (column) => `'"', to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"'`,
}

/** What a list shows, put together by PostgreSQL: it is far quicker at it than reading twenty columns and joining them here is, and lists are read most. */
const shown = Object.entries(shownFields).map(([name, as]) => `',"${name}":', ${inJson[as](`transactions.${name}`)}`)
export const shownItem = raw(`concat('{${shownFirst}', ${shown.join(', ')}, ',', transactions.summary, '}')`)

export const columns = sql`
  transactions.merchant_account_id, transactions.id, transactions.status, intent, intent_outcome, transactions.amount, currency, country,
  transactions.authorized_amount, transactions.captured_amount, transactions.refunded_amount, external_identifier, buyer_id,
  buyer_external_identifier, payment_method_id, checkout_session_id, method, instrument_type, transactions.payment_service_id, payment_service_transaction_id,
  payment_source, merchant_initiated, is_subsequent_payment, multi_tender, transactions.error_code, raw_response_code, raw_response_description,
  auth_response_code, avs_response_code, cvv_response_code, merchant_advice_code, scheme_transaction_id, pending_review, disputed,
  settled, settled_amount, settled_currency, authorized_at, captured_at, voided_at, canceled_at, approval_expires_at,
  buyer_approval_timedout_at, three_d_secure, anti_fraud_decision, metadata, connection_options, summary, details, payment_method, payment_service, gift_card_redemptions,
  rendering, transactions.version, transactions.created_at, transactions.updated_at`

export interface InstrumentRow {
  position: number
  amount: number
  authorized_amount: number
  capture_limit: number
  capturing_amount: number
  captured_amount: number
  refunding_amount: number
  refunded_amount: number
  capturable: boolean
}

/** `redeem`: the gift cards of a payment are being charged. `reverse`: everything that paid is being given back. */
export type Action = 'authorize' | 'capture' | 'void' | 'refund' | 'redeem' | 'reverse' | 'gift-card-refund'

export interface AttemptRow {
  merchant_account_id: string
  transaction_id: string
  id: string
  action: Action
  subject_id: string | null
  /** Null where gift cards are asked: each has its own service. */
  payment_service_id: string | null
  amount: number
  state: 'open' | 'pending' | 'done'
  provider_reference: string | null
  idempotency_key: string | null
  checks: number
  next_check_at: Date | null
  created_at: Date
}

export const attemptColumns = sql`
  merchant_account_id, transaction_id, id, action, subject_id, payment_service_id, amount, state, provider_reference, idempotency_key, checks,
  next_check_at, created_at`

/** A line of the timeline. */
export interface TimelineEntry {
  transaction_id: string
  id: string
  name: string
  context: string
  created_at: Date
}
