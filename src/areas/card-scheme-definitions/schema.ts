import { type Static, Type } from 'typebox'
import { cardSchemeIds } from '../../card-schemes.ts'
import { Constant, Enum } from '../../schema.ts'

export const CardScheme = Enum(cardSchemeIds)

export const CardSchemeDefinition = Type.Object(
  {
    type: Constant('card-scheme-definition'),
    id: Enum(cardSchemeIds, { description: 'The identifier of the scheme.', example: 'visa' }),
    icon_url: Type.String({
      format: 'uri',
      description: 'An SVG icon.',
      example: 'https://api.example.com/card-schemes/visa.svg',
    }),
    display_name: Type.String({ example: 'Visa' }),
  },
  { title: 'CardSchemeDefinition' },
)
export type CardSchemeDefinition = Static<typeof CardSchemeDefinition>

export const CardSchemeDefinitions = Type.Object(
  { items: Type.Array(CardSchemeDefinition) },
  { title: 'CardSchemeDefinitions' },
)
