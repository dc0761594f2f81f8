import { nextCheckMs } from '../../../../asking.ts'
import { failpoint } from '../../../../platform/failpoint.ts'
import { ask } from '../../../payment-services/operations/ask.ts'
import { callOf, closeFollowUp, type FollowUpOutcome, resultOf, type System } from '../../operations/follow-up.ts'
import { orStillOpen, serviceOf } from '../../operations/providers.ts'
import { timelineEntry } from '../../operations/report.ts'
import type { AttemptRow, TransactionRow } from '../../store/rows.ts'
import type { NextAttempt } from '../../store/settle.ts'
import { promiseGiftCards } from '../store.ts'
import { type AnswerKey, endStep, finishPaid, finishPending, givingBack, goOn, type Step, storedWith } from './step.ts'

/** The gift cards are charged: the main method pays what it has promised. */
export async function captureRest(
  ctx: System,
  row: TransactionRow,
  attempt: NextAttempt,
  key: AnswerKey,
): Promise<Step> {
  const service = await serviceOf(ctx, row)
  await failpoint('capture the rest: begun')
  const outcome: FollowUpOutcome = service
    ? await ask(ctx, service, (connector, signal) =>
        connector.capture({ ...callOf({ row, attempt, service }, signal), amount: attempt.amount, final: true }),
      )
    : { result: 'unknown' }
  await failpoint('capture the rest: provider answered')
  const step = await orStillOpen(ctx, { row, next: null }, () =>
    settleRest(ctx, row, { ...attempt, checks: 0 }, outcome, key),
  )
  await failpoint('capture the rest: outcome recorded')
  return step
}

/** What became of it, whoever found out. */
export async function settleRest(
  system: System,
  given: Pick<TransactionRow, 'id' | 'merchant_account_id'>,
  attempt: Pick<AttemptRow, 'id' | 'subject_id' | 'checks'>,
  outcome: FollowUpOutcome,
  key: AnswerKey,
): Promise<Step> {
  return await endStep(system, given, attempt.id, async (ctx, { row, main }) => {
    const { id } = row
    if (outcome.result === 'unknown') {
      await closeFollowUp(ctx, { ...attempt, transaction_id: id }, outcome)
      return { row, next: null }
    }
    const result = resultOf(outcome)
    const captureId = attempt.subject_id ?? ''
    const line = timelineEntry(ctx, id, `payment-connector-response-transaction-capture-${result.status}`, {
      capture_id: captureId,
      ...result,
    })
    const end = {
      row,
      main,
      attemptId: attempt.id,
      result: 'approved' as const,
      providerReference: 'providerReference' in outcome ? outcome.providerReference : null,
      timeline: [line],
    }
    const storedMethodId = await storedWith(ctx, row)
    await failpoint('capture the rest: outcome not yet committed')
    switch (result.status) {
      case 'succeeded':
        return finishPaid(ctx, end, { key, storedMethodId, captureId })
      case 'pending': {
        const askAfterMs = ('askAfterMs' in outcome ? outcome.askAfterMs : undefined) ?? nextCheckMs(attempt.checks)
        return finishPending(ctx, end, { key, storedMethodId, captureId, askAfterMs })
      }
      case 'declined':
      case 'failed': {
        const { status, code } = result
        await promiseGiftCards(ctx.db, ctx.accounts, id, false)
        const capture = { id: captureId, amount: row.amount, status, error_code: code, captured_at: null }
        return goOn(ctx, { ...end, result: status, errorCode: code }, givingBack(ctx, row, main.authorized_amount), {
          change: { error_code: code },
          capture,
        })
      }
    }
  })
}
