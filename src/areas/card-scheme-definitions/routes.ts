import { route } from '../../http/route.ts'
import { listCardSchemeDefinitions } from './operations.ts'
import { CardSchemeDefinitions } from './schema.ts'

export const cardSchemeDefinitionRoutes = [
  route({
    id: 'listCardSchemeDefinitions',
    method: 'GET',
    path: '/card-scheme-definitions',
    summary: 'List card scheme definitions',
    description: 'Every card scheme the service knows, with a name and an icon to show to people.',
    scope: 'card-scheme-definitions.read',
    merchantAccount: 'list',
    returns: [200, CardSchemeDefinitions],
    handle: (ctx) => listCardSchemeDefinitions(ctx),
  }),
]
