import { type Static, Type } from 'typebox'
import { Constant } from '../../schema.ts'

const Field = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 50, example: 'api_key' }),
    display_name: Type.String({ minLength: 1, maxLength: 200, example: 'API key' }),
    required: Type.Boolean(),
    secret: Type.Boolean({ description: 'Whether its value can be set and never read.' }),
  },
  { title: 'GiftCardServiceDefinitionField' },
)

export const GiftCardServiceDefinition = Type.Object(
  {
    type: Constant('gift-card-service-definition'),
    id: Type.String({ minLength: 1, maxLength: 50, example: 'mock-gift-card' }),
    display_name: Type.String({ minLength: 1, maxLength: 200, example: 'Sandbox gift card provider' }),
    fields: Type.Array(Field, { description: 'What a gift card service of this kind is set up with.' }),
  },
  { title: 'GiftCardServiceDefinition' },
)
export type GiftCardServiceDefinition = Static<typeof GiftCardServiceDefinition>

export const GiftCardServiceDefinitions = Type.Object(
  { items: Type.Array(GiftCardServiceDefinition) },
  { title: 'GiftCardServiceDefinitions' },
)
