import { route } from '../../http/route.ts'
import { listGiftCardServiceDefinitions } from './operations.ts'
import { GiftCardServiceDefinitions } from './schema.ts'

export const giftCardServiceDefinitionRoutes = [
  route({
    id: 'listGiftCardServiceDefinitions',
    method: 'GET',
    path: '/gift-card-service-definitions',
    summary: 'List gift card service definitions',
    description:
      'Every gift card provider that this instance can talk to, with what a gift card service of its kind needs.',
    scope: 'gift-card-service-definitions.read',
    merchantAccount: 'none',
    returns: [200, GiftCardServiceDefinitions],
    handle: (ctx) => listGiftCardServiceDefinitions(ctx),
  }),
]
