import { listRoles } from '../areas/roles/operations.ts'
import type { Context } from '../context.ts'
import { CommandError } from './output.ts'

/** Ids of the roles that people know by their slugs. */
export async function findRoleIds(ctx: Context, slugs: readonly string[]): Promise<string[]> {
  const { items } = await listRoles(ctx, { limit: 100, position: undefined, seal: () => '' })
  const assignable = items.filter((role) => role.assignable_to.includes('api-key-pair'))
  const known = new Map(assignable.map(({ slug, id }) => [slug, id]))
  return [...new Set(slugs)].map((slug) => {
    const id = known.get(slug)
    if (id) return id
    throw new CommandError(`There is no role "${slug}" for key pairs. Choose among: ${[...known.keys()].join(', ')}.`)
  })
}
