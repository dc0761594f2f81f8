import { BoundedMap } from '../bounded-map.ts'
import type { Caller } from '../context.ts'
import { ApiError } from '../errors.ts'
import { type Accounts, includesAccount } from '../platform/accounts.ts'
import { effectiveScopes, type Scope } from '../scopes.ts'
import type { KeyRing, RingKey } from './key-ring.ts'
import {
  type Claims,
  checkTimes,
  hashToken,
  type ParsedToken,
  parseToken,
  TokenError,
  verifySignature,
} from './token.ts'

export interface AuthenticatorOptions {
  keys: KeyRing
  now: () => Date
  /** Signatures checked at once; the others wait. */
  concurrency: number
  /** Called for every accepted request, so that `last_used_at` can be written now and then. */
  onUse: (keyPairId: string) => void
  onVerify?: (seconds: number, accepted: boolean) => void
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller>

interface VerifiedToken {
  kid: string
  claims: Claims
  /** The scopes are worked out once per version of the key. */
  callerFor?: { key: RingKey; caller: Caller }
}

const maxWaiting = 1_000

/** Bearer token → caller, or 401. Cheap checks first, then the signature, then a memory of signatures already checked. */
export function createAuthenticator({ keys, now, concurrency, onUse, onVerify }: AuthenticatorOptions): Authenticate {
  // Keyed by the hash of the whole token: an edited token is another token.
  const verified = new BoundedMap<string, VerifiedToken>(20_000)
  const gate = createGate(concurrency)

  async function verify(token: string, hash: string): Promise<VerifiedToken> {
    const parsed = parseToken(token)
    checkTimes(parsed.claims, now())
    const key = activeKey(await keys.find(parsed.kid))
    if (parsed.algorithm !== key.verification.algorithm) throw new TokenError('algorithm is not that of the key')
    await gate(() => checkSignature(token, parsed, key))
    const result = { kid: parsed.kid, claims: parsed.claims }
    verified.set(hash, result)
    return result
  }

  async function checkSignature(token: string, parsed: ParsedToken, key: RingKey): Promise<void> {
    // It may have expired while it waited its turn; do not spend milliseconds on it.
    checkTimes(parsed.claims, now())
    const start = performance.now()
    let accepted = false
    try {
      await verifySignature(token, key.verification)
      accepted = true
    } finally {
      onVerify?.((performance.now() - start) / 1000, accepted)
    }
  }

  function activeKey(key: RingKey | undefined): RingKey {
    if (!key) throw new TokenError('unknown key')
    if (!key.active) throw new TokenError('key is not active')
    return key
  }

  return async (authorization) => {
    const token = bearerToken(authorization)
    if (token === undefined) throw unauthorized('no bearer token', false)
    try {
      const hash = hashToken(token)
      const known = verified.get(hash) ?? (await verify(token, hash))
      checkTimes(known.claims, now())
      const found = keys.find(known.kid)
      const key = activeKey(found instanceof Promise ? await found : found)
      onUse(key.id)
      if (known.callerFor?.key !== key) known.callerFor = { key, caller: toCaller(known, key) }
      return known.callerFor.caller
    } catch (error) {
      if (error instanceof TokenError) throw unauthorized(error.message, true)
      throw error
    }
  }
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +([^ ]+)$/i.exec(authorization)?.[1]
}

function toCaller({ kid, claims }: VerifiedToken, key: RingKey): Caller {
  return {
    keyPairId: key.id,
    thumbprint: kid,
    displayName: key.displayName,
    tokenId: `${kid}.${claims.jti}`,
    scopes: effectiveScopes(claims.scopes, key.permissions),
    reach: reachOf(key, claims),
    pins: claims.pins,
    checkoutSessionId: claims.checkoutSessionId,
  }
}

/** A pinned account is the only one, and not even that where the key pair does not reach it. */
function reachOf({ reach }: RingKey, { pins }: Claims): Accounts {
  const pinned = pins?.merchant_account_id
  if (pinned === undefined) return reach
  return includesAccount(reach, pinned) ? [pinned] : []
}

/** One body for every cause; RFC 6750 wants no error attribute when no token was sent. */
function unauthorized(reason: string, sent: boolean): ApiError {
  const challenge = sent ? 'Bearer realm="florin", error="invalid_token"' : 'Bearer realm="florin"'
  return new ApiError('unauthorized', { headers: { 'www-authenticate': challenge }, reason })
}

export function requireScope(caller: Caller, scopes: readonly Scope[]): void {
  if (scopes.some((scope) => caller.scopes.has(scope))) return
  throw new ApiError('forbidden', {
    message: `The token needs the scope ${scopes.join(' or ')}, and its key pair a role that allows it`,
    headers: { 'www-authenticate': `Bearer realm="florin", error="insufficient_scope", scope="${scopes.join(' ')}"` },
  })
}

/** Lets so many run at once and queues the rest in order; a queue that is too long refuses. */
function createGate(limit: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work: () => Promise<void>): Promise<void> => {
    if (running >= limit) {
      if (waiting.length >= maxWaiting)
        throw new ApiError('gateway_timeout', { reason: 'too many signatures to check' })
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running += 1
    try {
      await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
