import { type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../platform/log.ts'
import type { Db } from '../platform/postgres.ts'
import { type KeyContext, type KeyProvider, type KeyPurpose, unwrapKey, wrapKey } from './key-provider.ts'
import { addEncryptions, insertFirstKey, type KeyRow, type KeyState, listKeys, type NewKey } from './key-store.ts'

export interface DataKey {
  version: number
  key: KeyObject
}

export interface KeyUse {
  version: number
  state: KeyState
  encryptions: number
}

/** The keys cannot be used as they are in the database: somebody has to look. */
export class KeyError extends Error {
  override name = 'KeyError'
}

export interface KeyRing {
  /** Encrypts. A store checks in its own statement that it still is the active one. */
  active(): DataKey
  /** Decrypts. One that is not known yet is looked up at once. */
  find(version: number): Promise<KeyObject>
  fingerprintKey(): KeyObject
  /** Looks at the database again. */
  refresh(): Promise<void>
  makeKey(purpose: KeyPurpose, version: number): Promise<NewKey>
  countEncryptions(version: number, count: number): void
  uses(): readonly KeyUse[]
  close(): Promise<void>
}

export interface KeyRingOptions {
  db: Db
  provider: KeyProvider
  instance: string
  log: Log
  pollMs?: number
}

interface HeldKey {
  row: KeyRow
  key: KeyObject
}

const countsEveryMs = 10_000
const warnFrom = 2 ** 30

/** Makes the first keys, opens those that are there, and follows what other vaults and the operator do to them. */
export async function startKeyRing({ db, provider, instance, log, pollMs = 2_000 }: KeyRingOptions): Promise<KeyRing> {
  const stop = new AbortController()
  const held = new Map<string, HeldKey>()
  const counts = new Map<number, number>()
  const warned = new Set<number>()
  let active: DataKey | undefined
  let fingerprintKey: KeyObject | undefined
  let lastCounted = Date.now()

  async function load(): Promise<void> {
    const rows = await listKeys(db)
    for (const row of rows) await hold(row)
    active = newest(rows, 'data')
    fingerprintKey = newest(rows, 'fingerprint')?.key
    warnOfOveruse(rows)
  }

  /** A key is opened once. The id is part of the name, so that a row that was put in place of another is opened anew. */
  async function hold(row: KeyRow): Promise<void> {
    const name = nameOf(row)
    const known = held.get(name)
    if (row.wrapped === null) held.delete(name)
    else if (known && known.row.id === row.id && known.row.wrapped?.equals(row.wrapped)) known.row = row
    else held.set(name, { row, key: await open(row, row.wrapped) })
  }

  async function open(row: KeyRow, wrapped: Buffer): Promise<KeyObject> {
    try {
      return await unwrapKey(provider, contextOf(row), wrapped)
    } catch (error) {
      const other =
        row.provider === provider.id ? '' : ` It was wrapped by ${row.provider}, this vault uses ${provider.id}.`
      throw new KeyError(
        `The ${row.purpose} key version ${row.version} cannot be opened: ${(error as Error).message}.${other} ` +
          'Check FLORIN_KEY_PROVIDER and its settings, FLORIN_INSTANCE, and whether vault.keys was changed.',
        { cause: error },
      )
    }
  }

  function newest(rows: readonly KeyRow[], purpose: KeyPurpose): DataKey | undefined {
    const row = rows.find((candidate) => candidate.purpose === purpose && candidate.state === 'active')
    const key = row && held.get(nameOf(row))?.key
    return row && key && { version: row.version, key }
  }

  const contextOf = ({ id, purpose, version }: Omit<KeyContext, 'instance'>): KeyContext => ({
    instance,
    id,
    purpose,
    version,
  })

  async function makeKey(purpose: KeyPurpose, version: number): Promise<NewKey> {
    const id = randomUUID()
    const key = randomBytes(32)
    try {
      const wrapped = await wrapKey(provider, contextOf({ id, purpose, version }), key)
      return { id, purpose, version, provider: provider.id, wrapped }
    } finally {
      key.fill(0)
    }
  }

  function warnOfOveruse(rows: readonly KeyRow[]): void {
    for (const { purpose, version, state, encryptions } of rows) {
      if (purpose !== 'data' || state !== 'active' || encryptions < warnFrom || warned.has(version)) continue
      warned.add(version)
      log.warn('a data key has done more than 2^30 encryptions: run "florin vault keys rotate"', { count: encryptions })
    }
  }

  async function flushCounts(): Promise<void> {
    lastCounted = Date.now()
    for (const [version, count] of counts) {
      counts.delete(version)
      await addEncryptions(db, version, count)
    }
  }

  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  /** Whoever asks gets a look that began after the question; those who ask meanwhile share one. */
  function refresh(): Promise<void> {
    if (running) {
      next ??= running
        .catch(() => undefined)
        .then(() => {
          next = undefined
          return refresh()
        })
      return next
    }
    running = load().finally(() => (running = undefined))
    return running
  }

  await load()
  for (const purpose of ['data', 'fingerprint'] as const) {
    const isThere = purpose === 'data' ? active : fingerprintKey
    if (!isThere) await insertFirstKey(db, await makeKey(purpose, 1))
  }
  await load()
  if (!active || !fingerprintKey) {
    throw new KeyError(
      `There is no active ${active ? 'fingerprint' : 'data'} key in vault.keys, and new ones are made only for a vault that ` +
        'has never held anything. Restore the table vault.keys from a backup.',
    )
  }

  const polling = (async () => {
    for (;;) {
      await sleep(pollMs, undefined, { signal: stop.signal }).catch(() => undefined)
      if (stop.signal.aborted) return
      try {
        await refresh()
        if (Date.now() - lastCounted >= countsEveryMs) await flushCounts()
      } catch (error) {
        log.error('the keys could not be looked at', { error })
      }
    }
  })()

  return {
    active() {
      if (!active) throw new KeyError('there is no active data key')
      return active
    },
    async find(version) {
      const name = nameOf({ purpose: 'data', version })
      const known = held.get(name)
      if (known) return known.key
      await refresh()
      const found = held.get(name)
      if (!found) throw new KeyError(`there is no data key version ${version}, or it was destroyed`)
      return found.key
    },
    fingerprintKey() {
      if (!fingerprintKey) throw new KeyError('there is no fingerprint key')
      return fingerprintKey
    },
    refresh,
    makeKey,
    countEncryptions: (version, count) => void counts.set(version, (counts.get(version) ?? 0) + count),
    uses: () =>
      [...held.values()]
        .filter(({ row }) => row.purpose === 'data')
        .map(({ row: { version, state, encryptions } }) => ({ version, state, encryptions })),
    async close() {
      stop.abort()
      await polling
      await flushCounts().catch((error: unknown) => log.warn('encryptions were not counted', { error }))
    },
  }
}

const nameOf = ({ purpose, version }: Pick<KeyRow, 'purpose' | 'version'>) => `${purpose} ${version}`
