import { accountOf, type Context } from '../../../context.ts'
import { reconciliationIdOf, timeOfId } from '../../../ids.ts'
import { scrub } from '../../../platform/log.ts'
import { type Problem, sourcingProblems } from '../../../sourcing.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import type { Payment } from '../schema/create.ts'
import type { Findings } from '../store/record.ts'
import type { TransactionRow } from '../store/rows.ts'
import { approvalProblems, type PlannedApproval } from './approval.ts'
import type { Payer } from './buyer.ts'
import type { Instrument } from './instrument.ts'
import type { PlannedGiftCards } from '../redemptions/operations/plan.ts'
import {
  rendering,
  renderDetailsFixed,
  renderMethod,
  renderRedemptions,
  renderService,
  renderSummaryFixed,
} from './render.ts'

export function requestProblems(
  input: Payment,
  { isServiceKnown, now }: { isServiceKnown: boolean; now: Date },
): Problem[] {
  const problems: Problem[] = sourcingProblems({
    payment_source: input.payment_source ?? 'ecommerce',
    merchant_initiated: input.merchant_initiated ?? false,
    is_subsequent_payment: input.is_subsequent_payment ?? false,
    store: input.store ?? false,
    isStoredMethod: input.payment_method?.method === 'id',
  })
  if (input.intent === 'capture' && input.amount === 0) {
    problems.push({
      pointer: '/amount',
      type: 'value_error.range',
      message: 'Must be at least 1 to capture; intent authorize may be 0',
    })
  }
  if (input.async_capture && input.intent !== 'capture') {
    problems.push({
      pointer: '/async_capture',
      type: 'value_error.conflict',
      message: 'Must be false unless intent is capture',
    })
  }
  if (!isServiceKnown) {
    problems.push({
      pointer: '/payment_service_id',
      type: 'value_error.unknown',
      message: 'There is no active payment service of this id that takes the method, the currency and the country',
    })
  }
  return [...problems, ...approvalProblems(input, now), ...redirectMethodProblems(input)]
}

/** A redirect method says itself where and in what it pays. */
function redirectMethodProblems({ payment_method: method, currency, country, store }: Payment): Problem[] {
  if (!method || !('currency' in method)) return []
  return [
    ...(method.currency === currency
      ? []
      : [
          {
            pointer: '/payment_method/currency',
            type: 'value_error.conflict',
            message: `Must be ${currency}, as the transaction's`,
          },
        ]),
    ...(!country || method.country === country
      ? []
      : [
          {
            pointer: '/payment_method/country',
            type: 'value_error.conflict',
            message: `Must be ${country}, as the transaction's`,
          },
        ]),
    ...(store
      ? [
          {
            pointer: '/store',
            type: 'value_error.unsupported',
            message: 'Store a redirect method by POST /payment-methods first, and pay with its id',
          },
        ]
      : []),
  ]
}

/** Options for a simulator may name card numbers; nothing that looks like one is kept. */
export function keptOptions(options: object | null | undefined): string | null | undefined {
  if (!options) return options
  return JSON.stringify(options, (_name, value: unknown) => {
    if (typeof value !== 'string' && typeof value !== 'number') return value
    const kept = scrub(String(value))
    return kept === String(value) ? value : kept
  })
}

export const countryOf = ({ country, payment_method: method }: Payment): string | null =>
  country ?? (method && 'country' in method ? method.country : null)

export interface NewRowInput {
  id: string
  input: Payment
  buyer: Payer
  instrument: Instrument
  service: UsableService | undefined
  /** Of a stored method, or one that is about to be. */
  methodId: string | null
  sessionId: string | null
  approval: PlannedApproval | undefined
  giftCards: PlannedGiftCards
}

/** What it can be found by beside its own columns. */
export function findingsOf({ snapshot }: Instrument, buyer: Payer): Findings {
  return {
    payment_method_label: snapshot?.label ?? null,
    payment_method_scheme: snapshot?.scheme ?? null,
    payment_method_country: snapshot?.country ?? null,
    payment_method_bin: snapshot?.details?.bin ?? null,
    payment_method_fingerprint: snapshot?.fingerprint ?? null,
    buyer_email_address: buyer.contact.emailAddress?.toLowerCase() ?? null,
  }
}

/** The transaction before anybody was asked. Without a provider to ask it has failed already. */
export function newRow(ctx: Context, { id, input, buyer, instrument, service, ...ids }: NewRowInput): TransactionRow {
  const { methodId, sessionId, approval, giftCards } = ids
  const { snapshot } = instrument
  const { redemptions } = giftCards
  // Without anybody to ask it is over before it began.
  const isAsked = service !== undefined || snapshot === null
  const createdAt = timeOfId(id)
  const fixed = {
    currency: input.currency,
    amount: input.amount,
    country: countryOf(input),
    intent: input.intent ?? ('authorize' as const),
    method: snapshot?.method ?? ('gift-card' as const),
    instrument_type: instrument.type,
  }
  const sourcing = {
    payment_source: input.payment_source ?? ('ecommerce' as const),
    merchant_initiated: input.merchant_initiated ?? false,
    is_subsequent_payment: input.is_subsequent_payment ?? false,
  }
  return {
    merchant_account_id: accountOf(ctx),
    id,
    ...fixed,
    ...sourcing,
    status: isAsked ? 'processing' : 'authorization_failed',
    intent_outcome: isAsked ? 'pending' : 'failed',
    error_code: isAsked ? null : 'all_attempts_skipped',
    authorized_amount: 0,
    captured_amount: 0,
    refunded_amount: 0,
    external_identifier: input.external_identifier ?? null,
    buyer_id: buyer.snapshot?.id ?? null,
    buyer_external_identifier: buyer.snapshot?.external_identifier ?? null,
    payment_method_id: methodId,
    checkout_session_id: sessionId,
    payment_service_id: service?.id ?? null,
    payment_service_transaction_id: null,
    multi_tender: redemptions.length > (snapshot ? 0 : 1),
    raw_response_code: null,
    raw_response_description: null,
    auth_response_code: null,
    avs_response_code: null,
    cvv_response_code: null,
    merchant_advice_code: null,
    scheme_transaction_id: null,
    pending_review: false,
    disputed: false,
    settled: false,
    settled_amount: 0,
    settled_currency: null,
    authorized_at: null,
    captured_at: null,
    voided_at: null,
    canceled_at: null,
    approval_expires_at: approval?.expiresAt ?? null,
    buyer_approval_timedout_at: null,
    three_d_secure: null,
    anti_fraud_decision: null,
    metadata: input.metadata ? JSON.stringify(input.metadata) : null,
    connection_options: keptOptions(input.connection_options) ?? null,
    summary: renderSummaryFixed({
      ...fixed,
      buyer: buyer.snapshot,
      shipping_details: buyer.shipping,
      checkout_session_id: sessionId,
      gift_card_service: giftCards.service,
      reauthorized_from_transaction_id: null,
      reconciliation_id: reconciliationIdOf(id),
    }),
    details: renderDetailsFixed({
      ...sourcing,
      airline: input.airline ?? null,
      cart_items: input.cart_items ?? null,
      statement_descriptor: input.statement_descriptor ?? null,
      recipient: input.recipient ?? null,
      account_funding_transaction: input.account_funding_transaction ?? false,
      installment_count: input.installment_count ?? null,
      tax_amount: input.tax_amount ?? null,
      merchant_tax_id: input.merchant_tax_id ?? null,
      purchase_order_number: input.purchase_order_number ?? null,
      customer_reference_number: input.customer_reference_number ?? null,
      amount_includes_tax: input.amount_includes_tax ?? null,
      supplier_order_number: input.supplier_order_number ?? null,
      duty_amount: input.duty_amount ?? null,
      shipping_amount: input.shipping_amount ?? null,
    }),
    payment_method: snapshot && renderMethod({ ...snapshot, id: methodId }),
    payment_service:
      service && snapshot
        ? renderService({
            type: 'payment-service',
            id: service.id,
            display_name: service.displayName,
            method: snapshot.method,
            payment_service_definition_id: service.definitionId,
          })
        : null,
    gift_card_redemptions:
      redemptions.length === 0
        ? null
        : renderRedemptions(
            redemptions.map((redemption) => ({ ...redemption, status: isAsked ? redemption.status : 'skipped' })),
          ),
    rendering,
    version: 1,
    created_at: createdAt,
    updated_at: createdAt,
  }
}
