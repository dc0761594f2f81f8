import { hash } from 'node:crypto'
import type { Db } from './postgres.ts'
import { raw, type Sql, sql } from './sql.ts'

/** How often something was used lately, counted for all processes together. */

export const windowSeconds = 60

const length = raw(`interval '${windowSeconds} seconds'`)

export interface UseRow {
  allowed: boolean
  /** Uses within the window, this one included if it was allowed. */
  used: number
  /** Until the next is allowed, or the oldest within the window is out of it. */
  wait_ms: number
}

/**
 * One use: allowed if the one that was allowed `limit` uses ago is out of the window, so that no window has more, wherever it begins. The row
 * is locked before the clock is read, and a use that is refused leaves the times as they are. Nothing is counted, and nothing returned, unless
 * `exists`.
 */
export function countingUse(subject: string, limit: number, exists: Sql): Sql {
  return sql`
    insert into embed_uses as known (subject, times, asked_at, allowed)
    select decode(${hash('sha256', subject, 'hex')}, 'hex'), array[at], at, true from (select clock_timestamp() as at) as clock where ${exists}
    on conflict (subject) do update set (times, asked_at, allowed) = (
      select case when is_free then (known.times || at)[greatest(1, cardinality(known.times) + 2 - ${limit}::int):] else known.times end, at, is_free
      from (select clock_timestamp() as at) as clock,
        lateral (select coalesce(known.times[cardinality(known.times) + 1 - ${limit}::int] < at - ${length}, true) as is_free) as decided
    )
    returning allowed,
      (select count(*)::int from unnest(times) as at where at >= asked_at - ${length}) as used,
      (extract(epoch from greatest(times[cardinality(times) + 1 - ${limit}::int],
        (select min(at) from unnest(times) as at where at >= asked_at - ${length})) + ${length} - asked_at) * 1000)::float8 as wait_ms`
}

export async function countTokenUse(db: Db, tokenId: string, limit: number): Promise<UseRow | undefined> {
  const [row] = await db.run<UseRow>(countingUse(`token:${tokenId}`, limit, sql`true`))
  return row
}

/** Whoever did not ask for longer than a window has nothing that counts. */
export async function forgetUses(db: Db): Promise<void> {
  await db.run(sql`delete from embed_uses where asked_at < clock_timestamp() - 2 * ${length}`)
}
