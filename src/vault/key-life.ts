import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../platform/log.ts'
import { type Database, transact } from '../platform/postgres.ts'
import type { KeyRing } from './key-ring.ts'
import { destroyKey, listKeys, mayStillBeWritten, replaceActiveKey, retireKey } from './key-store.ts'
import type { KeyListing, RewrapProgress, SecretReference } from './protocol.ts'
import { seal, unseal } from './sealing.ts'
import { countRows, hasRows, lockSecrets, type SealedSecret, updateSealed } from './secret-store.ts'
import { hasWaiting } from './waiting-store.ts'

/** What was asked for does not fit the state the keys are in. */
export class KeyStateError extends Error {
  override name = 'KeyStateError'
}

interface KeyLifeContext {
  db: Database
  keys: KeyRing
  instance: string
  log: Log
}

export async function describeKeys({ db }: KeyLifeContext): Promise<KeyListing[]> {
  const described: KeyListing[] = []
  for (const key of await listKeys(db)) {
    const counted = key.purpose === 'data' ? await countRows(db, key.version) : { rows: null, exact: true }
    described.push({
      id: key.id,
      purpose: key.purpose,
      version: key.version,
      state: key.state,
      provider: key.provider,
      created_at: key.created_at.toISOString(),
      changed_at: key.changed_at.toISOString(),
      rows: counted.rows,
      rows_exact: counted.exact,
      encryptions: key.encryptions,
    })
  }
  return described
}

/** A new data key takes over; the one before only decrypts from now on. */
export async function rotateDataKey({ db, keys }: KeyLifeContext): Promise<{ version: number; before: number }> {
  const dataKeys = (await listKeys(db)).filter(({ purpose }) => purpose === 'data')
  const before = dataKeys.find(({ state }) => state === 'active')?.version ?? 0
  const version = Math.max(...dataKeys.map((key) => key.version)) + 1
  // Wrapped before anything changes: the provider may not answer.
  const isReplaced = await replaceActiveKey(db, before, await keys.makeKey('data', version))
  if (!isReplaced) throw new KeyStateError('another rotation was faster')
  await keys.refresh()
  return { version, before }
}

/** Only a key that no row is on, and that no store can come to use again. */
export async function destroyDataKey({ db, keys }: KeyLifeContext, version: number): Promise<{ version: number }> {
  if (!(await destroyKey(db, version))) throw new KeyStateError(await whyNotDestroyed(db, version))
  await keys.refresh()
  return { version }
}

async function whyNotDestroyed(db: Database, version: number): Promise<string> {
  const key = (await listKeys(db)).find((row) => row.purpose === 'data' && row.version === version)
  if (!key) return `there is no data key version ${version}`
  if (key.state === 'destroyed') return `data key version ${version} is destroyed already`
  if (key.state === 'active') return `data key version ${version} is the active one: rotate first`
  if (key.state === 'retired' && (await hasWaiting(db, version))) {
    return `data key version ${version} cannot be destroyed yet: secrets that wait for a payment are on it, for a day at most`
  }
  const rows = (await hasRows(db, version)) ? 'rows are still on it' : 'it is not retired yet'
  return `data key version ${version} cannot be destroyed, ${rows}: run "florin vault keys rewrap" first`
}

const batchSize = 500
const lanes = 2
const mostFailures = 1_000

type Field = SecretReference & { field: string }

/**
 * Seals every row with the active key, beside everything else that goes on, and retires the keys that are empty then. It keeps
 * no position, so it can be stopped and started again, on several vaults at once. Yields about once a second.
 */
export async function* rewrapSecrets(ctx: KeyLifeContext, signal: AbortSignal): AsyncGenerator<RewrapProgress> {
  const { db, log } = ctx
  const old = (await listKeys(db)).filter(({ purpose, state }) => purpose === 'data' && state === 'decrypt-only')
  let failed = 0
  const retired: number[] = []
  const start = performance.now()
  let done = 0
  let total = 0
  for (const { version } of old) total += (await countRows(db, version)).rows
  const progress = (finished: boolean): RewrapProgress => ({
    done,
    left: finished ? failed : Math.max(0, total - done),
    failed,
    rows_per_second: Math.round(done / Math.max(0.001, (performance.now() - start) / 1000)),
    finished,
    retired,
  })

  for (const { version } of old) {
    const failures = new Map<string, Field>()
    const failedBefore = failed
    let reported = performance.now()
    for (;;) {
      signal.throwIfAborted()
      const moved = await Promise.all(Array.from({ length: lanes }, () => rewrapBatch(ctx, version, failures)))
      done += moved.reduce((sum, count) => sum + count, 0)
      failed = failedBefore + failures.size
      if (failures.size > mostFailures)
        throw new KeyStateError(`more than ${mostFailures} rows do not open; see the log`)
      if (moved.every((count) => count === 0) && (await isEmptied(ctx, version, failures.size > 0, retired))) break
      if (performance.now() - reported < 1_000) continue
      reported = performance.now()
      yield progress(false)
    }
  }
  log.info('rewrapped', { operation: 'rewrap', count: done })
  yield progress(true)
}

/** Nothing was found. That may be because others hold the rows, or because a late store is still under way. */
async function isEmptied({ db, keys }: KeyLifeContext, version: number, hasFailures: boolean, retired: number[]) {
  const isOpen = await mayStillBeWritten(db, version)
  if (!isOpen && hasFailures) return true
  if (!isOpen && (await retireKey(db, version))) {
    retired.push(version)
    await keys.refresh()
    return true
  }
  // Another rewrap may have retired it.
  if (!isOpen && !(await hasRows(db, version))) return true
  await sleep(200)
  return false
}

async function rewrapBatch({ db, keys, instance, log }: KeyLifeContext, version: number, failures: Map<string, Field>) {
  const from = await keys.find(version)
  const to = keys.active()
  const moved = await transact({ db, accounts: 'all' as const }, async (ctx) => {
    const locked = await lockSecrets(ctx.db, version, { limit: batchSize, except: [...failures.values()] })
    const resealed: SealedSecret[] = []
    for (const secret of locked) {
      const { merchantAccountId, id, field } = secret
      const place = { instance, merchantAccountId, id, field }
      try {
        const plain = unseal(from, place, secret.sealed)
        resealed.push({ ...secret, sealed: seal(to.key, place, plain) })
        plain.fill(0)
      } catch (error) {
        const name = `${merchantAccountId} ${id} ${field}`
        // The other lane may have met it first.
        if (failures.has(name)) continue
        failures.set(name, { merchantAccountId, id, field })
        const row = { merchant_account_id: merchantAccountId, resource_id: id }
        log.error('a row does not open', { operation: 'rewrap', ...row, error })
      }
    }
    if (resealed.length === 0) return 0
    return await updateSealed(ctx.db, { from: version, to: to.version }, resealed)
  })
  keys.countEncryptions(to.version, moved)
  // None although some were locked: the key that was the active one is not any more.
  if (moved === 0) await keys.refresh()
  return moved
}
