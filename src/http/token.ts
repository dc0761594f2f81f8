import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { isPins, type Pins } from '../embed.ts'
import { isUuid } from '../ids.ts'
import type { KeyAlgorithm } from '../platform/key-pair.ts'
import { compactVerify, type CryptoKey, errors, importSPKI } from 'jose'

/** The algorithm of a token's signature follows from the stored key, never from the token. */
export const signatureAlgorithm = { ECDSA: 'ES512', RSA: 'RS512' } as const satisfies Record<KeyAlgorithm, string>

export interface Claims {
  scopes: readonly string[]
  jti: string
  exp: number
  nbf: number | undefined
  iat: number | undefined
  /** The claim `embed` of a token for a browser. Null for servers. */
  pins: Pins | null
  checkoutSessionId: string | null
}

export interface ParsedToken {
  kid: string
  algorithm: string
  claims: Claims
}

/** Why a token is refused. Told to the log, never to the caller. */
export class TokenError extends Error {
  override name = 'TokenError'
}

const maxTokenLength = 8_192
const maxLifetimeSeconds = 24 * 60 * 60
const clockSkewSeconds = 60
const shape = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const thumbprint = /^[A-Za-z0-9_-]{43}$/
const knownHeaderMembers = new Set(['alg', 'kid', 'typ'])

/** The cheap checks: size, shape, spelling, header, claims. Nothing here is proven until the signature is. */
export function parseToken(token: string): ParsedToken {
  if (token.length > maxTokenLength) throw new TokenError('too long')
  if (!shape.test(token)) throw new TokenError('not three segments of base64url')
  const [header = '', payload = '', signature = ''] = token.split('.')
  if (![header, payload, signature].every(isCanonical)) throw new TokenError('not canonical base64url')
  const { alg, kid, typ, ...others } = parseObject(header)
  // jku, jwk, x5u, x5c, crit, b64 and whatever comes next: a token that asks for special treatment is refused.
  if (Object.keys(others).some((name) => !knownHeaderMembers.has(name))) throw new TokenError('unknown header member')
  if (typeof alg !== 'string') throw new TokenError('no algorithm')
  if (typeof kid !== 'string' || !thumbprint.test(kid)) throw new TokenError('kid is not a thumbprint')
  if (typ !== undefined && (typeof typ !== 'string' || typ.toUpperCase() !== 'JWT'))
    throw new TokenError('typ is not JWT')
  return { kid, algorithm: alg, claims: parseClaims(parseObject(payload)) }
}

/** Base64url has spare bits at the end of a segment; only zeros there, or one token has many spellings. */
function isCanonical(segment: string): boolean {
  const rest = segment.length % 4
  if (rest === 0) return true
  if (rest === 1) return false
  return Buffer.from(segment.slice(-rest), 'base64url').toString('base64url') === segment.slice(-rest)
}

function parseObject(segment: string): Record<string, unknown> {
  const bytes = Buffer.from(segment, 'base64url')
  // Every byte that is not UTF-8 would read as the same character, and different jti as one.
  if (!isUtf8(bytes)) throw new TokenError('not UTF-8')
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new TokenError('not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TokenError('not a JSON object')
  return value as Record<string, unknown>
}

function parseClaims(payload: Record<string, unknown>): Claims {
  const { scopes, jti, exp, nbf, iat, iss, embed, checkout_session_id: session } = payload
  if (!Array.isArray(scopes) || scopes.length > 200 || !scopes.every((scope) => typeof scope === 'string')) {
    throw new TokenError('scopes is not a list of strings')
  }
  if (typeof jti !== 'string' || jti.length < 1 || jti.length > 255) throw new TokenError('jti is missing')
  if (iss !== undefined && typeof iss !== 'string') throw new TokenError('iss is not a string')
  if (!isTime(exp)) throw new TokenError('exp is missing')
  if (nbf !== undefined && !isTime(nbf)) throw new TokenError('nbf is not a time')
  if (iat !== undefined && !isTime(iat)) throw new TokenError('iat is not a time')
  if (session !== undefined && (typeof session !== 'string' || !isUuid(session))) {
    throw new TokenError('checkout_session_id is not a UUID')
  }
  const pins = parsePins(embed, (scopes as string[]).includes('embed'))
  return { scopes: scopes as string[], jti, exp, nbf, iat, pins, checkoutSessionId: session ?? null }
}

/** Values that nobody would hold a request to are a mistake of whoever signed them. */
function parsePins(embed: unknown, isForBrowser: boolean): Pins | null {
  if (!isForBrowser) {
    if (embed !== undefined) throw new TokenError('embed without the scope embed')
    return null
  }
  if (embed === undefined) return {}
  if (!isPins(embed)) throw new TokenError('embed is not a set of values that can be pinned')
  return embed
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

/** Whether the token is good at this moment, give or take the clock skew. Asked again on every use. */
export function checkTimes({ exp, nbf, iat }: Claims, now: Date): void {
  const seconds = now.getTime() / 1000
  if (exp <= seconds - clockSkewSeconds) throw new TokenError('expired')
  if (nbf !== undefined && nbf > seconds + clockSkewSeconds) throw new TokenError('not valid yet')
  if (iat !== undefined && iat > seconds + clockSkewSeconds) throw new TokenError('issued in the future')
  if (exp - (iat ?? nbf ?? seconds + clockSkewSeconds) > maxLifetimeSeconds) throw new TokenError('lives too long')
}

export interface VerificationKey {
  algorithm: (typeof signatureAlgorithm)[KeyAlgorithm]
  key: CryptoKey
}

export async function importVerificationKey(algorithm: KeyAlgorithm, publicKeyPem: string): Promise<VerificationKey> {
  const signature = signatureAlgorithm[algorithm]
  return { algorithm: signature, key: await importSPKI(publicKeyPem, signature) }
}

/** The signature, checked on a thread of its own: with P-521 it takes milliseconds. */
export async function verifySignature(token: string, { algorithm, key }: VerificationKey): Promise<void> {
  try {
    await compactVerify(token, key, { algorithms: [algorithm] })
  } catch (error) {
    if (error instanceof errors.JOSEError) throw new TokenError(`signature: ${error.code}`)
    throw error
  }
}

export const hashToken = (token: string) => hash('sha256', token, 'base64')
