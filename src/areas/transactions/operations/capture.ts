import type { Context } from '../../../context.ts'
import { invalidBody, notFound } from '../../../errors.ts'
import type { EventName } from '../../../events/catalog.ts'
import { emit } from '../../../events/outbox.ts'
import { holdKey, onceByKey } from '../../../idempotency/keys.ts'
import { type KeyRow, type NewKey, storeAnswer } from '../../../idempotency/store.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { transact } from '../../../platform/postgres.ts'
import { Rendered } from '../../../rendered.ts'
import { audit } from '../../audit-logs/operations.ts'
import { ask } from '../../payment-services/operations/ask.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import { presentCapture } from '../captures/operations.ts'
import { findCapture, insertCapture, updateCapture } from '../captures/store.ts'
import { statusEvents } from '../rules.ts'
import type { CaptureInput } from '../schema/create.ts'
import { insertAttempt } from '../store/attempts.ts'
import { captureGiftCards, promiseGiftCards } from '../redemptions/store.ts'
import type { AttemptRow, TransactionRow } from '../store/rows.ts'
import {
  insertTimeline,
  lockTransaction,
  moveTransaction,
  reserveCapture,
  settleCaptureAmounts,
} from '../store/transactions.ts'
import { cannotCapture, isAlone, planAlone, planCapture } from './capture-plan.ts'
import {
  type Begun,
  callOf,
  closeFollowUp,
  type FollowUpOutcome,
  newAttempt,
  lockOwner,
  nobodyToAsk,
  providerOf,
  resultOf,
  type System,
  wrongState,
} from './follow-up.ts'
import { orStillOpen } from './providers.ts'
import { renderAction, renderTransaction } from './render.ts'
import { timelineEntry, transactionTarget } from './report.ts'
import { finishKey } from './resolve.ts'

/** Takes money that is reserved: all of it, or a part. */
export async function captureTransaction(
  ctx: Context,
  id: string,
  input: CaptureInput,
  { idempotencyKey, isPreferred }: { idempotencyKey: string | undefined; isPreferred: boolean },
): Promise<Rendered> {
  const service = await providerOf(ctx, id)
  const finish = (row: KeyRow) =>
    finishKey(ctx, row, { operation: ctx.operation, key: idempotencyKey ?? '' }, 200, (transaction) =>
      isPreferred ? renderFinished(ctx, transaction, row.resource_id) : Promise.resolve(renderTransaction(transaction)),
    )
  return onceByKey(ctx, idempotencyKey, { id, input }, finish, async (key) => {
    const begun = await beginCapture(ctx, id, input, service, key)
    await failpoint('capture: intent recorded')
    const { service: provider } = begun
    const outcome = provider
      ? await ask(ctx, provider, (connector, signal) =>
          connector.capture({
            ...callOf({ ...begun, service: provider }, signal),
            amount: begun.attempt.amount,
            final: input.final ?? true,
          }),
        )
      : nobodyToAsk
    await failpoint('capture: provider answered')
    const render = (row: TransactionRow) =>
      isPreferred ? renderResult(outcome, row, begun, input) : renderTransaction(row)
    const row = await orStillOpen(ctx, begun.row, () =>
      settleCapture(ctx, { ...begun.attempt, checks: 0 }, outcome, key && { key, render }),
    )
    await failpoint('capture: outcome recorded')
    return new Rendered(render(row))
  })
}

/** Without a service, gift cards alone pay, and nobody has to be asked. */
type CaptureBegun = Omit<Begun, 'service'> & { service: UsableService | undefined }

async function beginCapture(
  ctx: Context,
  id: string,
  input: CaptureInput,
  service: UsableService | undefined,
  key: NewKey | null,
): Promise<CaptureBegun> {
  return await transact(ctx, async (ctx) => {
    const captureId = ctx.newId()
    const now = ctx.now()
    const found = await lockTransaction(ctx.db, ctx.accounts, id)
    if (!found) throw notFound()
    const { row, instrument } = found
    await holdKey(ctx, key, { merchantAccountId: row.merchant_account_id, transactionId: id, resourceId: captureId })
    const giftCards = row.gift_card_redemptions === null ? 0 : await promiseGiftCards(ctx.db, ctx.accounts, id, true)
    const { amount, limit, final } = isAlone(instrument)
      ? planAlone(row, input, giftCards)
      : await planCapture(ctx, { row, instrument, service, input, giftCards })
    const moved = await moveTransaction(ctx.db, ctx.accounts, id, 'capture_pending', now)
    if (!moved) throw wrongState(cannotCapture(row.status))
    if (!isAlone(instrument) && !(await reserveCapture(ctx.db, ctx.accounts, id, { amount, limit }))) {
      throw invalidBody(
        '/amount',
        'value_error.range',
        `Must be at most ${limit - instrument.captured_amount + giftCards}`,
      )
    }
    await insertCapture(ctx.db, {
      merchant_account_id: row.merchant_account_id,
      transaction_id: id,
      id: captureId,
      amount: amount + giftCards,
      currency: row.currency,
      final,
      external_identifier: input.external_identifier ?? null,
      cart_items: input.cart_items ? JSON.stringify(input.cart_items) : null,
      created_at: now,
    })
    const attempt = newAttempt(ctx, row, 'capture', { service, amount, subjectId: captureId, key, now })
    await insertAttempt(ctx.db, attempt)
    await audit(ctx, 'captured', auditedAs(row))
    await failpoint('capture: intent not yet committed')
    return { row: moved, attempt, service }
  })
}

export const auditedAs = (row: TransactionRow) => ({
  type: 'transaction',
  id: row.id,
  name: row.external_identifier ?? row.id,
  merchantAccountId: row.merchant_account_id,
})

/** What became of a capture, whoever found out. Returns the transaction as it is then. */
export async function settleCapture(
  system: System,
  attempt: Pick<AttemptRow, 'merchant_account_id' | 'transaction_id' | 'id' | 'subject_id' | 'amount' | 'checks'>,
  outcome: FollowUpOutcome,
  answer: { key: Pick<NewKey, 'operation' | 'key'>; render: (row: TransactionRow) => string } | null,
): Promise<TransactionRow> {
  return await transact({ ...system, accounts: [attempt.merchant_account_id] }, async (ctx) => {
    const { transaction_id: id, amount } = attempt
    const now = ctx.now()
    let row: TransactionRow | undefined = await lockOwner(ctx, id)
    const isOurs = await closeFollowUp(ctx, attempt, outcome)
    if (isOurs) {
      const result = resultOf(outcome)
      const capture = await updateCapture(
        ctx.db,
        ctx.accounts,
        { transactionId: id, id: attempt.subject_id ?? '' },
        {
          status: result.status,
          payment_service_capture_id: 'providerReference' in outcome ? outcome.providerReference : null,
          error_code: result.code,
          raw_response_code: result.rawCode,
          raw_response_description: result.rawDescription,
          captured_at: result.status === 'succeeded' ? now : null,
        },
        now,
      )
      if (!capture) throw new Error('an attempt without its capture')
      if (result.status !== 'pending') {
        const captured = result.status === 'succeeded'
        await settleCaptureAmounts(ctx.db, ctx.accounts, id, { amount, captured, final: capture.final })
        if (row.gift_card_redemptions !== null) {
          if (captured) await captureGiftCards(ctx.db, ctx.accounts, id)
          else await promiseGiftCards(ctx.db, ctx.accounts, id, false)
        }
        const to = captured || row.captured_amount > 0 ? 'capture_succeeded' : 'authorization_succeeded'
        const change = captured ? { captured: capture.amount, captured_at: now } : {}
        row = await moveTransaction(ctx.db, ctx.accounts, id, to, now, change)
        if (!row) throw new Error('a capture ended in a transaction that awaited none')
      }
      const name: EventName = `capture.${result.status}`
      await emit(ctx, name, {
        target: presentCapture(capture, row.external_identifier),
        merchantAccountId: row.merchant_account_id,
        sequence: capture.version,
      })
      const transactionEvent = {
        succeeded: statusEvents.capture_succeeded,
        pending: statusEvents.capture_pending,
        declined: 'transaction.capture-failed',
        failed: 'transaction.capture-failed',
      } as const
      await emit(ctx, transactionEvent[result.status], {
        target: transactionTarget(row),
        merchantAccountId: row.merchant_account_id,
        sequence: row.version,
      })
      if (result.status !== 'pending') {
        const context = { capture_id: attempt.subject_id, amount, ...result }
        await insertTimeline(ctx.db, row.merchant_account_id, [
          timelineEntry(ctx, id, `payment-connector-response-transaction-capture-${result.status}`, context),
          timelineEntry(ctx, id, 'transaction-updated-status', { from: 'capture_pending', to: row.status }),
        ])
      }
    }
    if (answer) await storeAnswer(ctx.db, ctx.accounts, answer.key, { status: 200, body: answer.render(row) })
    await failpoint('capture: outcome not yet committed')
    return row
  })
}

function renderResult(
  outcome: FollowUpOutcome,
  row: TransactionRow,
  { attempt }: CaptureBegun,
  input: CaptureInput,
): string {
  return renderAction('transaction-capture', resultOf(outcome), row, {
    capture_id: attempt.subject_id,
    payment_service_capture_id: 'providerReference' in outcome ? outcome.providerReference : null,
    external_identifier: input.external_identifier ?? null,
  })
}

/** The same after a crash, from what is on record. */
async function renderFinished(ctx: Context, row: TransactionRow, captureId: string | null): Promise<string> {
  const capture = captureId
    ? await findCapture(ctx.db, ctx.accounts, { transactionId: row.id, id: captureId })
    : undefined
  const result = {
    status: capture?.status ?? 'pending',
    code: capture?.error_code ?? null,
    rawCode: capture?.raw_response_code ?? null,
    rawDescription: capture?.raw_response_description ?? null,
  }
  return renderAction('transaction-capture', result, row, {
    capture_id: captureId,
    payment_service_capture_id: capture?.payment_service_capture_id ?? null,
    external_identifier: capture?.external_identifier ?? null,
  })
}
