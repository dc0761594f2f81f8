import { setTimeout as sleep } from 'node:timers/promises'
import { failpoint } from '../platform/failpoint.ts'
import type { Log } from '../platform/log.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { type Result, writeResults } from './store.ts'

const mostTogether = 500
const gatherMs = 20
const retryMs = 500

/** Writes what became of attempts, many together. A delivery is over for this process when its row says so. */
export function createResultWriter({ db, now, log }: { db: Db; now: () => Date; log: Log }) {
  const gathered: { result: Result; done: () => void }[] = []
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    await sleep(gatherMs)
    while (gathered.length > 0) {
      const batch = gathered.splice(0, mostTogether)
      await failpoint('dispatch: results not yet written')
      await persist(batch.map(({ result }) => result))
      await failpoint('dispatch: results written')
      for (const { done } of batch) done()
    }
    writing = undefined
  }

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

  return {
    /** Ends when it is written. */
    add(result: Result): Promise<void> {
      return new Promise((done) => {
        gathered.push({ result, done })
        writing ??= write()
      })
    },
    async flush(): Promise<void> {
      while (writing) await writing
    },
  }
}
