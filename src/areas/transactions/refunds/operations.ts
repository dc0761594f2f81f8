import type { Context } from '../../../context.ts'
import { invalidBody, notFound, ValidationFailure } from '../../../errors.ts'
import type { EventName } from '../../../events/catalog.ts'
import { emit } from '../../../events/outbox.ts'
import { holdKey, onceByKey } from '../../../idempotency/keys.ts'
import { type KeyRow, type NewKey, storeAnswer } from '../../../idempotency/store.ts'
import { reconciliationIdOf, timeOfId } from '../../../ids.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { transact } from '../../../platform/postgres.ts'
import { Rendered } from '../../../rendered.ts'
import type { Collection } from '../../../schema.ts'
import { audit } from '../../audit-logs/operations.ts'
import { ask } from '../../payment-services/operations/ask.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import {
  type Begun,
  callOf,
  closeFollowUp,
  type FollowUpOutcome,
  newAttempt,
  lockOwner,
  providerOf,
  resultOf,
  type System,
  unsupported,
  wrongState,
} from '../operations/follow-up.ts'
import { orStillOpen } from '../operations/providers.ts'
import { timelineEntry } from '../operations/report.ts'
import { finishKey } from '../operations/resolve.ts'
import { insertAttempt } from '../store/attempts.ts'
import { checkRefund } from '../statements/operations/ingest.ts'
import type { AttemptRow, TransactionRow } from '../store/rows.ts'
import { findTransaction, insertTimeline, lockTransaction } from '../store/transactions.ts'
import type { NewRefund, Refund, RefundAll } from './schema.ts'
import {
  findRefund,
  insertRefund,
  listRefundRows,
  type RefundRow,
  reserveRefund,
  settleRefundAmounts,
  updateRefund,
} from './store.ts'

const most = 100

export async function listRefunds(ctx: Context, transactionId: string): Promise<Collection<Refund>> {
  const transaction = await findTransaction(ctx.db, ctx.accounts, transactionId)
  if (!transaction) throw notFound()
  const rows = await listRefundRows(ctx.db, ctx.accounts, transactionId, most)
  return collection(rows.map((row) => presentRefund(row, transaction)))
}

const collection = (items: Refund[]): Collection<Refund> => ({
  items,
  limit: most,
  next_cursor: null,
  previous_cursor: null,
})

/** By its own id, or as one of a transaction's. */
export async function getRefund(ctx: Context, id: string, transactionId?: string): Promise<Refund> {
  const row = await findRefund(ctx.db, ctx.accounts, id)
  if (!row || (transactionId !== undefined && row.transaction_id !== transactionId)) throw notFound()
  const transaction = await findTransaction(ctx.db, ctx.accounts, row.transaction_id)
  if (!transaction) throw notFound()
  return presentRefund(row, transaction)
}

/** Gives money back: all that is left, or a part. */
export async function createRefund(
  ctx: Context,
  transactionId: string,
  input: NewRefund,
  idempotencyKey: string | undefined,
): Promise<Rendered> {
  const service = await providerOf(ctx, transactionId)
  const finish = (row: KeyRow) =>
    finishKey(ctx, row, { operation: ctx.operation, key: idempotencyKey ?? '' }, 201, async () =>
      JSON.stringify(await getRefund(ctx, row.resource_id ?? '')),
    )
  return onceByKey(ctx, idempotencyKey, { transactionId, input }, finish, async (key) => {
    const refund = await refundOnce(ctx, transactionId, input, service, key, JSON.stringify)
    return new Rendered(JSON.stringify(refund))
  })
}

/** Gives everything back that is left, on every instrument that paid. */
export async function refundAll(
  ctx: Context,
  transactionId: string,
  input: RefundAll,
  idempotencyKey: string | undefined,
): Promise<Rendered> {
  const service = await providerOf(ctx, transactionId)
  const render = (refund: Refund) => JSON.stringify(collection([refund]))
  const finish = (row: KeyRow) =>
    finishKey(ctx, row, { operation: ctx.operation, key: idempotencyKey ?? '' }, 201, async () =>
      render(await getRefund(ctx, row.resource_id ?? '')),
    )
  return onceByKey(
    ctx,
    idempotencyKey,
    { transactionId, input },
    finish,
    async (key) => new Rendered(render(await refundOnce(ctx, transactionId, input, service, key, render))),
  )
}

async function refundOnce(
  ctx: Context,
  transactionId: string,
  input: NewRefund,
  service: UsableService | undefined,
  key: NewKey | null,
  render: (refund: Refund) => string,
): Promise<Refund> {
  const begun = await beginRefund(ctx, transactionId, input, service, key)
  await failpoint('refund: intent recorded')
  const outcome = await ask(ctx, begun.service, (connector, signal) =>
    connector.refund({
      ...callOf(begun, signal),
      amount: begun.attempt.amount,
      reason: input.reason ?? null,
    }),
  )
  await failpoint('refund: provider answered')
  const refund = await orStillOpen(ctx, begun.refund, () =>
    settleRefund(ctx, { ...begun.attempt, checks: 0 }, outcome, key && { key, render }),
  )
  await failpoint('refund: outcome recorded')
  return refund
}

async function beginRefund(
  ctx: Context,
  transactionId: string,
  input: NewRefund,
  service: UsableService | undefined,
  key: NewKey | null,
): Promise<Begun & { refund: Refund }> {
  if (input.target_type === 'gift-card-redemption') {
    throw new ValidationFailure([
      {
        location: 'body',
        pointer: '/target_id',
        type: input.target_id ? 'value_error.unknown' : 'value_error.missing',
        message: 'The transaction has no such gift card redemption',
      },
    ])
  }
  return await transact(ctx, async (ctx) => {
    const id = ctx.newId()
    const now = ctx.now()
    const found = await lockTransaction(ctx.db, ctx.accounts, transactionId)
    if (!found) throw notFound()
    const { row, instrument } = found
    await holdKey(ctx, key, { merchantAccountId: row.merchant_account_id, transactionId, resourceId: id })
    if (!service || instrument.captured_amount === 0) {
      throw wrongState(`Only a captured transaction can be refunded; this one is ${row.status}`)
    }
    const features = service.connector.definition.supported_features
    if (!features.refunds) throw unsupported('transaction_id', 'The provider cannot refund')
    const left = instrument.captured_amount - instrument.refunded_amount - instrument.refunding_amount
    const amount = input.amount ?? left
    if (amount < left && !features.partial_refunds) throw unsupported('/amount', 'The provider refunds all or nothing')
    if (amount === 0) throw wrongState('Everything is refunded already')
    if (!(await reserveRefund(ctx.db, ctx.accounts, transactionId, amount))) {
      throw invalidBody('/amount', 'value_error.range', `Must be at most ${left}, which is left to refund`)
    }
    const refund = await insertRefund(ctx.db, {
      merchant_account_id: row.merchant_account_id,
      transaction_id: transactionId,
      id,
      instrument: 0,
      amount,
      currency: row.currency,
      reason: input.reason ?? null,
      external_identifier: input.external_identifier ?? null,
      creator_id: ctx.caller.keyPairId,
      creator_name: ctx.caller.displayName,
      creator_thumbprint: ctx.caller.thumbprint,
      created_at: timeOfId(id),
    })
    const attempt = newAttempt(ctx, row, 'refund', { service, amount, subjectId: id, key, now })
    await insertAttempt(ctx.db, attempt)
    await audit(ctx, 'created', {
      type: 'refund',
      id,
      name: input.external_identifier ?? id,
      merchantAccountId: row.merchant_account_id,
    })
    await failpoint('refund: intent not yet committed')
    return { row, refund: presentRefund(refund, row), attempt, service }
  })
}

/** What became of a refund, whoever found out. Returns the refund as it is then. */
export async function settleRefund(
  system: System,
  attempt: Pick<AttemptRow, 'merchant_account_id' | 'transaction_id' | 'id' | 'subject_id' | 'amount' | 'checks'>,
  outcome: FollowUpOutcome,
  answer: { key: Pick<NewKey, 'operation' | 'key'>; render: (refund: Refund) => string } | null,
): Promise<Refund> {
  return await transact({ ...system, accounts: [attempt.merchant_account_id] }, async (ctx) => {
    const { transaction_id: transactionId, amount } = attempt
    const id = attempt.subject_id ?? ''
    const now = ctx.now()
    const transaction = await lockOwner(ctx, transactionId)
    const isOurs = await closeFollowUp(ctx, attempt, outcome)
    const result = resultOf(outcome)
    const status = result.status === 'pending' ? 'processing' : result.status
    const change: Parameters<typeof updateRefund>[3] = {
      status,
      payment_service_refund_id: 'providerReference' in outcome ? outcome.providerReference : null,
      error_code: result.code,
      raw_response_code: result.rawCode,
      raw_response_description: result.rawDescription,
    }
    const refund = isOurs
      ? await updateRefund(ctx.db, ctx.accounts, id, change, now)
      : await findRefund(ctx.db, ctx.accounts, id)
    if (!refund) throw new Error('an attempt without its refund')
    if (isOurs && status !== 'processing') {
      await settleRefundAmounts(ctx.db, ctx.accounts, transactionId, { amount, refunded: status === 'succeeded', now })
      if (status === 'succeeded' && transaction.settled) await checkRefund(ctx, transaction)
    }
    const presented = presentRefund(refund, transaction)
    if (isOurs) {
      const name: EventName = `refund.${result.status}`
      await emit(ctx, name, {
        target: presented,
        merchantAccountId: refund.merchant_account_id,
        sequence: refund.version,
      })
      const context = { refund_id: id, amount, ...result }
      await insertTimeline(ctx.db, refund.merchant_account_id, [
        timelineEntry(ctx, transactionId, `payment-connector-response-transaction-refund-${result.status}`, context),
      ])
    }
    if (answer) await storeAnswer(ctx.db, ctx.accounts, answer.key, { status: 201, body: answer.render(presented) })
    await failpoint('refund: outcome not yet committed')
    return presented
  })
}

function presentRefund(row: RefundRow, transaction: TransactionRow): Refund {
  return {
    type: 'refund',
    id: row.id,
    transaction_id: row.transaction_id,
    payment_service_refund_id: row.payment_service_refund_id,
    status: row.status,
    currency: row.currency,
    amount: row.amount,
    reason: row.reason,
    target_type: 'payment-method',
    target_id: transaction.payment_method_id,
    reconciliation_id: reconciliationIdOf(row.id),
    external_identifier: row.external_identifier,
    transaction_reconciliation_id: reconciliationIdOf(row.transaction_id),
    transaction_external_identifier: transaction.external_identifier,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    creator:
      row.creator_id === null
        ? null
        : {
            id: row.creator_id,
            name: row.creator_name,
            email_address: null,
            thumbprint: row.creator_thumbprint,
          },
    error_code: row.error_code,
    raw_response_code: row.raw_response_code,
    raw_response_description: row.raw_response_description,
    settled_currency: row.settled_currency,
    settled_amount: row.settled_amount,
    settled: row.settled,
  }
}
