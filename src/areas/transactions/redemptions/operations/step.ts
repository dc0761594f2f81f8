import type { Context } from '../../../../context.ts'
import { nextCheckMs } from '../../../../asking.ts'
import { transact } from '../../../../platform/postgres.ts'
import { forgetNumber } from '../../../payment-methods/operations/change.ts'
import { findStoredMethod } from '../../../payment-methods/operations/cards.ts'
import type { System } from '../../operations/follow-up.ts'
import { renderRedemptions, renderTransaction } from '../../operations/render.ts'
import { timelineEntry } from '../../operations/report.ts'
import { eventsOf } from '../../operations/settlement-report.ts'
import { isAttemptOpen } from '../../store/attempts.ts'
import type { Action, InstrumentRow, TimelineEntry, TransactionRow } from '../../store/rows.ts'
import { type NextAttempt, type Settlement, settleAuthorizations } from '../../store/settle.ts'
import { lockTransaction } from '../../store/transactions.ts'
import { captureGiftCards, emptyInstruments, findRedemptions, promiseGiftCards, type RedemptionRow } from '../store.ts'

/**
 * A payment with gift cards goes step by step: its main method is authorized, the gift cards are charged (`redeem`), the rest is captured; or
 * everything is given back (`reverse`). Each step is an attempt, and the commit that ends one begins the next, so that whatever dies in between,
 * somebody finds what is to be done.
 */
export type AnswerKey = { operation: string; key: string } | null

/** The end of a step: the transaction then, and the call that follows. */
export interface Step {
  row: TransactionRow
  next: NextAttempt | null
}

/**
 * The end of a step, under the lock of its transaction. Whoever has ended it before has decided: then nothing is written, and the transaction
 * comes back as it is.
 */
export function endStep(
  system: System,
  { id, merchant_account_id }: Pick<TransactionRow, 'id' | 'merchant_account_id'>,
  attemptId: string,
  end: (ctx: System & Pick<Context, 'accounts'>, locked: { row: TransactionRow; main: InstrumentRow }) => Promise<Step>,
): Promise<Step> {
  return transact({ ...system, accounts: [merchant_account_id] }, async (ctx) => {
    const locked = await lockTransaction(ctx.db, ctx.accounts, id)
    if (!locked) throw new Error('an attempt without a transaction')
    const { row, instrument: main } = locked
    if (!(await isAttemptOpen(ctx.db, ctx.accounts, { transaction_id: id, id: attemptId }))) return { row, next: null }
    return end(ctx, { row, main })
  })
}

type Writing = Pick<Context, 'db' | 'accounts' | 'now' | 'newId'>

interface StepEnd {
  row: TransactionRow
  main: InstrumentRow
  attemptId: string
  result: 'approved' | 'declined' | 'failed'
  errorCode?: string | null
  providerReference?: string | null
  timeline: readonly TimelineEntry[]
}

export const nextAttempt = (
  ctx: Pick<Context, 'newId' | 'now'>,
  action: Action,
  rest: Pick<NextAttempt, 'amount' | 'payment_service_id'> & { subject_id?: string },
): NextAttempt => ({
  id: ctx.newId(),
  action,
  subject_id: null,
  next_check_at: new Date(ctx.now().getTime() + nextCheckMs(0)),
  ...rest,
})

/** The step that gives everything back; the amount is what the main method has to let go. */
export const givingBack = (ctx: Pick<Context, 'newId' | 'now'>, row: TransactionRow, amount: number) =>
  nextAttempt(ctx, 'reverse', { amount, payment_service_id: amount > 0 ? row.payment_service_id : null })

/** What the main method holds stays as it is. */
const held = (main: InstrumentRow): Settlement['instrument'] => ({
  held_amount: main.authorized_amount,
  capture_limit: main.capture_limit,
  capturing_amount: main.capturing_amount,
  captured_amount: main.captured_amount,
  capturable: main.capturable,
})

async function write(
  ctx: Writing,
  end: StepEnd,
  change: Partial<TransactionRow>,
  more: Partial<Settlement> = {},
): Promise<TransactionRow> {
  const { row, main, attemptId, result, errorCode = null, providerReference = null, timeline } = end
  const now = ctx.now()
  const redemptions = await findRedemptions(ctx.db, ctx.accounts, row.id)
  const after: TransactionRow = {
    ...row,
    gift_card_redemptions: renderRedemptions(redemptions),
    authorized_amount: main.authorized_amount + heldBy(redemptions),
    ...change,
    version: row.version + 1,
    updated_at: now,
  }
  const moves = after.status !== row.status
  const { answer, capture = null } = more
  await settleAuthorizations(ctx.db, ctx.accounts, [
    {
      attempt: {
        id: attemptId,
        state: 'done',
        result,
        error_code: errorCode,
        provider_reference: providerReference,
        next_check_at: null,
      },
      nextAttempt: null,
      before: [row.status],
      after,
      instrument: held(main),
      skipsGiftCards: false,
      method: null,
      events: eventsOf(after, moves, capture),
      ...more,
      capture,
      timeline: [
        ...timeline,
        ...(moves
          ? [timelineEntry(ctx, row.id, 'transaction-updated-status', { from: row.status, to: after.status })]
          : []),
      ],
      answer: answer ? { ...answer, body: renderTransaction(after) } : null,
    },
  ])
  return after
}

const heldBy = (redemptions: readonly RedemptionRow[]) =>
  redemptions.reduce((sum, { status, amount }) => sum + (status === 'succeeded' ? amount : 0), 0)

const answerTo = (key: AnswerKey): Settlement['answer'] => key && { ...key, status: 201, body: '' }

/** The step is over and the payment is not. */
export async function goOn(
  ctx: Writing,
  end: StepEnd,
  next: NextAttempt,
  { change = {}, capture }: { change?: Partial<TransactionRow>; capture?: Settlement['capture'] } = {},
): Promise<Step> {
  const capturing_amount = next.action === 'capture' ? next.amount : 0
  const row = await write(ctx, end, change, {
    nextAttempt: next,
    instrument: { ...held(end.main), capturing_amount },
    ...(capture && { capture }),
    events: [],
  })
  return { row, next }
}

interface PaidOptions {
  key: AnswerKey
  storedMethodId: string | null
  captureId: string
}

/** Everybody has paid. */
export async function finishPaid(
  ctx: Writing,
  end: StepEnd,
  { key, storedMethodId, captureId }: PaidOptions,
): Promise<Step> {
  const { row, main } = end
  const now = ctx.now()
  const isCaptured = row.intent === 'capture'
  if (isCaptured) await captureGiftCards(ctx.db, ctx.accounts, row.id)
  const redeemed = heldBy(await findRedemptions(ctx.db, ctx.accounts, row.id))
  const amount = main.authorized_amount + redeemed
  const after = await write(
    ctx,
    end,
    {
      status: isCaptured ? 'capture_succeeded' : 'authorization_succeeded',
      intent_outcome: 'succeeded',
      authorized_amount: amount,
      captured_amount: isCaptured ? amount : 0,
      authorized_at: row.authorized_at ?? now,
      captured_at: isCaptured ? now : null,
    },
    {
      instrument: {
        ...held(main),
        capturing_amount: 0,
        captured_amount: isCaptured ? main.authorized_amount : 0,
        capturable: !isCaptured && main.authorized_amount > 0,
      },
      capture: isCaptured ? { id: captureId, amount, status: 'succeeded', error_code: null, captured_at: now } : null,
      method: storedMethodId ? { id: storedMethodId, status: 'succeeded' } : null,
      answer: answerTo(key),
    },
  )
  return { row: after, next: null }
}

/** Everything is held, and the provider of the main method takes its time to charge it. */
export async function finishPending(
  ctx: Writing,
  end: StepEnd,
  { key, storedMethodId, captureId, askAfterMs }: PaidOptions & { askAfterMs: number },
): Promise<Step> {
  const { row, main, attemptId } = end
  const now = ctx.now()
  const redeemed = await promiseGiftCards(ctx.db, ctx.accounts, row.id, true)
  const amount = main.authorized_amount + redeemed
  const after = await write(
    ctx,
    end,
    {
      status: 'capture_pending',
      intent_outcome: 'succeeded',
      authorized_amount: amount,
      authorized_at: row.authorized_at ?? now,
    },
    {
      attempt: {
        id: attemptId,
        state: 'pending',
        result: null,
        error_code: null,
        provider_reference: end.providerReference ?? null,
        next_check_at: new Date(now.getTime() + askAfterMs),
      },
      capture: { id: captureId, amount, status: 'pending', error_code: null, captured_at: null },
      method: storedMethodId ? { id: storedMethodId, status: 'succeeded' } : null,
      answer: answerTo(key),
    },
  )
  return { row: after, next: null }
}

/** Everything that was paid is given back: it came to nothing. */
export async function finishUnpaid(
  ctx: Writing,
  end: StepEnd,
  { key, storedMethodId }: { key: AnswerKey; storedMethodId: string | null },
): Promise<Step> {
  await emptyInstruments(ctx.db, ctx.accounts, end.row.id)
  const after = await write(
    ctx,
    end,
    {
      status: 'authorization_failed',
      intent_outcome: 'failed',
      authorized_amount: 0,
      captured_amount: 0,
      authorized_at: null,
      captured_at: null,
      pending_review: false,
    },
    {
      instrument: { held_amount: 0, capture_limit: 0, capturing_amount: 0, captured_amount: 0, capturable: false },
      method: storedMethodId ? { id: storedMethodId, status: 'failed' } : null,
      answer: answerTo(key),
    },
  )
  return { row: after, next: null }
}

/** A card that is kept if the payment succeeds, and has not been decided on. */
export async function storedWith(ctx: Pick<Context, 'db' | 'accounts'>, row: TransactionRow): Promise<string | null> {
  const stored = row.payment_method_id ? await findStoredMethod(ctx, row.payment_method_id) : undefined
  return stored?.status === 'processing' ? stored.id : null
}

/** Its number goes once it is known that the payment came to nothing. */
export async function forgetStored(ctx: System, row: TransactionRow, storedMethodId: string | null): Promise<void> {
  if (storedMethodId && row.status === 'authorization_failed')
    await forgetNumber(ctx, row.merchant_account_id, storedMethodId)
}
