import { createPublicKey, type JsonWebKey, type KeyObject, constants as padding, verify } from 'node:crypto'
import { hmac, secretsOf } from './algorithms.ts'
import type { ClassName } from './corpus.ts'
import type { Cast } from './forgery.ts'
import { halves, order, toBytes } from './signatures.ts'
import { type Claims, day, decode, encode, now, split } from './tokens.ts'

/** What has gone wrong in verifiers of others, one at a time. */
export const flaws = {
  'takes the algorithm from the token': [
    'algorithm confusion',
    'none in every spelling',
    'other algorithm of the right key',
  ],
  'takes the key from the token': ['embedded key'],
  'ignores unknown header members': ['header member'],
  'reads base64 leniently': ['not canonical'],
  'remembers by kid and jti': ['edited payload', 'edited header'],
  'remembers by signature': ['edited payload', 'edited header'],
  'remembers by header and payload': ['flipped signature', 'cut signature', 'degenerate signature'],
  'skips the signature': ['foreign key', 'smaller curves', 'flipped signature', 'edited payload', 'DER signature'],
  'takes DER signatures': ['DER signature'],
  'takes any number for a signature part': ['degenerate signature'],
  'does not look at times': ['wrong times'],
  'does not look at the longest life': ['wrong times'],
  'does not look at the types of claims': ['wrong claims'],
  'does not look at the key state': ['revoked key pair'],
  'takes the first key for an unknown kid': ['unknown kid', 'kid injection'],
  'has no size limit': ['oversized'],
  'takes more segments than three': ['segments'],
  'takes any scheme': ['garbage header'],
  'reads what is not JSON as far as it goes': ['wrong JSON'],
  'reads the first of two members': ['duplicate members'],
  'reads the JSON form': ['JWE and JSON'],
} as const satisfies Record<string, readonly ClassName[]>
export type Flaw = keyof typeof flaws

const checkedSignatures = new WeakMap<KeyObject, Map<string, boolean>>()

/** A second verifier, written from the contract and not from the code, with one flaw or none. */
export function createVerifier({ ec, rsa, other, known, revoked }: Cast, flaw?: Flaw) {
  const has = (name: Flaw) => flaw === name
  const keys = new Map(
    [ec, rsa, other].map((signer) => [signer.kid, { alg: signer.alg, key: signer.publicKey, active: true }]),
  )
  for (const { signer } of revoked) keys.set(signer.kid, { alg: signer.alg, key: signer.publicKey, active: false })
  const remembered = new Set(
    known.flatMap(({ signer, token: text }) => {
      const [header, payload, signature] = split(text)
      const { jti } = JSON.parse(decode(payload).toString()) as { jti: string }
      if (has('remembers by kid and jti')) return [[signer.kid, jti].map((part) => JSON.stringify(part)).join()]
      if (has('remembers by signature')) return [signature]
      return has('remembers by header and payload') ? [`${header}.${payload}`] : []
    }),
  )

  function checkSignature(input: string, signature: Buffer, alg: string, key: KeyObject): boolean {
    if (remember(key, [alg, input, signature.toString('base64')].join(), () => isSignature(input, signature, alg, key)))
      return true
    if (has('takes DER signatures') && alg === 'ES512') {
      return verify('sha512', Buffer.from(input), { key, dsaEncoding: 'der' }, signature)
    }
    if (!has('takes any number for a signature part') || signature.length !== 132) return false
    const [r, s] = halves(signature)
    if (r < order && s < order) return false
    return isSignature(input, Buffer.concat([toBytes(r % order), toBytes(s % order)]), alg, key)
  }

  function accepts(authorization: string | undefined): boolean {
    const scheme = has('takes any scheme') ? /^(?:\S+ )*(\S+)$/ : /^bearer +([^ ]+)$/i
    const text = scheme.exec(authorization ?? '')?.[1]
    if (text === undefined || (text.length > 8_192 && !has('has no size limit'))) return false
    const parts = has('reads the JSON form') && text.startsWith('{') ? partsOf(text) : text.split('.')
    if (parts.length !== 3 && !(parts.length > 3 && has('takes more segments than three'))) return false
    const [one = '', two = '', three = ''] = parts
    const isCanonical = (segment: string) => segment !== '' && decode(segment).toString('base64url') === segment
    const isUnsigned = has('takes the algorithm from the token') && three === ''
    if (!has('reads base64 leniently') && ![one, two, ...(isUnsigned ? [] : [three])].every(isCanonical)) return false
    const header = read(one)
    const payload = read(two)
    if (!header || !payload || typeof header['alg'] !== 'string') return false
    const { alg, kid, typ, jwk, ...others } = header
    if (Object.keys(others).length > 0 && !has('ignores unknown header members')) return false
    if (jwk !== undefined && !has('ignores unknown header members') && !has('takes the key from the token'))
      return false
    if (typ !== undefined && !(typeof typ === 'string' && typ.toUpperCase() === 'JWT')) return false
    const found = keyFor(kid, jwk)
    if (!found || !(found.active || has('does not look at the key state'))) return false
    if (alg !== found.alg && !has('takes the algorithm from the token') && !has('takes the key from the token'))
      return false
    if (!goodClaims(payload)) return false
    if (has('skips the signature')) return true
    if (
      remembered.has([kid, payload['jti']].map((part) => JSON.stringify(part)).join()) ||
      remembered.has(three) ||
      remembered.has(`${one}.${two}`)
    )
      return true
    if (has('takes the algorithm from the token') && /^none$/i.test(alg)) return true
    return checkSignature(`${one}.${two}`, decode(three), alg, found.key)
  }

  function read(segment: string): Claims | undefined {
    let text = decode(segment).toString()
    if (has('reads what is not JSON as far as it goes')) text = /\{.*\}/s.exec(text)?.[0].replace(/,\}$/, '}') ?? ''
    else if (has('reads the first of two members')) text = withoutLastTwin(text)
    else if (encode(text) !== decode(segment).toString('base64url')) return undefined
    try {
      const value: unknown = JSON.parse(text)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined
    } catch {
      return undefined
    }
  }

  function keyFor(kid: unknown, jwk: unknown) {
    if (has('takes the key from the token') && typeof jwk === 'object' && jwk !== null) {
      try {
        return { alg: '', key: createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }), active: true }
      } catch {
        return undefined
      }
    }
    const found = typeof kid === 'string' ? keys.get(kid) : undefined
    return found ?? (has('takes the first key for an unknown kid') ? [...keys.values()][0] : undefined)
  }

  function goodClaims({ scopes, jti, exp, nbf, iat, iss, embed, checkout_session_id: session }: Claims): boolean {
    const isTime = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0
    const isOptional = (value: unknown) => value === undefined || isTime(value)
    const isText = typeof jti === 'string' && jti.length >= 1 && jti.length <= 255
    const isList = Array.isArray(scopes) && scopes.length <= 200 && scopes.every((scope) => typeof scope === 'string')
    const isIssuer = iss === undefined || typeof iss === 'string'
    const isSession = session === undefined || (typeof session === 'string' && /^[0-9a-f-]{36}$/.test(session))
    const isForBrowser = isList && scopes.includes('embed')
    const isPinned = embed === undefined || (isForBrowser && canBePinned(embed))
    const isTyped =
      isTime(exp) && isOptional(nbf) && isOptional(iat) && isText && isList && isIssuer && isSession && isPinned
    if (!isTyped && !has('does not look at the types of claims')) return false
    if (has('does not look at times')) return true
    const moment = now()
    if (Number(exp) <= moment - 60 || Number(nbf ?? 0) > moment + 60 || Number(iat ?? 0) > moment + 60) return false
    return Number(exp) - Number(iat ?? nbf ?? moment + 60) <= day || has('does not look at the longest life')
  }

  return accepts
}

/** Each verifier asks about the same signatures; a millisecond and a half for each would add up. */
function remember(key: KeyObject, id: string, check: () => boolean): boolean {
  const results = checkedSignatures.get(key) ?? new Map<string, boolean>()
  checkedSignatures.set(key, results)
  const result = results.get(id) ?? check()
  results.set(id, result)
  return result
}

function isSignature(input: string, signature: Buffer, alg: string, key: KeyObject): boolean {
  const kind = alg.slice(0, 2)
  const data = Buffer.from(input)
  const hash = `sha${/\d{3}$/.exec(alg)?.[0] ?? '512'}`
  try {
    if (kind === 'HS') {
      const secrets = secretsOf({ name: '', alg, kid: '', publicKey: key, sign: () => Buffer.of() })
      return secrets.some(([, secret]) => hmac(alg, secret)(input).equals(signature))
    }
    if (kind === 'PS') {
      const options = { key, padding: padding.RSA_PKCS1_PSS_PADDING, saltLength: padding.RSA_PSS_SALTLEN_DIGEST }
      return verify(hash, data, options, signature)
    }
    if (kind === 'RS') return verify(hash, data, key, signature)
    if (kind === 'ES') return verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature)
    return key.asymmetricKeyType?.startsWith('ed') === true && verify(null, data, key, signature)
  } catch {
    return false
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
const matches = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)

const pins: Record<string, (value: unknown) => boolean> = {
  amount: (value) => Number.isInteger(value) && Number(value) >= 0,
  currency: matches(/^[A-Z]{3}$/),
  buyer_id: matches(/^[0-9a-f-]{36}$/),
  buyer_external_identifier: matches(/./),
  metadata: (value) => isObject(value) && Object.values(value as object).every((item) => typeof item === 'string'),
  cart_items: (value) => Array.isArray(value) && value.every(isObject),
  merchant_account_id: matches(/./),
  connection_options: isObject,
}

const canBePinned = (embed: unknown) =>
  isObject(embed) &&
  Object.entries(embed as object).every(([name, value]) => pins[name]?.(value) ?? false) &&
  !('buyer_id' in (embed as object) && 'buyer_external_identifier' in (embed as object))

function partsOf(text: string): string[] {
  const { protected: header = '', payload = '', signature = '' } = JSON.parse(text) as Record<string, string>
  return [header, payload, signature]
}

/** Drops the last member when its name came before. */
function withoutLastTwin(text: string): string {
  const [member, name = ''] = /,"([^"]+)":[^,{}]+\}$/.exec(text) ?? []
  if (member === undefined) return text
  const rest = `${text.slice(0, -member.length)}}`
  return rest.includes(`"${String(JSON.parse(`"${name}"`))}":`) ? rest : text
}
