import { BoundedMap } from '../bounded-map.ts'
import type { Accounts } from '../platform/accounts.ts'
import type { KeyAlgorithm } from '../platform/key-pair.ts'
import { importVerificationKey, type VerificationKey } from './token.ts'

/** What authentication needs to know of a key pair. */
export interface SigningKey {
  id: string
  thumbprint: string
  displayName: string
  algorithm: KeyAlgorithm
  publicKey: string
  active: boolean
  permissions: readonly string[]
  reach: Accounts
}

export interface RingKey extends SigningKey {
  verification: VerificationKey
}

export interface KeyRing {
  /** Undefined when there is no such key. */
  find(thumbprint: string): Promise<RingKey | undefined>
  forget(thumbprint: string): void
  forgetAll(): void
}

/**
 * Keys as they were at most `maxAgeMs` ago. A change is announced by the database and forgotten at once; should the
 * announcement be lost, the age limit alone keeps the promise that a revoked key is refused within five seconds.
 */
export function createKeyRing(
  load: (thumbprint: string) => Promise<SigningKey | undefined>,
  { maxAgeMs = 3_000, limit = 10_000, now = () => performance.now() } = {},
): KeyRing {
  const entries = new BoundedMap<string, { loadedAt: number; key: Promise<RingKey | undefined> }>(limit)
  // Importing a key costs more than reading it; a public key never changes under its thumbprint.
  const imported = new BoundedMap<string, Promise<VerificationKey>>(limit)

  async function loadKey(thumbprint: string): Promise<RingKey | undefined> {
    const found = await load(thumbprint)
    if (!found) return undefined
    const verification = imported.get(thumbprint) ?? importVerificationKey(found.algorithm, found.publicKey)
    imported.set(thumbprint, verification)
    return { ...found, verification: await verification }
  }

  return {
    find(thumbprint) {
      const entry = entries.get(thumbprint)
      if (entry && now() - entry.loadedAt < maxAgeMs) return entry.key
      const fresh = { loadedAt: now(), key: loadKey(thumbprint) }
      entries.set(thumbprint, fresh)
      // A failure to load is not knowledge about the key.
      fresh.key.catch(() => entries.get(thumbprint) === fresh && entries.delete(thumbprint))
      return fresh.key
    },
    forget: (thumbprint) => entries.delete(thumbprint),
    forgetAll: () => entries.clear(),
  }
}
