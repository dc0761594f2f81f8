import type { ThreeDSecureOutcome } from '../../../connectors/payment.ts'
import { reconciliationIdOf } from '../../../ids.ts'
import { createProjection } from '../../../project.ts'
import {
  DetailsFixed,
  SummaryFixed,
  ThreeDSecureSummary,
  TransactionPaymentMethod,
  TransactionPaymentService,
} from '../schema/transaction.ts'
import { type ShownAs, shownFields, shownFirst } from '../schema/shown.ts'
import { GiftCardRedemption } from '../redemptions/schema.ts'
import type { RedemptionRow } from '../redemptions/store.ts'
import type { TransactionRow } from '../store/rows.ts'

/**
 * Transactions as text. What never changes is rendered once, when the row is written, through the schema of the answer; an answer is that text
 * and the columns, joined. A row says by which version it was rendered.
 */
export const rendering = 2

const projectSummary = createProjection(SummaryFixed)
const projectDetails = createProjection(DetailsFixed)
const projectMethod = createProjection<TransactionPaymentMethod>(TransactionPaymentMethod)
const projectThreeDSecure = createProjection<ThreeDSecureSummary>(ThreeDSecureSummary)
const projectRedemption = createProjection<GiftCardRedemption>(GiftCardRedemption)
const projectService = createProjection<TransactionPaymentService>(TransactionPaymentService)

/** Without its braces, to be joined with the rest. */
const inner = (value: unknown) => JSON.stringify(value).slice(1, -1)

export const renderSummaryFixed = (value: object) => inner(projectSummary(value))
export const renderDetailsFixed = (value: object) => inner(projectDetails(value))
export const renderMethod = (value: TransactionPaymentMethod) => JSON.stringify(projectMethod(value))
export const renderThreeDSecure = ({ response_data: data, ...outcome }: ThreeDSecureOutcome) =>
  JSON.stringify(
    projectThreeDSecure({
      ...outcome,
      response_data: data && { ...data, transaction_reason: null, cardholder_info: null },
      error_data: null,
      amount: null,
    }),
  )
export const renderService = (value: TransactionPaymentService) => JSON.stringify(projectService(value))

/** As the rows say it. */
export const renderRedemptions = (rows: readonly RedemptionRow[]) => JSON.stringify(rows.map(presentRedemption))

const presentRedemption = (row: RedemptionRow): GiftCardRedemption =>
  projectRedemption({
    type: 'gift-card-redemption',
    id: row.id,
    status: row.status,
    amount: row.amount,
    refunded_amount: row.refunded_amount,
    gift_card_service_redemption_id: row.gift_card_service_redemption_id,
    error_code: row.error_code,
    raw_error_code: row.raw_error_code,
    raw_error_message: row.raw_error_message,
    gift_card: {
      type: 'gift-card',
      id: row.gift_card_id,
      bin: row.bin,
      sub_bin: row.sub_bin,
      last4: row.last4,
    },
  })

/**
 * The stored text as it would be written today: from itself, and from the columns where they say the same. What comes out differs where the two
 * disagree, or where this version renders otherwise.
 */
export function renderAgain(
  row: TransactionRow,
): Pick<TransactionRow, 'summary' | 'details' | 'payment_method' | 'payment_service'> {
  const summary = JSON.parse(`{${row.summary}}`) as { buyer: object | null }
  const details = JSON.parse(`{${row.details}}`) as object
  const { currency, amount, country, intent, method, instrument_type } = row
  const { payment_source, merchant_initiated, is_subsequent_payment, checkout_session_id } = row
  const buyer = summary.buyer && {
    ...summary.buyer,
    id: row.buyer_id,
    external_identifier: row.buyer_external_identifier,
  }
  const again = <Value>(text: string | null, id: string | null, render: (value: Value) => string) =>
    text === null ? null : render({ ...(JSON.parse(text) as Value), method: row.method, id })
  return {
    summary: renderSummaryFixed({
      ...summary,
      currency,
      amount,
      country,
      intent,
      method,
      instrument_type,
      buyer,
      checkout_session_id,
      reconciliation_id: reconciliationIdOf(row.id),
    }),
    details: renderDetailsFixed({ ...details, payment_source, merchant_initiated, is_subsequent_payment }),
    payment_method: again(row.payment_method, row.payment_method_id, renderMethod),
    payment_service: again(row.payment_service, row.payment_service_id, renderService),
  }
}

const text = (value: string | null) => (value === null ? 'null' : JSON.stringify(value))
const moment = (value: Date | null) => (value === null ? 'null' : `"${value.toISOString()}"`)

const inJson: Record<ShownAs, (value: never) => string> = {
  plain: (value: string) => `"${value}"`,
  bare: String,
  text,
  json: (value: string | null) => value ?? 'null',
  list: (value: string | null) => value ?? '[]',
  moment,
}

function summaryFields(row: TransactionRow): string {
  const fields = Object.entries(shownFields) as [keyof typeof shownFields, ShownAs][]
  return `${shownFirst},${fields.map(([name, as]) => `"${name}":${inJson[as](row[name] as never)}`).join(',')},${row.summary}`
}

export function renderTransaction(row: TransactionRow): string {
  return (
    `{${summaryFields(row)},"auth_response_code":${text(row.auth_response_code)},"avs_response_code":${text(row.avs_response_code)},` +
    `"cvv_response_code":${text(row.cvv_response_code)},"anti_fraud_decision":${text(row.anti_fraud_decision)},"scheme_transaction_id":${text(row.scheme_transaction_id)},` +
    `"transaction_link_id":null,"three_d_secure":${row.three_d_secure ?? 'null'},"payment_service_transaction_id":${text(row.payment_service_transaction_id)},` +
    `"additional_identifiers":{},"metadata":${row.metadata ?? 'null'},"authorized_at":${moment(row.authorized_at)},` +
    `"captured_at":${moment(row.captured_at)},"voided_at":${moment(row.voided_at)},"canceled_at":${moment(row.canceled_at)},` +
    `"approval_expires_at":${moment(row.approval_expires_at)},"buyer_approval_timedout_at":${moment(row.buyer_approval_timedout_at)},` +
    `"intent_outcome":"${row.intent_outcome}","multi_tender":${row.multi_tender},"merchant_advice_code":${text(row.merchant_advice_code)},` +
    `"session_token":null,"iso_response_code":null,${row.details}}`
  )
}

/** What became of an action, around the transaction. */
export interface ActionResult {
  status: 'succeeded' | 'pending' | 'declined' | 'failed'
  code: string | null
  rawCode: string | null
  rawDescription: string | null
}

export function renderAction(
  type: 'transaction-capture' | 'transaction-void' | 'transaction-cancel',
  result: ActionResult,
  row: TransactionRow,
  more: Readonly<Record<string, string | null>> = {},
): string {
  const head = {
    type,
    status: result.status,
    code: result.code,
    raw_response_code: result.rawCode,
    raw_response_description: result.rawDescription,
    ...more,
  }
  return `{${inner(head)},"transaction":${renderTransaction(row)}}`
}
