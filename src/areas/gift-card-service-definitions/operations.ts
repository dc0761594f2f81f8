import type { Context } from '../../context.ts'
import type { GiftCardServiceDefinition } from './schema.ts'

export const listGiftCardServiceDefinitions = ({
  giftCards,
}: Pick<Context, 'giftCards'>): { items: GiftCardServiceDefinition[] } => ({
  items: [...giftCards.values()].map(({ definition }) => ({
    type: 'gift-card-service-definition',
    ...definition,
    fields: [...definition.fields],
  })),
})
