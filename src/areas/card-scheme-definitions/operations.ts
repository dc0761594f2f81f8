import { cardSchemeIds, cardSchemes } from '../../card-schemes.ts'
import type { Context } from '../../context.ts'
import type { CardSchemeDefinition } from './schema.ts'

export function listCardSchemeDefinitions(ctx: Pick<Context, 'baseUrl'>): { items: CardSchemeDefinition[] } {
  return {
    items: cardSchemeIds.map((id) => ({
      type: 'card-scheme-definition',
      id,
      icon_url: `${ctx.baseUrl}/card-schemes/${id}.svg`,
      display_name: cardSchemes[id],
    })),
  }
}
