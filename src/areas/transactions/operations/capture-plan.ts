import type { Context } from '../../../context.ts'
import { invalidBody } from '../../../errors.ts'
import { getMerchantAccount } from '../../merchant-accounts/operations.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import { captureLimit, type TransactionStatus } from '../rules.ts'
import type { CaptureInput } from '../schema/create.ts'
import type { InstrumentRow, TransactionRow } from '../store/rows.ts'
import { unsupported, wrongState } from './follow-up.ts'

/** What a capture is to take, and from whom. */

export const cannotCapture = (status: TransactionStatus) =>
  `Only an authorized transaction can be captured; this one is ${status}`

/** Gift cards pay everything: the main method has no part. */
export const isAlone = ({ amount }: InstrumentRow) => amount === 0

interface CapturePlan {
  /** What the main method is to pay. */
  amount: number
  limit: number
  final: boolean
}

export function planAlone(row: TransactionRow, { amount, final }: CaptureInput, giftCards: number): CapturePlan {
  if (giftCards === 0) throw wrongState(cannotCapture(row.status))
  if (final === false) throw unsupported('/final', 'Gift cards are captured once; it must be final')
  if ((amount ?? giftCards) !== giftCards) {
    throw invalidBody(
      '/amount',
      'value_error.range',
      `Must be ${giftCards}: gift cards are captured whole. Refund what is too much`,
    )
  }
  return { amount: 0, limit: 0, final: true }
}

export async function planCapture(
  ctx: Context,
  {
    row,
    instrument,
    service,
    input,
    giftCards,
  }: {
    row: TransactionRow
    instrument: InstrumentRow
    service: UsableService | undefined
    input: CaptureInput
    giftCards: number
  },
): Promise<CapturePlan> {
  if (!service || !instrument.capturable) throw wrongState(cannotCapture(row.status))
  const features = service.connector.definition.supported_features
  const final = input.final ?? true
  if (!final && !features.multi_capture) throw unsupported('/final', 'The provider takes one capture; it must be final')
  const left = instrument.authorized_amount - instrument.captured_amount
  // The part of the gift cards is captured first, and whole.
  const amount = typeof input.amount === 'number' ? input.amount - giftCards : left
  if (amount <= 0 && giftCards > 0) {
    throw invalidBody(
      '/amount',
      'value_error.range',
      `Must be more than ${giftCards}, which gift cards have paid. Refund what is too much, or void and pay anew`,
    )
  }
  // After captures that were not final there may be nothing left, or less than nothing.
  if (amount <= 0) throw wrongState('Everything that was authorized is captured already; name an amount for more')
  if (amount < left && !features.partial_capture) {
    throw unsupported('/amount', 'The provider captures the whole authorization or nothing')
  }
  const account = await getMerchantAccount(ctx, row.merchant_account_id)
  const limit = features.over_capture
    ? captureLimit(instrument.authorized_amount, {
        amount: account.over_capture_amount,
        percentage: account.over_capture_percentage,
      })
    : instrument.authorized_amount
  return { amount, limit, final }
}
