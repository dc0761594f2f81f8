import { failpoint } from '../platform/failpoint.ts'
import type { Log } from '../platform/log.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { createBatches } from './batches.ts'
import { type Result, writeResults } from './store.ts'

/**
 * Writes what became of attempts, many together. A delivery is over for this process when its row says so; until then the row knows the lease, and
 * whoever finds it over sends again.
 */
export const createResultWriter = ({ db, now, log }: { db: Db; now: () => Date; log: Log }) =>
  createBatches<Result>({
    log,
    failure: 'results of webhook attempts could not be written',
    async write(results) {
      await failpoint('dispatch: results not yet written')
      await transact({ db, accounts: 'all' as const }, ({ db }) => writeResults(db, results, now()))
      await failpoint('dispatch: results written')
    },
  })
