import { nextCheckMs } from '../../../asking.ts'
import type { Outcome } from '../../../connectors/payment.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import type { TransactionPaymentMethod, TransactionPaymentService } from '../schema/transaction.ts'
import { giftCardAmount, mainAmount } from '../redemptions/rules.ts'
import type { GiftCardRedemption } from '../redemptions/schema.ts'
import { isRefused, isUndecided, statusesBefore, type TransactionStatus, transactionStatuses } from '../rules.ts'
import type { AttemptRow, TimelineEntry, TransactionRow } from '../store/rows.ts'
import type { NextAttempt, Settlement } from '../store/settle.ts'
import { renderMethod, renderService, renderThreeDSecure, renderTransaction } from './render.ts'
import { eventsOf, plainErrors, timelineOf } from './settlement-report.ts'

/** What became of a call, also where nobody had to be asked. */
export type AuthorizationOutcome = Outcome | { result: 'canceled' | 'expired' | 'never_arrived' }

export interface SettlementInput {
  row: TransactionRow
  attempt: Pick<AttemptRow, 'id' | 'subject_id' | 'checks'>
  outcome: AuthorizationOutcome
  /** Whom to ask next, if this one failed in a way that another may not. */
  next: UsableService | undefined
  /** A method that was stored with this payment. */
  storedMethodId: string | null
  now: Date
  newId: () => string
  /** Where nobody was asked: the lines of the timeline that say why. */
  rejected?: readonly TimelineEntry[] | undefined
  key: { operation: string; key: string } | null
}

/** Outcome of an authorization → every row as it is afterwards. Pure, but for new ids. */
export function settlementOf(input: SettlementInput): Settlement {
  const { row, attempt, outcome, next, now, key } = input
  const { status, attemptState, result } = decide(input)
  const answered = 'rawCode' in outcome ? outcome : undefined
  const approved = outcome.result === 'approved' ? outcome : undefined
  const refused = outcome.result === 'declined' || outcome.result === 'failed' ? outcome : undefined
  const errorCode = next ? null : (refused?.errorCode ?? plainErrors[outcome.result] ?? null)
  // Gift cards pay the rest: the payment is not decided by its main method alone.
  const isPart = approved !== undefined && row.gift_card_redemptions !== null
  const isSold = isPart && attempt.subject_id !== null
  const isFinal = attemptState === 'done' && !next && !isPart
  const isOver = isFinal && isRefused(status)
  const isReserved = status === 'capture_pending' || status === 'authorization_succeeded'
  const authorized = approved?.amount ?? (isReserved ? row.amount : 0)
  const captured = status === 'capture_succeeded' || isSold ? authorized : 0
  const isAuthorized = authorized > 0 || approved !== undefined
  const moves = status !== row.status
  if (moves && !statusesBefore(status).includes(row.status)) throw new Error(`${row.status} does not become ${status}`)

  const after: TransactionRow = {
    ...row,
    status,
    intent_outcome: isFinal ? (refused || plainErrors[outcome.result] ? 'failed' : 'succeeded') : 'pending',
    authorized_amount: authorized,
    captured_amount: captured,
    // Why only the charge was refused is for its capture to say.
    error_code: isFinal && !isReserved ? errorCode : row.error_code,
    raw_response_code: answered?.rawCode ?? null,
    raw_response_description: answered?.rawDescription ?? null,
    auth_response_code: approved?.authorizationCode ?? null,
    avs_response_code: approved?.avs ?? refused?.avs ?? null,
    cvv_response_code: approved?.cvv ?? refused?.cvv ?? null,
    merchant_advice_code: refused?.merchantAdviceCode ?? null,
    scheme_transaction_id: approved?.schemeTransactionId ?? row.scheme_transaction_id,
    payment_service_transaction_id: next ? null : (answered?.providerReference ?? row.payment_service_transaction_id),
    authorized_at: isAuthorized ? (row.authorized_at ?? now) : null,
    captured_at: status === 'capture_succeeded' ? now : null,
    // Also when the provider's yes to a cancel was lost, and it tells later that the payment was canceled.
    canceled_at: errorCode === 'canceled' ? now : null,
    buyer_approval_timedout_at: errorCode === 'incomplete_buyer_approval' ? now : null,
    payment_method: methodOf(input, status),
    // Once: whoever has ended the review since then is right.
    pending_review: row.authorized_at ? row.pending_review : isAuthorized && row.anti_fraud_decision === 'review',
    three_d_secure: answered?.threeDSecure ? renderThreeDSecure(answered.threeDSecure) : row.three_d_secure,
    gift_card_redemptions: isOver ? skipped(row.gift_card_redemptions) : row.gift_card_redemptions,
    ...(next && {
      payment_service_id: next.id,
      payment_service: renderService({
        type: 'payment-service',
        id: next.id,
        display_name: next.displayName,
        method: next.method as TransactionPaymentService['method'],
        payment_service_definition_id: next.definitionId,
      }),
    }),
    version: row.version + 1,
    updated_at: now,
  }
  const capture = captureOf(input, after)
  return {
    attempt: {
      id: attempt.id,
      state: attemptState,
      result,
      error_code: refused?.errorCode ?? plainErrors[outcome.result] ?? null,
      provider_reference: answered?.providerReference ?? null,
      next_check_at: attemptState === 'done' ? null : new Date(now.getTime() + waitMs(input)),
    },
    nextAttempt: isPart ? redeemAttempt(input) : next ? failover(input, next) : null,
    // A buyer may have been asked since the row was read: what ends the call ends the payment all the same.
    before: isPart
      ? transactionStatuses.filter(isUndecided)
      : isFinal && isUndecided(row.status)
        ? statusesBefore(status).filter(isUndecided)
        : [row.status],
    after,
    instrument: {
      held_amount: authorized,
      capture_limit: authorized,
      capturing_amount: status === 'capture_pending' ? row.amount : 0,
      captured_amount: captured,
      capturable: (status === 'authorization_succeeded' || (isPart && !isSold)) && authorized > 0,
    },
    skipsGiftCards: isOver && row.gift_card_redemptions !== null,
    capture,
    method:
      input.storedMethodId && isFinal
        ? { id: input.storedMethodId, status: refused || !approved ? 'failed' : 'succeeded' }
        : null,
    timeline: timelineOf(input, after, moves, capture),
    events: eventsOf(after, moves, capture),
    answer: key && !next && !isPart ? { ...key, status: 201, body: renderTransaction(after) } : null,
  }
}

export const nextCall = (now: Date) => new Date(now.getTime() + nextCheckMs(0))

const failover = ({ row, attempt, newId, now }: SettlementInput, next: UsableService): NextAttempt => ({
  id: newId(),
  action: 'authorize',
  subject_id: attempt.subject_id,
  payment_service_id: next.id,
  amount: mainAmount(row),
  next_check_at: nextCall(now),
})

const redeemAttempt = ({ row, newId, now }: SettlementInput): NextAttempt => ({
  id: newId(),
  action: 'redeem',
  subject_id: null,
  payment_service_id: null,
  amount: giftCardAmount(row),
  next_check_at: nextCall(now),
})

function skipped(text: string | null): string | null {
  if (text === null) return null
  const redemptions = JSON.parse(text) as GiftCardRedemption[]
  return JSON.stringify(redemptions.map((redemption) => ({ ...redemption, status: 'skipped' })))
}

interface Decision {
  status: TransactionStatus
  attemptState: 'open' | 'pending' | 'done'
  result: 'approved' | 'declined' | 'failed' | null
}

function decide({ row, outcome, next }: SettlementInput): Decision {
  if (next) {
    return { status: row.status, attemptState: 'done', result: outcome.result === 'declined' ? 'declined' : 'failed' }
  }
  // The authorization stands; only the charge that was to follow it did not happen.
  const stands =
    row.gift_card_redemptions === null &&
    (row.status === 'capture_pending' || ('isAuthorized' in outcome && outcome.isAuthorized))
  const refusal = stands ? 'authorization_succeeded' : undefined
  switch (outcome.result) {
    case 'approved':
      if (row.gift_card_redemptions !== null) return { status: 'processing', attemptState: 'done', result: 'approved' }
      return {
        status: row.intent === 'capture' ? 'capture_succeeded' : 'authorization_succeeded',
        attemptState: 'done',
        result: 'approved',
      }
    case 'declined':
      return { status: refusal ?? 'authorization_declined', attemptState: 'done', result: 'declined' }
    case 'failed':
    case 'canceled':
    case 'expired':
    case 'never_arrived':
      return { status: refusal ?? 'authorization_failed', attemptState: 'done', result: 'failed' }
    case 'pending': {
      const isReservedNow = outcome.isAuthorized && row.gift_card_redemptions === null
      return { status: isReservedNow ? 'capture_pending' : row.status, attemptState: 'pending', result: null }
    }
    case 'redirect':
      return { status: 'buyer_approval_pending', attemptState: 'pending', result: null }
    case 'unknown':
      return { status: row.status, attemptState: 'open', result: null }
  }
}

function waitMs({ row, attempt, outcome, now }: SettlementInput): number {
  if (outcome.result === 'redirect') return buyersMs(row, attempt.checks, now)
  return (outcome.result === 'pending' ? outcome.askAfterMs : undefined) ?? nextCheckMs(attempt.checks)
}

/** Who approved and did not come back is asked about as any other; nobody is waited for beyond the time they have. */
export function buyersMs(row: Pick<TransactionRow, 'approval_expires_at'>, checks: number, now: Date): number {
  const left = (row.approval_expires_at?.getTime() ?? 0) - now.getTime()
  return left > 0 ? Math.min(left, nextCheckMs(checks)) : nextCheckMs(0)
}

/** The address of the approval is there as long as the buyer is needed. */
function methodOf({ row, outcome }: SettlementInput, status: TransactionStatus): string | null {
  if (row.payment_method === null || status === row.status) return row.payment_method
  if (outcome.result !== 'redirect' && row.status !== 'buyer_approval_pending') return row.payment_method
  const method = JSON.parse(row.payment_method) as TransactionPaymentMethod
  const address = outcome.result === 'redirect' ? outcome.url : null
  return renderMethod({ ...method, approval_url: address, approval_target: address === null ? null : 'any' })
}

function captureOf({ row, attempt, outcome, now }: SettlementInput, after: TransactionRow) {
  if (attempt.subject_id === null) return null
  const refused = outcome.result === 'declined' || outcome.result === 'failed' ? outcome : undefined
  const base = {
    id: attempt.subject_id,
    amount: after.captured_amount || row.amount,
    error_code: null,
    captured_at: null,
  }
  if (after.status === 'capture_succeeded') return { ...base, status: 'succeeded' as const, captured_at: now }
  if (after.status === 'capture_pending') return { ...base, status: 'pending' as const }
  if (after.status !== 'authorization_succeeded') return null
  return {
    ...base,
    status: refused?.result ?? ('failed' as const),
    error_code: refused?.errorCode ?? 'service_network_error',
  }
}
