import { type Static, Type } from 'typebox'
import { Body, Collection, Constant, DateTime, Nullable, optional, PageQuery, Uuid } from '../../schema.ts'

const DefinitionId = Type.String({
  minLength: 1,
  maxLength: 50,
  description: 'Id of the gift card service definition.',
  example: 'mock-gift-card',
})
const DisplayName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'A name to show to people.',
  example: 'Gift cards',
})
const Active = Type.Boolean({
  default: true,
  description: 'Whether new cards go to it. One service of a merchant account is active at most.',
})

const Key = Type.String({ minLength: 1, maxLength: 50, description: 'As in the definition.', example: 'api_key' })
const Fields = (title: string, value: object = {}) => {
  const text = Type.String({ maxLength: 10_000, example: 'a-key-of-the-provider', ...value })
  const description = 'What its definition asks for. Secrets are never shown.'
  return Type.Array(Body({ key: Key, value: text }, { title }), { maxItems: 100, description })
}

/** What gift cards say of the service that they are with. */
export const GiftCardServiceSummary = Type.Object(
  {
    type: Constant('gift-card-service'),
    id: Uuid(),
    gift_card_service_definition_id: DefinitionId,
    display_name: DisplayName,
  },
  { title: 'GiftCardServiceSummary' },
)
export type GiftCardServiceSummary = Static<typeof GiftCardServiceSummary>

export const GiftCardService = Type.Object(
  {
    type: Constant('gift-card-service'),
    id: Uuid(),
    merchant_account_id: Type.String({ example: 'default' }),
    gift_card_service_definition_id: DefinitionId,
    display_name: DisplayName,
    active: Active,
    fields: Fields('GiftCardServiceField'),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'GiftCardService' },
)
export type GiftCardService = Static<typeof GiftCardService>

export const GiftCardServices = Collection(GiftCardService, { title: 'GiftCardServices' })

export const NewGiftCardService = Body(
  {
    gift_card_service_definition_id: DefinitionId,
    display_name: DisplayName,
    fields: Fields('GiftCardServiceFieldCreate', { minLength: 1 }),
    ...optional({ active: Nullable(Active) }),
  },
  { title: 'GiftCardServiceCreate' },
)
export type NewGiftCardService = Static<typeof NewGiftCardService>

export const GiftCardServiceUpdate = Body(
  optional({
    display_name: Nullable(DisplayName),
    active: Nullable(Active),
    fields: Nullable(Fields('GiftCardServiceFieldUpdate', { description: 'Empty: clears it.' })),
  }),
  { title: 'GiftCardServiceUpdate' },
)
export type GiftCardServiceUpdate = Static<typeof GiftCardServiceUpdate>

export const GiftCardServicePath = Type.Object({
  gift_card_service_id: Uuid({ description: 'Id of the gift card service.' }),
})

export const ListGiftCardServicesQuery = Type.Object(PageQuery)
