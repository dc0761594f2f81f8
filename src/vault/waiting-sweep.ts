import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../platform/log.ts'
import type { Db } from '../platform/postgres.ts'
import { deleteExpired } from './waiting-store.ts'

const batchSize = 1_000

/** Removes secrets that nobody came for. The vault does it by itself: that they end does not depend on anybody else. */
export function startWaitingSweep({ db, log, everyMs = 30_000 }: { db: Db; log: Log; everyMs?: number }): {
  close(): Promise<void>
} {
  const stop = new AbortController()
  const sweeping = (async () => {
    while (!stop.signal.aborted) {
      try {
        while (!stop.signal.aborted && (await deleteExpired(db, batchSize)) === batchSize);
      } catch (error) {
        log.error('expired secrets could not be removed', { error })
      }
      await sleep(everyMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  })()
  return {
    async close() {
      stop.abort()
      await sweeping
    },
  }
}
