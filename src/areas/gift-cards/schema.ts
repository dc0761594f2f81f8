import { type Static, Type } from 'typebox'
import { giftCardErrorCodes } from '../../connectors/gift-card.ts'
import { Body, Collection, Constant, DateTime, Enum, Nullable, optional, PageQuery, Uuid } from '../../schema.ts'
import { Buyer } from '../buyers/schema.ts'
import { GiftCardServiceSummary } from '../gift-card-services/schema.ts'

const MerchantAccountId = Type.String({ example: 'default' })
const Currency = Type.String({ pattern: '^[A-Z]{3}$', example: 'EUR' })
const Amount = Type.Integer({ minimum: 0, maximum: 99_999_999, description: 'In minor units.', example: 5000 })

const parts = {
  bin: Type.String({ description: 'The first six digits of the number.', example: '603500' }),
  sub_bin: Type.String({ description: 'The next three.', example: '000' }),
  last4: Type.String({ description: 'The last four.', example: '1234' }),
}
const uses = {
  last_used_at: Nullable(DateTime({ description: 'When a payment was last made with it.' })),
  usage_count: Type.Integer({ minimum: 0, description: 'Payments made with it.' }),
  cit_last_used_at: Nullable(DateTime({ description: 'The same of payments that the buyer made.' })),
  cit_usage_count: Type.Integer({ minimum: 0 }),
}

export const GiftCard = Type.Object(
  {
    type: Constant('gift-card'),
    id: Uuid(),
    merchant_account_id: MerchantAccountId,
    gift_card_service: GiftCardServiceSummary,
    ...parts,
    expiration_date: Nullable(DateTime()),
    buyer: Type.Union([Buyer, Type.Null()]),
    ...uses,
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'GiftCard' },
)
export type GiftCard = Static<typeof GiftCard>

export const GiftCards = Collection(GiftCard, { title: 'GiftCards' })

export const GiftCardSummary = Type.Object(
  {
    type: Constant('gift-card'),
    id: Nullable(Uuid({ description: 'Null for a card that is not stored.' })),
    merchant_account_id: MerchantAccountId,
    ...parts,
    currency: Nullable(Currency),
    expiration_date: Nullable(DateTime()),
    balance: Nullable(Type.Integer({ description: 'In minor units; null when the look-up failed.', example: 5000 })),
    balance_error_code: Nullable(Enum(giftCardErrorCodes, { description: 'Why the look-up failed.' })),
    balance_raw_error_code: Nullable(Type.String({ description: 'As the provider says it.' })),
    balance_raw_error_message: Nullable(Type.String({ description: 'As the provider says it.' })),
    ...uses,
  },
  { title: 'GiftCardSummary' },
)
export type GiftCardSummary = Static<typeof GiftCardSummary>

export const GiftCardSummaries = Type.Object({ items: Type.Array(GiftCardSummary) }, { title: 'GiftCardSummaries' })

const CardNumber = Type.String({
  pattern: '^[0-9]{16,19}$',
  description: 'The number of the gift card.',
  example: '6035000000001234',
})
const Pin = Type.String({ minLength: 1, maxLength: 100, description: 'The PIN of the gift card.', example: '05000' })
const owner = {
  buyer_id: Nullable(Uuid({ description: 'The buyer it belongs to; not together with `buyer_external_identifier`.' })),
  buyer_external_identifier: Nullable(Type.String({ minLength: 1, maxLength: 200, example: 'buyer-4711' })),
}

/** How a request names a card: a stored one by its id, any other by what is printed on it. Which of them is for the operation to check. */
export const GiftCardReference = optional({
  id: Uuid({ description: 'Id of a stored gift card; then nothing else.' }),
  number: CardNumber,
  pin: Pin,
})

export const BalancesRequest = Body(
  {
    items: Type.Array(Body(GiftCardReference, { title: 'GiftCardBalanceItem' }), {
      minItems: 1,
      maxItems: 100,
      description: 'The cards to look up, at most 10 by default: each either `id`, or `number` and `pin`.',
    }),
  },
  { title: 'GiftCardBalanceRequest' },
)
export type BalancesRequest = Static<typeof BalancesRequest>

export const NewGiftCard = Body({ number: CardNumber, pin: Pin, ...optional(owner) }, { title: 'GiftCardCreate' })
export type NewGiftCard = Static<typeof NewGiftCard>

const ExternalIdentifier = Type.String({ minLength: 1, maxLength: 200, example: 'order-4711' })

export const NewActivation = Body(
  {
    number: CardNumber,
    ...optional({
      pin: Nullable(Pin),
      amount: Nullable(Amount),
      currency: Nullable(Currency),
      external_identifier: Nullable(ExternalIdentifier),
      store: Type.Boolean({ default: false, description: 'Whether to store the card too; this needs its PIN.' }),
      ...owner,
    }),
  },
  { title: 'GiftCardActivationCreate' },
)
export type NewActivation = Static<typeof NewActivation>

export const NewIssuance = Body(
  {
    theme: Type.String({ minLength: 1, maxLength: 200, description: 'How the card looks, in words of the provider.' }),
    amount: Amount,
    currency: Currency,
    ...optional({ external_identifier: Nullable(ExternalIdentifier) }),
  },
  { title: 'GiftCardIssuanceCreate' },
)
export type NewIssuance = Static<typeof NewIssuance>

export const GiftCardIssuance = Type.Object(
  {
    type: Constant('gift-card-issuance'),
    id: Uuid(),
    merchant_account_id: MerchantAccountId,
    gift_card_service: GiftCardServiceSummary,
    gift_card_service_payment_issuance_id: Type.String({ description: "The provider's own id of it." }),
    url: Type.String({ description: 'Where the owner of the card fetches it.' }),
    amount: Amount,
    currency: Currency,
    external_identifier: Nullable(ExternalIdentifier),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'GiftCardIssuance' },
)
export type GiftCardIssuance = Static<typeof GiftCardIssuance>

export const GiftCardPath = Type.Object({ gift_card_id: Uuid({ description: 'Id of the gift card.' }) })

const buyerFilters = {
  buyer_id: Type.Optional(Uuid({ description: 'Only cards of this buyer.' })),
  buyer_external_identifier: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only cards of the buyer with this reference.' }),
  ),
}

export const ListGiftCardsQuery = Type.Object({ ...buyerFilters, ...PageQuery })
export type ListGiftCardsQuery = Static<typeof ListGiftCardsQuery>

export const ListBuyerGiftCardsQuery = Type.Object({
  ...buyerFilters,
  sort_by: Type.Optional(
    Enum(['last_used_at', 'usage_count', 'cit_last_used_at', 'cit_usage_count'], {
      description: 'Default: newest first.',
    }),
  ),
  order_by: Type.Optional(Enum(['asc', 'desc'], { default: 'desc', description: 'Direction of `sort_by`.' })),
})
export type ListBuyerGiftCardsQuery = Static<typeof ListBuyerGiftCardsQuery>
