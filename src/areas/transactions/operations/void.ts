import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { emit } from '../../../events/outbox.ts'
import { holdKey, onceByKey } from '../../../idempotency/keys.ts'
import { type KeyRow, type NewKey, storeAnswer } from '../../../idempotency/store.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { transact } from '../../../platform/postgres.ts'
import { Rendered } from '../../../rendered.ts'
import { audit } from '../../audit-logs/operations.ts'
import { ask } from '../../payment-services/operations/ask.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import { reversePayment } from '../redemptions/operations/reverse.ts'
import { givingBack, type Step } from '../redemptions/operations/step.ts'
import { statusEvents } from '../rules.ts'
import { insertAttempt } from '../store/attempts.ts'
import type { AttemptRow, TransactionRow } from '../store/rows.ts'
import { closeInstrument, insertTimeline, lockTransaction, moveTransaction } from '../store/transactions.ts'
import { auditedAs } from './capture.ts'
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
  unsupported,
  wrongState,
} from './follow-up.ts'
import { orStillOpen } from './providers.ts'
import { type ActionResult, renderAction, renderTransaction } from './render.ts'
import { timelineEntry, transactionTarget } from './report.ts'
import { finishKey } from './resolve.ts'

/** Lets go of money that is reserved and not taken. */
export async function voidTransaction(
  ctx: Context,
  id: string,
  { idempotencyKey, isPreferred }: { idempotencyKey: string | undefined; isPreferred: boolean },
): Promise<Rendered> {
  const service = await providerOf(ctx, id)
  const render = (row: TransactionRow, result: ActionResult) =>
    isPreferred ? renderAction('transaction-void', result, row) : renderTransaction(row)
  const finish = (row: KeyRow) =>
    finishKey(ctx, row, { operation: ctx.operation, key: idempotencyKey ?? '' }, 200, async (transaction) =>
      render(transaction, finished(transaction)),
    )
  return onceByKey(ctx, idempotencyKey, { id }, finish, async (key) => {
    const begun = await beginVoid(ctx, id, service, key)
    await failpoint('void: intent recorded')
    const { service: provider } = begun
    const outcome = provider
      ? await ask(ctx, provider, (connector, signal) => connector.void(callOf({ ...begun, service: provider }, signal)))
      : nobodyToAsk
    await failpoint('void: provider answered')
    const renderRow = (row: TransactionRow) =>
      render(row, row.gift_card_redemptions === null ? resultOf(outcome) : finished(row))
    const row = await orStillOpen(ctx, begun.row, () =>
      settleVoid(ctx, { ...begun.attempt, checks: 0 }, outcome, key && { key, render: renderRow }),
    )
    await failpoint('void: outcome recorded')
    return new Rendered(renderRow(row))
  })
}

/** What can be said of a void whose answer was lost. */
const finished = ({ status }: TransactionRow): ActionResult => ({
  status:
    status === 'authorization_voided' ? 'succeeded' : status === 'authorization_void_pending' ? 'pending' : 'failed',
  code: null,
  rawCode: null,
  rawDescription: null,
})

async function beginVoid(
  ctx: Context,
  id: string,
  service: UsableService | undefined,
  key: NewKey | null,
): Promise<Omit<Begun, 'service'> & { service: UsableService | undefined }> {
  return await transact(ctx, async (ctx) => {
    const now = ctx.now()
    const found = await lockTransaction(ctx.db, ctx.accounts, id)
    if (!found) throw notFound()
    const { row, instrument } = found
    await holdKey(ctx, key, { merchantAccountId: row.merchant_account_id, transactionId: id, resourceId: null })
    const isAlone = instrument.amount === 0 && row.gift_card_redemptions !== null
    const isHeld = isAlone
      ? row.captured_amount === 0
      : service && instrument.capturable && instrument.captured_amount === 0
    if (!isHeld || row.authorized_amount === 0) throw wrongState(cannotVoid(row))
    if (service && !service.connector.definition.supported_features.void) {
      throw unsupported('transaction_id', 'The provider cannot void; capture and refund instead')
    }
    const moved = await moveTransaction(ctx.db, ctx.accounts, id, 'authorization_void_pending', now)
    if (!moved) throw wrongState(cannotVoid(row))
    const attempt = newAttempt(ctx, row, 'void', {
      service,
      amount: instrument.authorized_amount,
      subjectId: null,
      key,
      now,
    })
    await insertAttempt(ctx.db, attempt)
    await audit(ctx, 'voided', auditedAs(row))
    await failpoint('void: intent not yet committed')
    return { row: moved, attempt, service }
  })
}

const cannotVoid = ({ status, amount }: TransactionRow) =>
  amount === 0
    ? 'There is nothing to void: the transaction has no amount'
    : `Only an authorized transaction can be voided; this one is ${status}`

/** What became of a void, whoever found out. Returns the transaction as it is then. */
export async function settleVoid(
  system: System,
  attempt: Pick<AttemptRow, 'merchant_account_id' | 'transaction_id' | 'id' | 'checks'>,
  outcome: FollowUpOutcome,
  answer: { key: Pick<NewKey, 'operation' | 'key'>; render: (row: TransactionRow) => string } | null,
): Promise<TransactionRow> {
  const voided = await transact({ ...system, accounts: [attempt.merchant_account_id] }, async (ctx): Promise<Step> => {
    const id = attempt.transaction_id
    const now = ctx.now()
    let row: TransactionRow | undefined = await lockOwner(ctx, id)
    const isOurs = await closeFollowUp(ctx, attempt, outcome)
    await failpoint('void: outcome not yet committed')
    const result = resultOf(outcome)
    if (isOurs && result.status === 'succeeded' && row.gift_card_redemptions !== null) {
      await closeInstrument(ctx.db, ctx.accounts, id)
      const next = givingBack(ctx, row, 0)
      await insertAttempt(ctx.db, { ...next, ...owned(row), idempotency_key: answer?.key.key ?? null, created_at: now })
      return { row, next }
    }
    if (isOurs) {
      if (result.status !== 'pending') {
        const isVoided = result.status === 'succeeded'
        if (isVoided) await closeInstrument(ctx.db, ctx.accounts, id)
        const to = isVoided ? 'authorization_voided' : 'authorization_succeeded'
        row = await moveTransaction(ctx.db, ctx.accounts, id, to, now, isVoided ? { voided_at: now } : {})
        if (!row) throw new Error('a void ended in a transaction that awaited none')
        await insertTimeline(ctx.db, row.merchant_account_id, [
          timelineEntry(ctx, id, `payment-connector-response-transaction-void-${result.status}`, { ...result }),
          timelineEntry(ctx, id, 'transaction-updated-status', { from: 'authorization_void_pending', to }),
        ])
      }
      const names = {
        succeeded: statusEvents.authorization_voided,
        pending: statusEvents.authorization_void_pending,
        declined: 'transaction.void-declined',
        failed: 'transaction.void-failed',
      } as const
      await emit(ctx, names[result.status], {
        target: transactionTarget(row),
        merchantAccountId: row.merchant_account_id,
        sequence: row.version,
      })
    }
    if (answer) await storeAnswer(ctx.db, ctx.accounts, answer.key, { status: 200, body: answer.render(row) })
    return { row, next: null }
  })
  if (!voided.next) return voided.row
  // The gift cards get theirs back after the main method has said yes; until then nothing is voided.
  const row = await reversePayment(system, voided.row, { ...voided.next, checks: 0 }, null)
  await failpoint('void: answer not yet kept')
  if (answer && row.status === 'authorization_voided') await keepAnswer(system, row, answer)
  return row
}

const owned = ({ merchant_account_id, id }: TransactionRow) => ({ merchant_account_id, transaction_id: id })

const keepAnswer = (
  system: System,
  row: TransactionRow,
  { key, render }: { key: Pick<NewKey, 'operation' | 'key'>; render: (row: TransactionRow) => string },
) =>
  transact({ ...system, accounts: [row.merchant_account_id] }, (ctx) =>
    storeAnswer(ctx.db, ctx.accounts, key, { status: 200, body: render(row) }),
  )
