import type { Caller } from '../context.ts'
import { type Route, scopesOf } from './route.ts'

/** What a browser calls by itself. */

/** The id in the path is all that it needs to know, so no token is asked for and none is looked at. */
export const isOpen = ({ scope }: Pick<Route, 'scope'>) => scope === 'none'

/** With an id or with a token of its own. What is signed as a whole comes from servers. */
export const isForBrowsers = (route: Pick<Route, 'scope' | 'raw'>) =>
  (isOpen(route) && !route.raw) || scopesOf(route).includes('embed')

/** Who calls them, for the audit log. It reaches no account: the operation finds the one that the id belongs to. */
export const browser: Caller = {
  keyPairId: null,
  thumbprint: null,
  displayName: 'checkout session',
  tokenId: null,
  scopes: new Set(),
  reach: [],
  pins: null,
  checkoutSessionId: null,
}

/** Pages of any origin may read the answers: no cookie and no other credential that a browser adds by itself counts here. */
export const openHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, link, retry-after, ratelimit, ratelimit-policy, idempotency-replayed',
}

export interface Preflight {
  method: 'OPTIONS'
  path: string
  headers: Readonly<Record<string, string>>
}

/** What a browser asks before it sends JSON or a token to another origin, once for each path with routes for browsers. */
export function preflightsOf(routes: readonly Route[], accountHeaderName: string): Preflight[] {
  const forBrowsers = routes.filter(isForBrowsers)
  return [...new Set(forBrowsers.map(({ path }) => path))].map((path) => {
    const here = forBrowsers.filter((route) => route.path === path)
    const withToken = ['authorization', 'content-type', 'idempotency-key', accountHeaderName.toLowerCase()]
    return {
      method: 'OPTIONS',
      path,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': here
          .map(({ method }) => method)
          .sort()
          .join(', '),
        'access-control-allow-headers': here.every(isOpen) ? 'content-type' : withToken.join(', '),
        'access-control-max-age': '7200',
      },
    }
  })
}
