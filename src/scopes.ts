/** Resources a token can be scoped to; each has `.read` and `.write`. */
const resources = [
  'anti-fraud-service-definitions',
  'anti-fraud-services',
  'api-key-pairs',
  'api-logs',
  'apple-pay-certificates',
  'audit-logs',
  'bin-checker',
  'business-contexts',
  'buyers',
  'buyers.billing-details',
  'card-scheme-definitions',
  'checkout-sessions',
  'connections',
  'digital-wallets',
  'events',
  'flows',
  'gift-card-service-definitions',
  'gift-card-services',
  'gift-cards',
  'health-dashboard',
  'merchant-accounts',
  'metrics-explorer',
  'monitoring',
  'payment-links',
  'payment-method-definitions',
  'payment-methods',
  'payment-options',
  'payment-service-definitions',
  'payment-services',
  'payouts',
  'reports',
  'reset',
  'roles',
  'sessions',
  'three-ds-scenarios',
  'transactions',
  'users',
  'users.me',
  'vault-forward',
  'vault-forward-authentications',
  'vault-forward-configs',
  'vault-forward-definitions',
  'webhook-subscriptions',
] as const

type Resource = (typeof resources)[number]
export type Scope = `${Resource}.${'read' | 'write'}` | 'embed' | 'sessions.refresh'

const readScopes = resources.map((resource): Scope => `${resource}.read`)
const writeScopes = resources.map((resource): Scope => `${resource}.write`)
export const allScopes: readonly Scope[] = [...readScopes, ...writeScopes, 'embed', 'sessions.refresh']
const known = new Set<string>(allScopes)

const isScope = (name: string): name is Scope => known.has(name)

/** Spells the wildcards `*.read` and `*.write` out; names that mean nothing are left out. */
export function expandScopes(names: readonly string[]): Set<Scope> {
  const scopes = new Set<Scope>()
  for (const name of names) {
    if (name === '*.read') for (const scope of readScopes) scopes.add(scope)
    else if (name === '*.write') for (const scope of writeScopes) scopes.add(scope)
    else if (isScope(name)) scopes.add(name)
  }
  return scopes
}

/**
 * What a token may do: its own scopes, cut with the permissions of its key pair's roles. One with `embed` is for a browser and may do nothing
 * else, whatever else it lists; that is not cut.
 */
export function effectiveScopes(tokenScopes: readonly string[], permissions: readonly string[]): Set<Scope> {
  const own = expandScopes(tokenScopes)
  if (own.has('embed')) return new Set(['embed'])
  const granted = expandScopes(permissions)
  return new Set([...own].filter((scope) => granted.has(scope)))
}
