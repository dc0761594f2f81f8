import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'

export interface ClockRow {
  ahead_ms: number
  updated_at: Date
  is_settled: boolean
}

export async function findClock(db: Db, accounts: Accounts, account: string): Promise<ClockRow | undefined> {
  const [row] = await read<ClockRow>(
    db,
    accounts,
    (visible) => sql`
      select ahead_ms, updated_at, settled_ms >= ahead_ms as is_settled from sandbox_clocks
      where ${visible(sql`merchant_account_id`)} and merchant_account_id = ${account}`,
  )
  return row
}

/** Whether there is somebody to wait for. */
export async function hasWorker(db: Db): Promise<boolean> {
  const [row] = await db.run<{ is_there: boolean }>(sql`select florin_has_worker() as is_there`)
  return row?.is_there ?? false
}

/** Moves that happen at once add up. Undefined when it would be too far. */
export async function advanceClockRow(
  db: Db,
  account: string,
  { byMs, mostMs, now }: { byMs: number; mostMs: number; now: Date },
): Promise<number | undefined> {
  if (byMs > mostMs) return undefined
  const [row] = await db.run<{ ahead_ms: number }>(sql`
    insert into sandbox_clocks as clock (merchant_account_id, ahead_ms, updated_at) values (${account}, ${byMs}, ${now})
    on conflict (merchant_account_id) do update
      set ahead_ms = clock.ahead_ms + excluded.ahead_ms, updated_at = excluded.updated_at
      where clock.ahead_ms + excluded.ahead_ms <= ${mostMs}
    returning ahead_ms`)
  return row?.ahead_ms
}

export function listClocks(db: Db, accounts: Accounts): Promise<{ merchant_account_id: string; ahead_ms: number }[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select merchant_account_id, ahead_ms from sandbox_clocks where ${visible(sql`merchant_account_id`)}`,
  )
}

/** Everything that was due this far ahead has been done. */
export async function settleClockRow(db: Db, accounts: Accounts, account: string, aheadMs: number): Promise<void> {
  await db.run(sql`
    update sandbox_clocks set settled_ms = greatest(settled_ms, ${aheadMs})
    where ${within(accounts, sql`merchant_account_id`)} and merchant_account_id = ${account}`)
}
