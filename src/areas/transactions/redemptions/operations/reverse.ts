import { nextCheckMs } from '../../../../asking.ts'
import type { GiftCardOutcome, GiftCardUnknown } from '../../../../connectors/gift-card.ts'
import type { Context } from '../../../../context.ts'
import { emit } from '../../../../events/outbox.ts'
import { failpoint } from '../../../../platform/failpoint.ts'
import { askGiftCards, findGiftCardService } from '../../../gift-card-services/operations/routing.ts'
import { ask } from '../../../payment-services/operations/ask.ts'
import { callOf, type FollowUpOutcome, resultOf, type System } from '../../operations/follow-up.ts'
import { orStillOpen, serviceOf } from '../../operations/providers.ts'
import { renderRedemptions } from '../../operations/render.ts'
import { timelineEntry, transactionTarget } from '../../operations/report.ts'
import { statusEvents } from '../../rules.ts'
import { closeAttempt } from '../../store/attempts.ts'
import type { AttemptRow, InstrumentRow, TimelineEntry, TransactionRow } from '../../store/rows.ts'
import { findInstrument, insertTimeline, moveTransaction } from '../../store/transactions.ts'
import { closeGiftCards, findRedemptions, markReversed, type RedemptionRow, writeRedemptionText } from '../store.ts'
import { type AnswerKey, endStep, finishUnpaid, forgetStored, givingBack, goOn, type Step, storedWith } from './step.ts'

type ReverseAttempt = Pick<AttemptRow, 'id' | 'amount' | 'payment_service_id' | 'subject_id' | 'checks'>

/** What was asked and what was said. */
interface Answers {
  giftCards: readonly { redemption: RedemptionRow; outcome: GiftCardOutcome | GiftCardUnknown }[]
  /** Undefined: the main method has nothing to let go. */
  main: FollowUpOutcome | undefined
}

/**
 * Gives back everything that has paid, or may have. It may be asked for again, by whoever finds that it is not done: providers take each
 * call by its name and do it once. Returns the transaction as it is then.
 */
export async function reversePayment(
  ctx: System,
  row: TransactionRow,
  attempt: ReverseAttempt,
  key: AnswerKey,
): Promise<TransactionRow> {
  const accounts = [row.merchant_account_id]
  const [redemptions, instrument] = await Promise.all([
    findRedemptions(ctx.db, accounts, row.id),
    findInstrument(ctx.db, accounts, row.id),
  ])
  await failpoint('reverse: begun')
  const [giftCards, main] = await Promise.all([
    Promise.all(redemptions.filter(mayHavePaid).map((redemption) => reverseOne(ctx, redemption))),
    isHeld(row, instrument) ? letGo(ctx, row, attempt, instrument) : undefined,
  ])
  await failpoint('reverse: providers answered')
  const storedMethodId = await storedWith({ ...ctx, accounts }, row)
  const step = await orStillOpen<Step>(ctx, { row, next: null }, () =>
    settleReversal(ctx, row, attempt, { giftCards, main }, { key, storedMethodId }),
  )
  await failpoint('reverse: outcome recorded')
  await forgetStored(ctx, step.row, storedMethodId)
  // The provider has never heard of the call and never will: the next one has another name.
  return step.next ? reversePayment(ctx, step.row, { ...step.next, checks: 0 }, key) : step.row
}

const mayHavePaid = ({ status, reversed }: RedemptionRow) =>
  !reversed && (status === 'created' || status === 'succeeded')

/** A void has let the main method go before it comes to the gift cards. */
const isHeld = ({ status }: TransactionRow, main: InstrumentRow | undefined): main is InstrumentRow =>
  status === 'processing' && main !== undefined && (main.capturable || main.captured_amount > 0)

async function reverseOne(ctx: System, redemption: RedemptionRow): Promise<Answers['giftCards'][number]> {
  const { merchant_account_id: merchantAccountId, gift_card_service_id: id } = redemption
  const service = await findGiftCardService(ctx, { merchantAccountId, id })
  if (!service) return { redemption, outcome: { result: 'unknown' } }
  const outcome = await askGiftCards(ctx, service, (connector, signal) =>
    connector.reverse({ service: service.access, signal, redemptionReference: redemption.id }),
  )
  await failpoint('reverse: one provider answered')
  return { redemption, outcome }
}

async function letGo(
  ctx: System,
  row: TransactionRow,
  attempt: ReverseAttempt,
  main: InstrumentRow,
): Promise<FollowUpOutcome> {
  const service = await serviceOf(ctx, row)
  if (!service) return { result: 'unknown' }
  return ask<FollowUpOutcome>(ctx, service, async (connector, signal) => {
    const call = callOf({ row, attempt, service }, signal)
    if (attempt.checks > 0) return connector.sync(call)
    // What could only be charged at once is refunded.
    const outcome = await (main.captured_amount > 0
      ? connector.refund({ ...call, amount: main.captured_amount, reason: null })
      : connector.void(call))
    // A call is refused too when somebody asked about it before it came: then nothing is let go, and the next one has another name.
    return isRefusal(outcome) ? connector.sync(call) : outcome
  })
}

async function settleReversal(
  system: System,
  given: TransactionRow,
  attempt: ReverseAttempt,
  { giftCards, main }: Answers,
  options: { key: AnswerKey; storedMethodId: string | null },
): Promise<Step> {
  return await endStep(system, given, attempt.id, async (ctx, { row, main: instrument }) => {
    const { id } = row
    const reference = { transaction_id: id, id: attempt.id }
    const now = ctx.now()
    const back = giftCards.flatMap(({ redemption, outcome }) => (outcome.result === 'succeeded' ? [redemption] : []))
    await markReversed(
      ctx.db,
      ctx.accounts,
      id,
      back.map((redemption) => redemption.id),
      now,
    )
    await failpoint('reverse: outcome not yet committed')
    const timeline = linesOf(ctx, id, back, main)
    const isSold = instrument.captured_amount > 0
    const isLetGo = main === undefined || main.result === 'approved' || (!isSold && isRefusal(main))
    const end = { row, main: instrument, attemptId: attempt.id, timeline }
    if (main?.result === 'never_arrived') {
      return goOn(ctx, { ...end, result: 'failed' }, givingBack(ctx, row, attempt.amount))
    }
    if (back.length < giftCards.length || !isLetGo) {
      await insertTimeline(ctx.db, row.merchant_account_id, timeline)
      const later = new Date(now.getTime() + nextCheckMs(attempt.checks))
      const change = { result: null, error_code: null, provider_reference: null, next_check_at: later }
      await closeAttempt(ctx.db, ctx.accounts, reference, { ...change, state: 'open' }, now)
      return { row, next: null }
    }
    // An authorization that its provider does not let go ends by itself.
    const result = main === undefined || main.result === 'approved' ? 'approved' : 'declined'
    if (row.status === 'processing') return finishUnpaid(ctx, { ...end, result }, options)
    return { row: await finishVoided(ctx, row, attempt, timeline), next: null }
  })
}

const isRefusal = ({ result }: FollowUpOutcome) => result === 'declined' || result === 'failed'

function linesOf(
  ctx: Pick<System, 'newId'>,
  id: string,
  back: readonly RedemptionRow[],
  main: FollowUpOutcome | undefined,
): TimelineEntry[] {
  const result = main && resultOf(main)
  return [
    ...back.map((redemption) =>
      timelineEntry(ctx, id, 'gift-card-reversal-succeeded', {
        redemption_id: redemption.id,
        amount: redemption.amount,
      }),
    ),
    ...(result && result.status !== 'pending'
      ? [timelineEntry(ctx, id, `payment-connector-response-transaction-void-${result.status}`, { ...result })]
      : []),
  ]
}

/** The main method was let go before: now the gift cards have their money too. */
async function finishVoided(
  ctx: System & Pick<Context, 'accounts'>,
  row: TransactionRow,
  attempt: ReverseAttempt,
  timeline: readonly TimelineEntry[],
): Promise<TransactionRow> {
  const now = ctx.now()
  const done = {
    state: 'done',
    result: 'approved',
    error_code: null,
    provider_reference: null,
    next_check_at: null,
  } as const
  await closeAttempt(ctx.db, ctx.accounts, { transaction_id: row.id, id: attempt.id }, done, now)
  await closeGiftCards(ctx.db, ctx.accounts, row.id)
  await writeRedemptionText(
    ctx.db,
    ctx.accounts,
    row.id,
    renderRedemptions(await findRedemptions(ctx.db, ctx.accounts, row.id)),
  )
  const moved = await moveTransaction(ctx.db, ctx.accounts, row.id, 'authorization_voided', now, { voided_at: now })
  if (!moved) throw new Error('a void ended in a transaction that awaited none')
  await insertTimeline(ctx.db, row.merchant_account_id, [
    ...timeline,
    timelineEntry(ctx, row.id, 'transaction-updated-status', { from: row.status, to: moved.status }),
  ])
  await emit(ctx, statusEvents.authorization_voided, {
    target: transactionTarget(moved),
    merchantAccountId: moved.merchant_account_id,
    sequence: moved.version,
  })
  return moved
}
