import type { EventName } from '../../../../events/catalog.ts'
import { emit } from '../../../../events/outbox.ts'
import { type NewKey, storeAnswer } from '../../../../idempotency/store.ts'
import { failpoint } from '../../../../platform/failpoint.ts'
import { transact } from '../../../../platform/postgres.ts'
import { closeFollowUp, type FollowUpOutcome, lockOwner, resultOf, type System } from '../../operations/follow-up.ts'
import { renderRedemptions } from '../../operations/render.ts'
import { timelineEntry } from '../../operations/report.ts'
import { findRedemptions, writeRedemptionText } from '../../redemptions/store.ts'
import { checkRefund } from '../../statements/operations/ingest.ts'
import type { AttemptRow } from '../../store/rows.ts'
import { insertTimeline } from '../../store/transactions.ts'
import type { Refund } from '../schema.ts'
import { findRefund, settleRefundAmounts, updateRefund } from '../store.ts'
import { presentRefund } from './read.ts'

/** Where the answer to the request goes that asked for it. */
export interface RefundAnswer {
  key: Pick<NewKey, 'operation' | 'key'>
  render: (refund: Refund) => string
}

/** What became of a refund, whoever found out. Returns the refund as it is then. */
export async function settleRefund(
  system: System,
  attempt: Pick<AttemptRow, 'merchant_account_id' | 'transaction_id' | 'id' | 'subject_id' | 'amount' | 'checks'>,
  outcome: FollowUpOutcome,
  answer: RefundAnswer | null,
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
      const { instrument: position } = refund
      await settleRefundAmounts(ctx.db, ctx.accounts, transactionId, {
        position,
        amount,
        refunded: status === 'succeeded',
        now,
      })
      if (refund.gift_card_redemption_id) {
        const redemptions = await findRedemptions(ctx.db, ctx.accounts, transactionId)
        await writeRedemptionText(ctx.db, ctx.accounts, transactionId, renderRedemptions(redemptions))
      }
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
        timelineEntry(
          ctx,
          transactionId,
          `${refund.gift_card_redemption_id ? 'gift-card' : 'payment-connector-response-transaction'}-refund-${result.status}`,
          context,
        ),
      ])
    }
    if (answer) await storeAnswer(ctx.db, ctx.accounts, answer.key, { status: 201, body: answer.render(presented) })
    await failpoint('refund: outcome not yet committed')
    return presented
  })
}
