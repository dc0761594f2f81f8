import type { Caller } from '../context.ts'
import type { Route } from './route.ts'

/** What a browser calls by itself. The id in the path is all it needs to know, so no token is asked for and none is looked at. */

export const isOpen = ({ scope }: Pick<Route, 'scope'>) => scope === 'none'

/** What is signed comes from servers. */
export const isForBrowsers = (route: Pick<Route, 'scope' | 'raw'>) => isOpen(route) && !route.raw

/** Who calls them, for the audit log. It reaches no account: the operation finds the one that the id belongs to. */
export const browser: Caller = {
  keyPairId: null,
  thumbprint: null,
  displayName: 'checkout session',
  tokenId: null,
  scopes: new Set(),
  reach: [],
}

/** Pages of any origin may read the answers: no cookie and no other credential of the browser's counts here. */
export const openHeaders = { 'access-control-allow-origin': '*' }

export interface Preflight {
  method: 'OPTIONS'
  path: string
  headers: Readonly<Record<string, string>>
}

/** What a browser asks before it sends JSON to another origin, once for each path with open routes. */
export function preflightsOf(routes: readonly Route[]): Preflight[] {
  const open = routes.filter(isForBrowsers)
  return [...new Set(open.map(({ path }) => path))].map((path) => ({
    method: 'OPTIONS',
    path,
    headers: {
      ...openHeaders,
      'access-control-allow-methods': open
        .filter((route) => route.path === path)
        .map(({ method }) => method)
        .sort()
        .join(', '),
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '7200',
    },
  }))
}
