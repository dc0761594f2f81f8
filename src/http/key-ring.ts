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
  /** Undefined when there is no such key. At once when it is known: a promise costs every request a turn. */
  find(thumbprint: string): RingKey | undefined | Promise<RingKey | undefined>
  forget(thumbprint: string): void
  forgetAll(): void
}

interface Entry {
  loadedAt: number
  /** Undefined while it is being loaded, null when there is no such key. */
  key: RingKey | null | undefined
  loading: Promise<RingKey | undefined>
}

/**
 * Keys as they were at most `maxAgeMs` ago. A change is announced by the database and forgotten at once; should the
 * announcement be lost, the age limit alone keeps the promise that a revoked key is refused within five seconds.
 */
export function createKeyRing(
  load: (thumbprint: string) => Promise<SigningKey | undefined>,
  { maxAgeMs = 3_000, limit = 10_000, now = () => performance.now() } = {},
): KeyRing {
  const entries = new BoundedMap<string, Entry>(limit)
  // Importing a key costs more than reading it; a public key never changes under its thumbprint.
  const imported = new BoundedMap<string, VerificationKey>(limit)

  async function loadKey(thumbprint: string): Promise<RingKey | undefined> {
    const found = await load(thumbprint)
    if (!found) return undefined
    const verification = imported.get(thumbprint) ?? (await importVerificationKey(found.algorithm, found.publicKey))
    imported.set(thumbprint, verification)
    return { ...found, verification }
  }

  return {
    find(thumbprint) {
      const known = entries.get(thumbprint)
      if (known && now() - known.loadedAt < maxAgeMs)
        return known.key === undefined ? known.loading : (known.key ?? undefined)
      const entry: Entry = { loadedAt: now(), key: undefined, loading: loadKey(thumbprint) }
      entries.set(thumbprint, entry)
      entry.loading.then(
        (key) => (entry.key = key ?? null),
        // A failure to load is not knowledge about the key.
        () => entries.get(thumbprint) === entry && entries.delete(thumbprint),
      )
      return entry.loading
    },
    forget: (thumbprint) => entries.delete(thumbprint),
    forgetAll: () => entries.clear(),
  }
}
