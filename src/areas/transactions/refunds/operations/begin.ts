import type { Context } from '../../../../context.ts'
import { invalidBody } from '../../../../errors.ts'
import { timeOfId } from '../../../../ids.ts'
import type { NewKey } from '../../../../idempotency/store.ts'
import { audit } from '../../../audit-logs/operations.ts'
import type { UsableService } from '../../../payment-services/operations/routing.ts'
import { newAttempt, unsupported, wrongState } from '../../operations/follow-up.ts'
import type { RedemptionRow } from '../../redemptions/store.ts'
import { insertAttempt, type NewAttempt } from '../../store/attempts.ts'
import type { InstrumentRow, TransactionRow } from '../../store/rows.ts'
import type { NewRefund, Refund } from '../schema.ts'
import { insertRefund, reserveRefund } from '../store.ts'
import { presentRefund } from './read.ts'

/** Who gives the money back: the provider of the main method, or that of a gift card. */
export type RefundTarget =
  | { redemption: null; service: UsableService | undefined }
  | { redemption: RedemptionRow; service: undefined }

/** A refund whose promise is on record. */
export interface BegunRefund {
  row: TransactionRow
  refund: Refund
  attempt: NewAttempt
  target: RefundTarget
  reason: string | null
}

export const leftToRefund = ({ captured_amount, refunded_amount, refunding_amount }: InstrumentRow) =>
  captured_amount - refunded_amount - refunding_amount

/** In the transaction of the intent, under the lock of the payment. */
export async function beginRefund(
  ctx: Context,
  {
    id,
    row,
    instrument,
    target,
    input,
    key,
  }: {
    id: string
    row: TransactionRow
    instrument: InstrumentRow
    target: RefundTarget
    input: Pick<NewRefund, 'amount' | 'reason' | 'external_identifier'>
    key: NewKey | null
  },
): Promise<BegunRefund> {
  if ((!target.service && !target.redemption) || instrument.captured_amount === 0) {
    throw wrongState(`Only a captured transaction can be refunded; this one is ${row.status}`)
  }
  const left = leftToRefund(instrument)
  const amount = input.amount ?? left
  if (target.service) checkFeatures(target.service, amount < left)
  if (amount === 0) throw wrongState('Everything is refunded already')
  const { merchant_account_id } = row
  if (!(await reserveRefund(ctx.db, ctx.accounts, row.id, instrument.position, amount))) {
    throw invalidBody('/amount', 'value_error.range', `Must be at most ${left}, which is left to refund`)
  }
  const refund = await insertRefund(ctx.db, {
    merchant_account_id,
    transaction_id: row.id,
    id,
    instrument: instrument.position,
    gift_card_redemption_id: target.redemption?.id ?? null,
    amount,
    currency: row.currency,
    reason: input.reason ?? null,
    external_identifier: input.external_identifier ?? null,
    creator_id: ctx.caller.keyPairId,
    creator_name: ctx.caller.displayName,
    creator_thumbprint: ctx.caller.thumbprint,
    created_at: timeOfId(id),
  })
  const action = target.redemption ? 'gift-card-refund' : 'refund'
  const now = ctx.now()
  const attempt = newAttempt(ctx, row, action, { service: target.service, amount, subjectId: id, key, now })
  await insertAttempt(ctx.db, attempt)
  const name = input.external_identifier ?? id
  await audit(ctx, 'created', { type: 'refund', id, name, merchantAccountId: merchant_account_id })
  return { row, refund: presentRefund(refund, row), attempt, target, reason: input.reason ?? null }
}

function checkFeatures(service: UsableService, isPartial: boolean): void {
  const { supported_features: features } = service.connector.definition
  if (!features.refunds) throw unsupported('transaction_id', 'The provider cannot refund')
  if (isPartial && !features.partial_refunds) throw unsupported('/amount', 'The provider refunds all or nothing')
}
