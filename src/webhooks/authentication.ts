import { BoundedMap } from '../bounded-map.ts'
import type { StoredAuthentication } from '../areas/webhook-subscriptions/operations/endpoints.ts'
import { type Outbound, OutboundError } from './outbound.ts'

interface Secrets {
  password: string | null
  clientSecret: string | null
}

interface Endpoint {
  id: string
  /** Another one has another token. */
  version: number
  authentication: StoredAuthentication | null
}

export interface Authentication {
  /** What shows an endpoint who sends. Throws `OutboundError` where no token is to be had. */
  headersFor(endpoint: Endpoint, secrets: Secrets): Promise<Record<string, string>>
  /** The endpoint did not take it; the next one is asked for anew. */
  forget(endpoint: Pick<Endpoint, 'id'>): void
}

interface KeptToken {
  version: number
  until: number
  token: Promise<Token>
}

interface Token {
  value: string
  keptMs: number
}

const mostTokens = 10_000
const deadlineMs = 5_000
/** It is on its way for a while, and clocks differ. */
const marginMs = 30_000
/** Where nobody says how long it is good for. */
const usualMs = 5 * 60_000
const longestMs = 24 * 60 * 60_000

/** Tokens are kept in this process, one for each subscription; deliveries that need one at the same time share the call. */
export function createAuthentication({
  outbound,
  now,
}: {
  outbound: Pick<Outbound, 'post'>
  now: () => Date
}): Authentication {
  const tokens = new BoundedMap<string, KeptToken>(mostTokens)

  function tokenFor({ id, version }: Endpoint, ask: () => Promise<Token>): Promise<Token> {
    const known = tokens.get(id)
    if (known && known.version === version && known.until > now().getTime()) return known.token
    const kept: KeptToken = { version, until: Infinity, token: ask() }
    tokens.set(id, kept)
    kept.token.then(
      ({ keptMs }) => (kept.until = now().getTime() + keptMs),
      () => (kept.until = 0),
    )
    return kept.token
  }

  return {
    async headersFor(endpoint, secrets) {
      const { authentication } = endpoint
      if (!authentication) return {}
      if (authentication.kind === 'basic') {
        return { authorization: basic(authentication.username, secrets.password ?? '') }
      }
      const { value } = await tokenFor(endpoint, () => askForToken(outbound, authentication, secrets))
      return { authorization: `Bearer ${value}` }
    },
    forget({ id }) {
      tokens.delete(id)
    },
  }
}

const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`

/** As RFC 6749 has it (2.3.1, 4.3.2, 4.4.2). */
async function askForToken(
  outbound: Pick<Outbound, 'post'>,
  authentication: Exclude<StoredAuthentication, { kind: 'basic' }>,
  { password, clientSecret }: Secrets,
): Promise<Token> {
  const { client_id, token_url, scope } = authentication
  const form = new URLSearchParams(
    authentication.kind === 'oauth_password'
      ? { grant_type: 'password', username: authentication.username, password: password ?? '' }
      : { grant_type: 'client_credentials' },
  )
  if (scope !== null) form.set('scope', scope)
  const { status, body } = await outbound.post({
    url: token_url,
    headers: {
      accept: 'application/json',
      authorization: basic(encodeForm(client_id), encodeForm(clientSecret ?? '')),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: form.toString(),
    deadlineMs,
    wantsBody: true,
  })
  if (status !== 200) throw new OutboundError('authentication', `the token URL answered ${status}`)
  return parseToken(body)
}

const encodeForm = (text: string) => new URLSearchParams({ a: text }).toString().slice('a='.length)

function parseToken(body: Buffer): Token {
  let answer: Record<string, unknown> = {}
  try {
    answer = Object(JSON.parse(body.toString('utf8'))) as Record<string, unknown>
  } catch {
    // Told below, and without the text: it may hold a token.
  }
  const { access_token: value, token_type: type, expires_in: seconds } = answer
  const isBearer = type === undefined || (typeof type === 'string' && type.toLowerCase() === 'bearer')
  // Anything else would not be a header.
  if (!isBearer || typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value)) {
    throw new OutboundError('authentication', 'the token URL answered with no bearer token')
  }
  const livesMs = Number.isFinite(Number(seconds)) && Number(seconds) > 0 ? Number(seconds) * 1000 : usualMs
  return { value, keptMs: Math.min(livesMs, longestMs) - Math.min(marginMs, livesMs / 2) }
}
