import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, type JWK } from 'jose'

export type KeyAlgorithm = 'ECDSA' | 'RSA'

export interface PublicKey {
  pem: string
  /** RFC 7638, SHA-256: the `kid` of tokens. */
  thumbprint: string
}

const generate = promisify(generateKeyPair)

/** The private half exists in the answer to the one who asked and nowhere else. */
export async function makeKeyPair(algorithm: KeyAlgorithm): Promise<{ publicKey: PublicKey; privateKeyPem: string }> {
  const { publicKey, privateKey } =
    algorithm === 'ECDSA'
      ? await generate('ec', { namedCurve: 'P-521' })
      : await generate('rsa', { modulusLength: 3072 })
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { publicKey: await describe(publicKey), privateKeyPem }
}

/** A caller's own public key: PEM, P-521. Undefined when it is anything else, a private key above all. */
export async function readPublicKey(pem: string): Promise<PublicKey | undefined> {
  if (!/^\s*-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/.test(pem)) return undefined
  try {
    const key = createPublicKey(pem)
    const isP521 = key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'secp521r1'
    return isP521 ? await describe(key) : undefined
  } catch {
    return undefined
  }
}

async function describe(key: KeyObject): Promise<PublicKey> {
  return {
    pem: key.export({ type: 'spki', format: 'pem' }).toString(),
    thumbprint: await calculateJwkThumbprint(key.export({ format: 'jwk' }) as JWK),
  }
}
