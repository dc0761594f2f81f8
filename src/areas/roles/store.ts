import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import type { Db } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'

export interface RoleRow {
  id: string
  slug: string
  name: string
  description: string
  permissions: string[]
  assignable_to: ('user' | 'api-key-pair')[]
  applies_to: string[]
  is_standalone_assignable: boolean
}

export const roleColumns = sql`
  roles.id, roles.slug, roles.name, roles.description, roles.permissions, roles.assignable_to, roles.applies_to,
  roles.is_standalone_assignable`

/** Roles belong to the instance: every caller sees the same ones. */
export function listRoleRows(db: Db, page: PageRequest): Promise<PageRows<RoleRow>> {
  return readPage(db, 'all', page, {
    columns: roleColumns,
    from: sql`roles`,
    where: () => sql`true`,
    id: sql`roles.id`,
  })
}

export function findRoles(db: Db, ids: readonly string[]): Promise<RoleRow[]> {
  return db.run<RoleRow>(sql`select ${roleColumns} from roles where id = any(${ids}::uuid[])`)
}
