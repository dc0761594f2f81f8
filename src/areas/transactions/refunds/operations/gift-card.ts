import { findGiftCardService, askGiftCards } from '../../../gift-card-services/operations/routing.ts'
import { failpoint } from '../../../../platform/failpoint.ts'
import { transact } from '../../../../platform/postgres.ts'
import { closeFollowUp, type FollowUpOutcome, nobodyToAsk, type System } from '../../operations/follow-up.ts'
import { findRedemptions, type RedemptionRow } from '../../redemptions/store.ts'
import type { AttemptRow, TransactionRow } from '../../store/rows.ts'
import { findTransaction } from '../../store/transactions.ts'
import { findRefund } from '../store.ts'
import { settleRefund } from './settle.ts'

/** Asks the provider of a gift card to give money back, in the words of the other providers. It may be asked again: the call has a name. */
export async function askForRefund(
  ctx: System,
  { currency }: Pick<TransactionRow, 'currency'>,
  { id: reference, amount }: Pick<AttemptRow, 'id' | 'amount'>,
  redemption: RedemptionRow,
): Promise<FollowUpOutcome> {
  const { merchant_account_id: merchantAccountId, gift_card_service_id, id: redemptionReference } = redemption
  const service = await findGiftCardService(ctx, { merchantAccountId, id: gift_card_service_id })
  if (!service) return { result: 'unknown' }
  const outcome = await askGiftCards(ctx, service, (connector, signal) =>
    connector.refund({ service: service.access, signal, reference, redemptionReference, amount, currency }),
  )
  if (outcome.result === 'unknown') return outcome
  if (outcome.result === 'succeeded') return { ...nobodyToAsk, amount, providerReference: outcome.providerReference }
  const { errorCode, rawCode, rawMessage: rawDescription } = outcome
  return { result: 'failed', errorCode, retriable: false, providerReference: null, rawCode, rawDescription }
}

/** A refund to a gift card whose end nobody knows is asked for again. True when it is known now. */
export async function resolveGiftCardRefund(ctx: System, attempt: AttemptRow): Promise<boolean> {
  const accounts = [attempt.merchant_account_id]
  const [row, refund, redemptions] = await Promise.all([
    findTransaction(ctx.db, accounts, attempt.transaction_id),
    findRefund(ctx.db, accounts, attempt.subject_id ?? ''),
    findRedemptions(ctx.db, accounts, attempt.transaction_id),
  ])
  const redemption = redemptions.find(({ id }) => id === refund?.gift_card_redemption_id)
  if (!row || !redemption) throw new Error('an attempt without its refund')
  const outcome = await askForRefund(ctx, row, attempt, redemption)
  await failpoint('resolve: gift card refund answered')
  if (outcome.result === 'unknown') {
    await transact({ ...ctx, accounts }, (ctx) => closeFollowUp(ctx, attempt, outcome))
    return false
  }
  await settleRefund(ctx, attempt, outcome, null)
  return true
}
