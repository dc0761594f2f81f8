import type { Refused } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import { type AntiFraudDecision, type AntiFraudGuard, decide } from '../../anti-fraud-services/operations/decide.ts'
import type { TimelineEntry, TransactionRow } from '../store/rows.ts'
import { recordDecision } from '../store/decisions.ts'
import type { AuthorizeRequest } from './authorize.ts'
import { timelineEntry } from './report.ts'

/** Nobody waits longer for a review. */
export const reviewMs = 24 * 60 * 60 * 1000

export interface Screened {
  row: TransactionRow
  /** Instead of a provider's answer, with its part of the timeline. */
  rejection?: { outcome: Refused; timeline: readonly TimelineEntry[] }
}

const suspectedFraud: Refused = {
  result: 'declined',
  errorCode: 'suspected_fraud',
  retriable: false,
  providerReference: null,
  rawCode: null,
  rawDescription: null,
}

/**
 * Asks whether a payment looks like fraud, if the account has somebody to ask. What was said is on record before a provider hears of the payment,
 * so that a review is not forgotten by whoever finds out later what became of it. A rejection is written down with the end that it is.
 */
export async function screen(
  ctx: Context,
  row: TransactionRow,
  guard: AntiFraudGuard | null,
  request: AuthorizeRequest,
): Promise<Screened> {
  if (!guard) return { row }
  const decided = await decide(ctx, guard, {
    merchantAccountId: row.merchant_account_id,
    reference: row.id,
    amount: request.amount,
    currency: request.currency,
    country: request.country,
    buyer: request.buyer,
  })
  const screened = { ...row, anti_fraud_decision: decided.decision }
  const timeline = timelineOf(ctx, row.id, guard, decided)
  if (decided.decision === 'reject') return { row: screened, rejection: { outcome: suspectedFraud, timeline } }
  const reviewBy = decided.decision === 'review' ? new Date(ctx.now().getTime() + reviewMs) : null
  await recordDecision(ctx.db, ctx.accounts, { row: screened, timeline, reviewBy })
  return { row: screened }
}

function timelineOf(
  ctx: Context,
  id: string,
  { id: anti_fraud_service_id }: AntiFraudGuard,
  { decision, said, fault }: AntiFraudDecision,
): TimelineEntry[] {
  const entry = (name: string) => timelineEntry(ctx, id, name, { anti_fraud_service_id, decision, said, fault })
  const name = decision === 'skipped' ? 'anti-fraud-decision-skipped' : 'anti-fraud-decision'
  const isDecided = decision !== 'error' && decision !== 'exception'
  return [...(fault ? [entry('anti-fraud-decision-error')] : []), ...(isDecided ? [entry(name)] : [])]
}
