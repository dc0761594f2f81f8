import { createPrivateKey, createPublicKey, type KeyObject, constants as padding, randomUUID, sign } from 'node:crypto'
import type { KeyPair } from '../api.ts'

export type Text = string | Uint8Array | object
export type Claims = Record<string, unknown>

/** Somebody who signs: a registered key pair or a stranger. */
export interface Signer {
  name: string
  alg: string
  kid: string
  publicKey: KeyObject
  sign(input: string): Buffer
}

/** A signer the api knows. */
export interface Registered extends Signer {
  id: string
  privateKey: KeyObject
}

export const now = () => Math.floor(Date.now() / 1000)
export const day = 86_400

export function claims(changes: Claims = {}): Claims {
  const iat = now()
  return { scopes: ['roles.read'], iat, nbf: iat, exp: iat + 3_600, iss: 'florin', jti: randomUUID(), ...changes }
}

export const life = (from: number, seconds: number): Claims => ({ iat: from, nbf: from, exp: from + seconds })

export function bytesOf(text: Text): Uint8Array {
  if (text instanceof Uint8Array) return text
  return Buffer.from(typeof text === 'string' ? text : JSON.stringify(text))
}

export const encode = (text: Text) => Buffer.from(bytesOf(text)).toString('base64url')
export const decode = (segment: string) => Buffer.from(segment, 'base64url')
export const headerOf = ({ alg, kid }: Signer, changes: object = {}) => ({ alg, typ: 'JWT', kid, ...changes })

/** Signs header and payload as they are given, however wrong they are. */
export function token(signer: Signer, header: Text = headerOf(signer), payload: Text = claims()): string {
  return signText(signer, `${encode(header)}.${encode(payload)}`)
}

export const signText = (signer: Signer, input: string) => `${input}.${signer.sign(input).toString('base64url')}`

export function split(text: string): [header: string, payload: string, signature: string] {
  const [header = '', payload = '', signature = ''] = text.split('.')
  return [header, payload, signature]
}

export const withSignature = (text: string, signature: Uint8Array) =>
  `${text.slice(0, text.lastIndexOf('.'))}.${encode(signature)}`

export const ecSign = (key: KeyObject, hash: string) => (input: string) =>
  sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
export const rsaSign = (key: KeyObject, hash: string) => (input: string) => sign(hash, Buffer.from(input), key)
export const pssSign = (key: KeyObject, hash: string) => (input: string) =>
  sign(hash, Buffer.from(input), {
    key,
    padding: padding.RSA_PKCS1_PSS_PADDING,
    saltLength: padding.RSA_PSS_SALTLEN_DIGEST,
  })

export function registered(name: string, { id, thumbprint, privateKeyPem }: KeyPair): Registered {
  const privateKey = createPrivateKey(privateKeyPem)
  const isRsa = privateKey.asymmetricKeyType === 'rsa'
  return {
    name,
    alg: isRsa ? 'RS512' : 'ES512',
    kid: thumbprint,
    publicKey: createPublicKey(privateKeyPem),
    id,
    privateKey,
    sign: isRsa ? rsaSign(privateKey, 'sha512') : ecSign(privateKey, 'sha512'),
  }
}
