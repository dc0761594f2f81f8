import { type Static, Type } from 'typebox'
import { type GiftCardErrorCode, giftCardErrorCodes } from '../../../connectors/gift-card.ts'
import { Amount } from '../../../purchase.ts'
import { Body, Constant, Enum, Nullable, optional, Uuid } from '../../../schema.ts'

export type { GiftCardErrorCode }

export const redemptionStatuses = ['created', 'succeeded', 'failed', 'skipped'] as const
export type RedemptionStatus = (typeof redemptionStatuses)[number]

const Text = (description: string) => Nullable(Type.String({ description }))

const TransactionGiftCard = Type.Object(
  {
    type: Constant('gift-card'),
    id: Nullable(Uuid({ description: 'Of a stored gift card.' })),
    bin: Type.String({ description: 'The first six digits.', example: '412345' }),
    sub_bin: Type.String({ description: 'The next three digits.', example: '678' }),
    last4: Type.String({ description: 'The last four digits.', example: '1234' }),
  },
  { title: 'TransactionGiftCard' },
)

export const GiftCardRedemption = Type.Object(
  {
    type: Constant('gift-card-redemption'),
    id: Uuid(),
    status: Enum(redemptionStatuses, {
      description: '`skipped`: the payment ended before this card was asked for money.',
      example: 'succeeded',
    }),
    amount: Amount({ example: 500 }),
    refunded_amount: Amount({ example: 0 }),
    gift_card_service_redemption_id: Text("The provider's own id of the redemption."),
    error_code: Nullable(
      Enum(giftCardErrorCodes, { description: '`operation_canceled`: given back, because another part was not paid.' }),
    ),
    raw_error_code: Text('As the provider gave it.'),
    raw_error_message: Text('As the provider gave it.'),
    gift_card: TransactionGiftCard,
  },
  { title: 'GiftCardRedemption' },
)
export type GiftCardRedemption = Static<typeof GiftCardRedemption>

/** A stored card by its id, or a new one by number and PIN. */
export const GiftCardToPay = Body(
  {
    amount: Amount({ minimum: 1, description: 'What this card pays of the amount.', example: 500 }),
    ...optional({
      id: Uuid({ description: 'Of a stored gift card.' }),
      number: Type.String({ pattern: '^\\d{16,19}$', description: 'Of a card that is not stored; with its PIN.' }),
      pin: Type.String({ minLength: 1, maxLength: 100, description: 'Handed to the provider and forgotten.' }),
    }),
  },
  { title: 'GiftCardTransactionCreate' },
)
export type GiftCardToPay = Static<typeof GiftCardToPay>
