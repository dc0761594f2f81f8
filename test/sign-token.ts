import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { SignJWT } from 'jose/jwt/sign'

export interface TokenOptions {
  privateKeyPem: string
  scopes?: readonly string[]
  lifetimeSeconds?: number
  /** More claims, or other values of the usual ones. */
  claims?: Record<string, unknown>
}

/** Signs an access token as a merchant's back end does. */
export async function signToken({
  privateKeyPem,
  scopes = ['*.read', '*.write'],
  lifetimeSeconds = 3_600,
  claims = {},
}: TokenOptions): Promise<string> {
  const privateKey = createPrivateKey(privateKeyPem)
  const kid = await calculateJwkThumbprint(createPublicKey(privateKeyPem).export({ format: 'jwk' }) as JWK)
  const iat = Math.floor(Date.now() / 1000)
  const alg = privateKey.asymmetricKeyType === 'rsa' ? 'RS512' : 'ES512'
  return new SignJWT({
    scopes,
    iat,
    nbf: iat,
    exp: iat + lifetimeSeconds,
    iss: 'florin test',
    jti: randomUUID(),
    ...claims,
  })
    .setProtectedHeader({ alg, typ: 'JWT', kid })
    .sign(privateKey)
}
