import { timeOfId } from '../../../ids.ts'
import type { Db } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'

/** An event that does not go into the queue: nobody hears of it but by a delivery that is made for it. */
export async function insertUnqueuedEvent(
  db: Db,
  event: { id: string; merchantAccountId: string | null; name: string; target: { type: string; id: string } },
): Promise<void> {
  await db.run(sql`
    insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
    values (${event.id}, ${event.merchantAccountId}, ${event.name}, ${event.target.type}, ${event.target.id}, 1,
      ${JSON.stringify(event.target)}, ${timeOfId(event.id)})`)
}
