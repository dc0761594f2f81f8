import type { Context } from '../../../../context.ts'
import { notFound, ValidationFailure } from '../../../../errors.ts'
import { holdKey, onceByKey } from '../../../../idempotency/keys.ts'
import { type KeyRow, type NewKey, storeAnswer } from '../../../../idempotency/store.ts'
import { failpoint } from '../../../../platform/failpoint.ts'
import { transact } from '../../../../platform/postgres.ts'
import { Rendered } from '../../../../rendered.ts'
import { ask } from '../../../payment-services/operations/ask.ts'
import type { UsableService } from '../../../payment-services/operations/routing.ts'
import { callOf, type FollowUpOutcome, providerOf, wrongState } from '../../operations/follow-up.ts'
import { orStillOpen } from '../../operations/providers.ts'
import { finishKey } from '../../operations/resolve.ts'
import { findRedemptions, type RedemptionRow } from '../../redemptions/store.ts'
import { findSubjects } from '../../store/attempts.ts'
import { lockInstruments, lockTransactionRow } from '../../store/transactions.ts'
import type { NewRefund, Refund, RefundAll } from '../schema.ts'
import { beginRefund, type BegunRefund, leftToRefund, type RefundTarget } from './begin.ts'
import { askForRefund } from './gift-card.ts'
import { collection, getRefund } from './read.ts'
import { type RefundAnswer, settleRefund } from './settle.ts'

/** Gives money back: all that is left, or a part, of the main method or of a gift card. */
export async function createRefund(
  ctx: Context,
  transactionId: string,
  input: NewRefund,
  idempotencyKey: string | undefined,
): Promise<Rendered> {
  const target = await targetOf(ctx, transactionId, input)
  const finish = (row: KeyRow) =>
    finishKey(ctx, row, { operation: ctx.operation, key: idempotencyKey ?? '' }, 201, async () =>
      JSON.stringify(await getRefund(ctx, row.resource_id ?? '')),
    )
  return onceByKey(ctx, idempotencyKey, { transactionId, input }, finish, async (key) => {
    const begun = await transact(ctx, async (ctx) => {
      const id = ctx.newId()
      const { row, instruments } = await lockPayment(ctx, transactionId, key, id)
      const instrument = instruments.find(({ position }) => position === (target.redemption?.position ?? 0))
      if (!instrument) throw new Error('a transaction without its instrument')
      const begun = await beginRefund(ctx, { id, row, instrument, target, input, key })
      await failpoint('refund: intent not yet committed')
      return begun
    })
    return new Rendered(JSON.stringify(await refund(ctx, begun, key && { key, render: JSON.stringify })))
  })
}

async function targetOf(ctx: Context, transactionId: string, input: NewRefund): Promise<RefundTarget> {
  if (input.target_type !== 'gift-card-redemption') {
    return { redemption: null, service: await providerOf(ctx, transactionId) }
  }
  const redemptions = input.target_id ? await findRedemptions(ctx.db, ctx.accounts, transactionId) : []
  const redemption = redemptions.find(({ id }) => id === input.target_id)
  if (redemption) return { redemption, service: undefined }
  throw new ValidationFailure([
    {
      location: 'body',
      pointer: '/target_id',
      type: input.target_id ? 'value_error.unknown' : 'value_error.missing',
      message: 'The transaction has no such gift card redemption',
    },
  ])
}

/** Gives everything back that is left, on every instrument that paid. */
export async function refundAll(
  ctx: Context,
  transactionId: string,
  input: RefundAll,
  idempotencyKey: string | undefined,
): Promise<Rendered> {
  const [service, redemptions] = await Promise.all([
    providerOf(ctx, transactionId),
    findRedemptions(ctx.db, ctx.accounts, transactionId),
  ])
  const name = { operation: ctx.operation, key: idempotencyKey ?? '' }
  const finish = (row: KeyRow) =>
    finishKey(ctx, row, name, 201, async () => {
      const ids = await findSubjects(ctx.db, ctx.accounts, {
        transaction_id: transactionId,
        idempotency_key: name.key,
        since: row.created_at,
      })
      return render(await Promise.all(ids.map((id) => getRefund(ctx, id))))
    })
  return onceByKey(ctx, idempotencyKey, { transactionId, input }, finish, async (key) => {
    const begun = await beginAll(ctx, transactionId, input, { service, redemptions, key })
    // The answer of a single refund is part of its outcome's commit; that of several comes after the last of them.
    const alone = key && begun.length === 1 ? { key, render: (one: Refund) => render([one]) } : null
    const refunds = await Promise.all(begun.map((one) => refund(ctx, one, alone)))
    const body = render(refunds)
    await failpoint('refund all: answer not yet kept')
    if (key && !alone && refunds.every(({ status }) => status !== 'processing')) {
      await transact(ctx, (ctx) => storeAnswer(ctx.db, ctx.accounts, key, { status: 201, body }))
    }
    return new Rendered(body)
  })
}

const render = (refunds: Refund[]) => JSON.stringify(collection(refunds))

async function beginAll(
  ctx: Context,
  transactionId: string,
  input: RefundAll,
  {
    service,
    redemptions,
    key,
  }: { service: UsableService | undefined; redemptions: readonly RedemptionRow[]; key: NewKey | null },
): Promise<BegunRefund[]> {
  return await transact(ctx, async (ctx) => {
    const { row, instruments } = await lockPayment(ctx, transactionId, key, null)
    const paid = instruments.filter(({ captured_amount }) => captured_amount > 0)
    if (paid.length === 0) throw wrongState(`Only a captured transaction can be refunded; this one is ${row.status}`)
    const left = paid.filter((instrument) => leftToRefund(instrument) > 0)
    if (left.length === 0) throw wrongState('Everything is refunded already')
    const begun: BegunRefund[] = []
    for (const instrument of left) {
      const redemption = redemptions.find(({ position }) => position === instrument.position)
      const target = redemption ? { redemption, service: undefined } : { redemption: null, service }
      begun.push(await beginRefund(ctx, { id: ctx.newId(), row, instrument, target, input, key }))
    }
    await failpoint('refund all: intent not yet committed')
    return begun
  })
}

async function lockPayment(ctx: Context, transactionId: string, key: NewKey | null, resourceId: string | null) {
  const row = await lockTransactionRow(ctx.db, ctx.accounts, transactionId)
  if (!row) throw notFound()
  await holdKey(ctx, key, { merchantAccountId: row.merchant_account_id, transactionId, resourceId })
  return { row, instruments: await lockInstruments(ctx.db, ctx.accounts, transactionId) }
}

/** The promise is on record: the call, and what became of it. */
async function refund(ctx: Context, begun: BegunRefund, answer: RefundAnswer | null): Promise<Refund> {
  await failpoint('refund: intent recorded')
  const outcome = await askProvider(ctx, begun)
  await failpoint('refund: provider answered')
  const refund = await orStillOpen(ctx, begun.refund, () =>
    settleRefund(ctx, { ...begun.attempt, checks: 0 }, outcome, answer),
  )
  await failpoint('refund: outcome recorded')
  return refund
}

function askProvider(ctx: Context, { row, attempt, target, reason }: BegunRefund): Promise<FollowUpOutcome> {
  if (target.redemption) return askForRefund(ctx, row, attempt, target.redemption)
  const { service } = target
  if (!service) throw new Error('a refund was begun without anybody to ask')
  return ask<FollowUpOutcome>(ctx, service, (connector, signal) =>
    connector.refund({ ...callOf({ row, attempt, service }, signal), amount: attempt.amount, reason }),
  )
}
