import { newId } from '../src/ids.ts'
import { afterAll, beforeAll } from 'vitest'
import { resolveDue } from '../src/areas/transactions/operations/resolve.ts'
import { type Difference, verifyTransactions } from '../src/areas/transactions/operations/verify.ts'
import { createConnectors, createGiftCards } from '../src/connectors/registry.ts'
import { createLog } from '../src/platform/log.ts'
import { connect, type Database } from '../src/platform/postgres.ts'
import type { TestApi } from './api.ts'

/** What the worker does, when a test says so. */
export function useJanitor(api: TestApi) {
  let db: Database
  beforeAll(() => {
    db = connect({
      url: api.database.url('florin_worker'),
      applicationName: 'test',
      poolSize: 2,
      onError: () => undefined,
    })
  })
  afterAll(() => db.close())
  return {
    db: () => db,
    /** As if a month had passed: everything that is open is asked for, until it is known. */
    async settleAll() {
      for (const days of [31, 62, 93]) {
        const now = () => new Date(Date.now() + days * 24 * 60 * 60_000)
        const connectors = createConnectors({ environment: 'sandbox', db, now })
        const giftCards = createGiftCards({ environment: 'sandbox', db, now })
        const log = createLog({ level: 'silent', process: 'test' })
        const ctx = { db, accounts: 'all' as const, vault: api.vault.client(), connectors, giftCards, newId, now, log }
        await resolveDue(ctx, new AbortController().signal)
      }
    },
    /** What `florin verify` finds. */
    async differences(): Promise<Difference[]> {
      const found: Difference[] = []
      await verifyTransactions({ db, accounts: 'all' }, { onDifference: (difference) => void found.push(difference) })
      return found
    },
  }
}
