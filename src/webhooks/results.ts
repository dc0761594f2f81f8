import { setTimeout as sleep } from 'node:timers/promises'
import { failpoint } from '../platform/failpoint.ts'
import type { Log } from '../platform/log.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { createBatches } from './batches.ts'
import { type Result, writeResults } from './store.ts'

const retryMs = 500

/** Writes what became of attempts, many together. A delivery is over for this process when its row says so. */
export function createResultWriter({ db, now, log }: { db: Db; now: () => Date; log: Log }) {
  /** Until the database takes them: it knows the leases, and whoever finds one that is over sends again. */
  async function persist(results: readonly Result[]): Promise<void> {
    for (;;) {
      try {
        return await transact({ db, accounts: 'all' as const }, ({ db }) => writeResults(db, results, now()))
      } catch (error) {
        log.warn('results of webhook attempts could not be written', { count: results.length, error })
        await sleep(retryMs)
      }
    }
  }

  return createBatches<Result>(async (results) => {
    await failpoint('dispatch: results not yet written')
    await persist(results)
    await failpoint('dispatch: results written')
  })
}
