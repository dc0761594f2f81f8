import { countFieldsSent } from '../areas/checkout/operations/fields.ts'
import type { CountUse } from '../http/limiter.ts'
import type { Db } from '../platform/postgres.ts'
import { countTokenUse } from '../platform/uses.ts'

/** Counts in the database what the edge limits. */
export const countUse =
  (db: Db, limit: number): CountUse =>
  async ({ kind, id }) => {
    const row = await (kind === 'token' ? countTokenUse(db, id, limit) : countFieldsSent(db, id, limit))
    return row && { allowed: row.allowed, remaining: Math.max(0, limit - row.used), waitMs: row.wait_ms }
  }
