import { setTimeout as sleep } from 'node:timers/promises'
import { followedMs } from '../../../clocks.ts'
import type { Context } from '../../../context.ts'
import { invalidBody, notFound } from '../../../errors.ts'
import { newId } from '../../../ids.ts'
import { type Db, transact } from '../../../platform/postgres.ts'
import { enqueue } from '../../../queue.ts'
import { audit } from '../../audit-logs/operations.ts'
import { getMerchantAccount } from '../operations.ts'
import { mostAheadMs, parseDuration } from './rules.ts'
import type { AccountClock } from './schema.ts'
import { advanceClockRow, type ClockRow, findClock, hasWorker, listClocks, settleClockRow } from './store.ts'

export const settleKind = 'settle-clock'

/** How long an answer waits for the worker. */
const patienceMs = 20_000
const askEveryMs = 100

/** How far the clocks that were moved are ahead, for `createClocks`. */
export async function loadClocks(db: Db): Promise<Map<string, number>> {
  const rows = await listClocks(db, 'all')
  return new Map(rows.map(({ merchant_account_id, ahead_ms }) => [merchant_account_id, ahead_ms]))
}

export async function getClock(ctx: Context, account: string): Promise<AccountClock> {
  await admit(ctx, account)
  return present(account, await findClock(ctx.db, ctx.accounts, account))
}

/**
 * Moves the clock, and has the worker do at once what falls due by it. The answer comes when that is done, and not before every process
 * goes by the new time.
 */
export async function advanceClock(ctx: Context, account: string, by: string): Promise<AccountClock> {
  await admit(ctx, account)
  const byMs = parseDuration(by)
  if (byMs === undefined) throw invalidBody('/by', 'value_error.pattern', 'Write a number and s, m, h, d or w: 90s, 3d')
  const aheadMs = await transact(ctx, async (ctx) => {
    const moved = await advanceClockRow(ctx.db, account, { byMs, mostMs: mostAheadMs, now: ctx.now() })
    if (moved === undefined) {
      const message = 'Would move the clock more than 3650 days ahead of real time; use another merchant account'
      throw invalidBody('/by', 'value_error.range', message)
    }
    const payload = { merchantAccountId: account, aheadMs: moved }
    await enqueue(ctx.db, { kind: settleKind, key: `${account} ${newId()}`, payload, runAt: new Date() })
    await audit(ctx, 'updated', { type: 'clock', id: account, name: `${account} + ${by}`, merchantAccountId: account })
    return moved
  })
  ctx.clocks.move(account, aheadMs)
  await sleep(followedMs)
  return present(account, await untilSettled(ctx, account))
}

async function admit(ctx: Context, account: string): Promise<void> {
  if (!ctx.clocks.canMove) throw notFound()
  await getMerchantAccount(ctx, account)
}

async function untilSettled(ctx: Context, account: string): Promise<ClockRow | undefined> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const row = await findClock(ctx.db, ctx.accounts, account)
    if (row?.is_settled || performance.now() > deadline || !(await hasWorker(ctx.db))) return row
    await sleep(askEveryMs)
  }
}

/** What fell due this far ahead has been done; told by who did it. */
export async function settled(ctx: Pick<Context, 'db' | 'accounts'>, account: string, aheadMs: number): Promise<void> {
  await transact(ctx, (ctx) => settleClockRow(ctx.db, ctx.accounts, account, aheadMs))
}

const present = (account: string, row: ClockRow | undefined): AccountClock => ({
  type: 'clock',
  merchant_account_id: account,
  now: new Date(Date.now() + (row?.ahead_ms ?? 0)).toISOString(),
  ahead_seconds: (row?.ahead_ms ?? 0) / 1000,
  is_settled: row?.is_settled ?? true,
  updated_at: row?.updated_at.toISOString() ?? null,
})
