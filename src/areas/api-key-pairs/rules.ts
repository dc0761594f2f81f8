import { expandScopes, type Scope } from '../../scopes.ts'

/** Scopes that these permissions would grant and the granting caller does not have. */
export function excessScopes(permissions: readonly string[], own: ReadonlySet<Scope>): Scope[] {
  return [...expandScopes(permissions)].filter((scope) => !own.has(scope))
}

/** A key pair that is bound to one account belongs to that account's audit log; any other concerns the instance. */
export const homeAccount = (merchantAccountIds: readonly string[]): string | null =>
  merchantAccountIds.length === 1 ? (merchantAccountIds[0] ?? null) : null
