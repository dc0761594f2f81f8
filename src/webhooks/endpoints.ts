import type { Log } from '../platform/log.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { Endpoint, type Leased } from './endpoint.ts'
import { deactivate, listEndpoints } from './store.ts'

/** The endpoints of all active subscriptions, as this process last read them. */
export function createEndpoints({
  db,
  now,
  log,
  onLetGo,
}: {
  db: Db
  now: () => Date
  log: Log
  /** What waited for an endpoint that is none any more. */
  onLetGo: (waited: readonly Leased[]) => void
}) {
  const known = new Map<string, Endpoint>()
  let refreshing: Promise<void> | undefined
  let isOutdated = false

  async function reload(): Promise<void> {
    const rows = await transact({ db, accounts: 'all' as const }, ({ db }) => listEndpoints(db))
    const active = new Set(rows.map(({ id }) => id))
    for (const [id, endpoint] of known) {
      if (active.has(id)) continue
      known.delete(id)
      onLetGo(endpoint.letGo())
    }
    for (const row of rows) {
      const endpoint = known.get(row.id)
      if (endpoint) endpoint.row = row
      else known.set(row.id, new Endpoint(row))
    }
  }

  /** A change that is told while they are read may be one that the reading does not see. */
  async function reloadUntilCurrent(): Promise<void> {
    while (isOutdated) {
      isOutdated = false
      await reload()
    }
  }

  return {
    get: (subscriptionId: string): Endpoint | undefined => known.get(subscriptionId),
    all: (): Endpoint[] => [...known.values()],
    isActive: (endpoint: Endpoint): boolean => known.get(endpoint.row.id) === endpoint,
    /** Its owner said that it is gone. */
    async endForGood({ row }: Endpoint): Promise<void> {
      try {
        await transact({ db, accounts: 'all' as const }, ({ db }) => deactivate(db, row, now()))
        log.info('a webhook endpoint is gone, and its subscription inactive', { resource_id: row.id })
      } catch (error) {
        log.warn('a subscription could not be deactivated', { resource_id: row.id, error })
      }
    },
    refresh(): Promise<void> {
      isOutdated = true
      refreshing ??= reloadUntilCurrent()
        .catch((error: unknown) => log.warn('subscriptions could not be read', { error }))
        .finally(() => (refreshing = undefined))
      return refreshing
    },
  }
}
