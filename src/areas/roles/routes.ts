import { route } from '../../http/route.ts'
import { listRoles } from './operations.ts'
import { ListRolesQuery, Roles } from './schema.ts'

export const roleRoutes = [
  route({
    id: 'listRoles',
    method: 'GET',
    path: '/roles',
    summary: 'List roles',
    description: 'Roles say what a key pair or a user may do. They come with the service and cannot be changed.',
    scope: 'roles.read',
    merchantAccount: 'none',
    query: ListRolesQuery,
    paged: true,
    returns: [200, Roles],
    handle: (ctx, { page }) => listRoles(ctx, page),
  }),
]
