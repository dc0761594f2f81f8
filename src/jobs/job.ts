import type { Clocks } from '../clocks.ts'
import type { Log } from '../platform/log.ts'
import type { Db } from '../platform/postgres.ts'

export interface JobContext {
  db: Db
  /** Real time. */
  now: () => Date
  clocks: Clocks
  log: Log
  /** Aborted when the worker stops or the lease was lost: finish or give up soon. */
  signal: AbortSignal
}

export interface Job {
  kind: string
  /** Periodic jobs come back after this time; others are done once. */
  everyMs?: number
  /** How long a silent worker keeps the job; a live one extends it. */
  leaseMs: number
  /** May run twice: at least once is the promise. */
  run(ctx: JobContext, payload: unknown): Promise<void>
}
