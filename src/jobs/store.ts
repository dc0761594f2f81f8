import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

export interface ClaimedJob {
  id: string
  kind: string
  payload: unknown
  lease: string
  attempts: number
}

/** Takes due jobs: moving `run_at` ahead is the lease, so a job whose worker dies comes back by itself. */
export function claimJobs(
  db: Db,
  kinds: readonly { kind: string; leaseMs: number }[],
  limit: number,
): Promise<ClaimedJob[]> {
  return db.run<ClaimedJob>(sql`
    update jobs
    set run_at = now() + known.lease_ms * interval '1 ms', lease = gen_random_uuid(), attempts = attempts + 1, last_run_at = now()
    from unnest(${kinds.map(({ kind }) => kind)}::text[], ${kinds.map(({ leaseMs }) => leaseMs)}::integer[]) as known (kind, lease_ms)
    where jobs.kind = known.kind
      and jobs.id in (
        select id from jobs
        where run_at <= now() and kind = any(${kinds.map(({ kind }) => kind)}::text[])
        order by run_at limit ${limit} for update skip locked
      )
    returning jobs.id, jobs.kind, jobs.payload, jobs.lease, jobs.attempts`)
}

/** Takes jobs that nobody runs, due or not. */
export function takeJobs(db: Db, kinds: readonly string[], leaseMs: number): Promise<ClaimedJob[]> {
  return db.run<ClaimedJob>(sql`
    update jobs set run_at = now() + ${leaseMs} * interval '1 ms', lease = gen_random_uuid()
    where kind = any(${kinds}::text[]) and key = '' and (lease is null or run_at <= now())
    returning id, kind, payload, lease, attempts`)
}

/** All of these do nothing, and say so, when the lease has passed to somebody else. */
export async function extendLease(db: Db, { id, lease }: ClaimedJob, leaseMs: number): Promise<boolean> {
  const held = await db.run(sql`
    update jobs set run_at = now() + ${leaseMs} * interval '1 ms' where id = ${id} and lease = ${lease} returning id`)
  return held.length > 0
}

export async function deleteJob(db: Db, { id, lease }: ClaimedJob): Promise<boolean> {
  return (await db.run(sql`delete from jobs where id = ${id} and lease = ${lease} returning id`)).length > 0
}

export async function rescheduleJob(
  db: Db,
  { id, lease }: ClaimedJob,
  next: { inMs: number; failed: string | null },
): Promise<boolean> {
  const held = await db.run(sql`
    update jobs
    set run_at = now() + ${next.inMs} * interval '1 ms', lease = null, last_error = ${next.failed},
      attempts = case when ${next.failed}::text is null then 0 else attempts end
    where id = ${id} and lease = ${lease}
    returning id`)
  return held.length > 0
}

/** For how many seconds the oldest job has been due; 0 when none is. */
export async function readOldestDue(db: Db): Promise<number> {
  const [row] = await db.run<{ seconds: number | null }>(
    sql`select extract(epoch from now() - min(run_at))::float8 as seconds from jobs where run_at <= now()`,
  )
  return row?.seconds ?? 0
}
