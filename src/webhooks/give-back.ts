import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../platform/log.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { createBatches } from './batches.ts'
import type { Leased } from './endpoint.ts'
import { endLeases } from './store.ts'

const retryMs = 500

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
  createBatches<Leased>(async (deliveries) => {
    // Until the database takes them: whoever waits for it acknowledges a message afterwards.
    for (;;) {
      try {
        await transact({ db, accounts: 'all' as const }, ({ db }) => endLeases(db, deliveries, now()))
        return onGivenBack(deliveries)
      } catch (error) {
        log.warn('deliveries could not be given back yet', { count: deliveries.length, error })
        await sleep(retryMs)
      }
    }
  })
