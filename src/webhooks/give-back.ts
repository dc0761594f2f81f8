import type { Log } from '../platform/log.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { createBatches } from './batches.ts'
import type { Leased } from './endpoint.ts'
import { endLeases } from './store.ts'

/** Makes deliveries that this process has the lease of due at once, many together. */
export const createGiveBack = ({
  db,
  now,
  log,
  onGivenBack,
}: {
  db: Db
  now: () => Date
  log: Log
  onGivenBack: (deliveries: readonly Leased[]) => void
}) =>
  createBatches<Leased>({
    log,
    failure: 'deliveries could not be given back yet',
    async write(deliveries) {
      await transact({ db, accounts: 'all' as const }, ({ db }) => endLeases(db, deliveries, now()))
      onGivenBack(deliveries)
    },
  })
