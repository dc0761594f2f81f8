import type { Context } from '../../context.ts'
import { type PageRequest, toCollection } from '../../page.ts'
import type { Collection } from '../../schema.ts'
import type { Role } from './schema.ts'
import { findRoles, listRoleRows, type RoleRow } from './store.ts'

export async function listRoles(ctx: Context, page: PageRequest): Promise<Collection<Role>> {
  return toCollection(page, await listRoleRows(ctx.db, page), ({ id }) => id, presentRole)
}

/** The roles with these ids; unknown ids are simply missing. */
export async function getRoles(ctx: Pick<Context, 'db'>, ids: readonly string[]): Promise<Role[]> {
  return (await findRoles(ctx.db, ids)).map(presentRole)
}

export function presentRole(row: RoleRow): Role {
  return {
    type: 'role',
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    permissions: { allow: row.permissions },
    assignable_to: row.assignable_to,
    applies_to: row.applies_to,
    is_standalone_assignable: row.is_standalone_assignable,
  }
}
