import type { Source, Stage } from './stage.ts'

/** Of PostgreSQL. */
export interface Cost {
  walBytes: number
  cpuMs: number
}

async function spent(stage: Stage, { client }: Source): Promise<Cost> {
  const { rows } = await client.query<{ at: number }>(
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as at",
  )
  return { walBytes: rows[0]?.at ?? 0, cpuMs: stage.cpu() }
}

export async function costOf(stage: Stage, source: Source, work: () => Promise<void>): Promise<Cost> {
  const before = await spent(stage, source)
  await work()
  const after = await spent(stage, source)
  return { walBytes: after.walBytes - before.walBytes, cpuMs: after.cpuMs - before.cpuMs }
}

/** Of an event, where nobody hears of it. */
export async function costOfEvent(
  stage: Stage,
  source: Source,
  commit: (accounts: readonly string[]) => Promise<void>,
): Promise<Cost> {
  source.committed.clear()
  const cost = await costOf(stage, source, () => commit(['nobody']))
  const events = source.committed.size
  await source.clear()
  return { walBytes: cost.walBytes / events, cpuMs: cost.cpuMs / events }
}
