/** What requests with a browser's token are held to. */
export interface EmbedPins {
  amount?: number
  currency?: string
  buyer_id?: string
  buyer_external_identifier?: string
  metadata?: Record<string, string>
  cart_items?: object[]
  connection_options?: Record<string, unknown>
  merchant_account_id?: string
}

export interface TokenRequest {
  /** `['embed']` makes a token for a browser. Default: those of the client, or else `['*.read', '*.write']`. */
  scopes?: readonly string[]
  /** At most a day. Default: an hour. */
  expiresInSeconds?: number
  /** Who signs it: any text, for yourself. */
  issuer?: string
  embed?: EmbedPins
  /** A payment with this token belongs to that checkout session. */
  checkoutSessionId?: string
}

export type Sign = (request?: TokenRequest) => Promise<string>

const allScopes = ['*.read', '*.write']
const tokenSeconds = 3_600
const renewBeforeSeconds = 300

/** Tokens by a private key in PEM: ES512 for P-521, RS512 for RSA. The key is read when it is first needed. */
export function createSigner(pem: string): Sign {
  let key: Promise<SigningKey> | undefined
  return async (request = {}) => {
    const { scopes = allScopes, expiresInSeconds = tokenSeconds, issuer = 'florin sdk' } = request
    const { embed, checkoutSessionId } = request
    key ??= readKey(pem)
    const { privateKey, algorithm, header } = await key
    const iat = Math.floor(Date.now() / 1_000)
    const claims = {
      scopes,
      iat,
      nbf: iat,
      exp: iat + expiresInSeconds,
      iss: issuer,
      jti: crypto.randomUUID(),
      ...(embed && { embed }),
      ...(checkoutSessionId !== undefined && { checkout_session_id: checkoutSessionId }),
    }
    const content = `${base64Url(utf8(JSON.stringify(header)))}.${base64Url(utf8(JSON.stringify(claims)))}`
    return `${content}.${base64Url(new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, utf8(content))))}`
  }
}

export interface TokenKeeper {
  get(): Promise<string>
  /** This token was refused. True when another may be taken; one that was never good before is not worth another try. */
  renew(refused: string): Promise<boolean>
}

/** One token for its lifetime. Whoever asks while it is being signed waits for it. */
export function keepToken(sign: () => Promise<string>): TokenKeeper {
  let kept: { token: Promise<string>; uses: number; until: number } | undefined
  return {
    async get() {
      if (!kept || Date.now() >= kept.until) {
        kept = { token: sign(), uses: 0, until: Date.now() + (tokenSeconds - renewBeforeSeconds) * 1_000 }
      }
      kept.uses += 1
      return await kept.token
    },
    async renew(refused) {
      const mine = kept
      if (!mine || (await mine.token) !== refused) return true
      if (mine.uses === 1) return false
      if (kept === mine) kept = undefined
      return true
    },
  }
}

/** Not every runtime's types have a name for it. */
export type Key = Parameters<typeof crypto.subtle.sign>[1]

interface SigningKey {
  privateKey: Key
  algorithm: { name: string; hash: string }
  header: { alg: string; typ: 'JWT'; kid: string }
}

const kinds = [
  { alg: 'ES512', algorithm: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' } },
  { alg: 'RS512', algorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' } },
]

async function readKey(pem: string): Promise<SigningKey> {
  const [, text] = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(pem) ?? []
  if (text === undefined) throw new TypeError('privateKey is not a private key in PEM ("BEGIN PRIVATE KEY")')
  const bytes = fromBase64(text.replaceAll(/\s/g, ''))
  for (const { alg, algorithm } of kinds) {
    try {
      const privateKey = await crypto.subtle.importKey('pkcs8', bytes, algorithm, true, ['sign'])
      const kid = await thumbprint({ ...(await crypto.subtle.exportKey('jwk', privateKey)) })
      return { privateKey, algorithm, header: { alg, typ: 'JWT', kid } }
    } catch {
      // Not of this kind.
    }
  }
  throw new TypeError('privateKey is neither an EC key of the curve P-521 nor an RSA key that this runtime can use')
}

/** RFC 7638: of the members that make the key, in the order of their names. */
async function thumbprint({ kty, crv, x, y, e, n }: Partial<Record<string, unknown>>): Promise<string> {
  const members = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y }
  return base64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(JSON.stringify(members)))))
}

export const utf8 = (text: string) => new TextEncoder().encode(text)

export const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

const base64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
