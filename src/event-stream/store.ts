import type { EventRow } from '../events/envelope.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

/**
 * The next events for the stream, in the order of their ids. Nothing that comes after an event of `event_queue`: another relay may be about to
 * commit that one, and what happened first is to be told first.
 */
export const listWaiting = (db: Db, limit: number): Promise<EventRow[]> =>
  db.run(sql`
    select event.id, event.merchant_account_id, event.name, event.target, event.created_at
    from (
        select event_id from event_stream_queue
        where event_id < coalesce((select event_id from event_queue order by event_id limit 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        order by event_id limit ${limit}
      ) as waiting
      cross join lateral (select * from events where events.id = waiting.event_id offset 0) as event
    order by event.id`)

export async function deleteWaiting(db: Db, ids: readonly string[]): Promise<void> {
  await db.run(sql`delete from event_stream_queue where event_id = any(${ids}::uuid[])`)
}

/** Counting more than that would take longer than it is worth. */
const mostCounted = 100_000

export async function readBacklog(db: Db): Promise<{ count: number; oldest: string | null }> {
  const [backlog] = await db.run<{ count: number; oldest: string | null }>(sql`
    select (select count(*) from (select from event_stream_queue limit ${mostCounted}) as counted) as count,
      (select event_id::text from event_stream_queue order by event_id limit 1) as oldest`)
  return backlog ?? { count: 0, oldest: null }
}
