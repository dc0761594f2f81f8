import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { encodeParts } from './sealing.ts'

export type KeyPurpose = 'data' | 'fingerprint'

/** What a wrapped key is bound to: put into another row of the table of keys, it does not unwrap. */
export interface KeyContext {
  instance: string
  id: string
  purpose: KeyPurpose
  version: number
}

/** Whoever holds the key-encryption key. It never leaves there, and ours never leave here unwrapped. */
export interface KeyProvider {
  /** Names the key-encryption key, so that a mix-up can be told in words. */
  readonly id: string
  wrap(plain: Buffer, context: KeyContext): Promise<Buffer>
  unwrap(wrapped: Buffer, context: KeyContext): Promise<Buffer>
}

export class KeyProviderError extends Error {
  override name = 'KeyProviderError'
}

const keyLength = 32

export const encodeContext = ({ instance, id, purpose, version }: KeyContext) =>
  encodeParts(['florin-key-v1', instance, id, purpose, String(version)])

/** What is wrapped is the key and a commitment to its context, because not every provider looks at the context it is given. */
export async function wrapKey(provider: KeyProvider, context: KeyContext, key: Buffer): Promise<Buffer> {
  const bound = Buffer.concat([key, commitment(key, context)])
  try {
    return await provider.wrap(bound, context)
  } finally {
    bound.fill(0)
  }
}

export async function unwrapKey(provider: KeyProvider, context: KeyContext, wrapped: Buffer): Promise<KeyObject> {
  const bound = await provider.unwrap(wrapped, context)
  try {
    const key = bound.subarray(0, keyLength)
    const claimed = bound.subarray(keyLength)
    const expected = commitment(key, context)
    if (claimed.length !== expected.length || !timingSafeEqual(claimed, expected)) {
      throw new KeyProviderError('the wrapped key was made for another place')
    }
    return createSecretKey(key)
  } finally {
    bound.fill(0)
  }
}

const commitment = (key: Buffer, context: KeyContext) =>
  createHmac('sha256', key).update(encodeContext(context)).digest()
