import { newId } from './ids.ts'
import type { Db } from './platform/postgres.ts'
import { sql } from './platform/sql.ts'

/**
 * Leaves work to the worker, in the transaction of the change. One job of a kind and key waits at a time. `runAt` is real time, whatever clock an
 * account goes by.
 */
export async function enqueue(
  db: Db,
  job: { kind: string; key: string; payload: unknown; runAt: Date },
): Promise<void> {
  await db.run(sql`
    insert into jobs (id, kind, key, payload, run_at)
    values (${newId()}, ${job.kind}, ${job.key}, ${JSON.stringify(job.payload)}, ${job.runAt})
    on conflict do nothing`)
}
