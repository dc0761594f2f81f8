import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../platform/config.ts'
import { databaseAdvice } from '../platform/database-advice.ts'
import type { Log } from '../platform/log.ts'
import { missingMigrations } from '../platform/migrations.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

/** What keeps a process from serving: a database that does not let it in, or lacks migrations this program knows, or another role than its own. */
export async function databaseProblems(db: Db, process: 'api' | 'worker' | 'vault'): Promise<string[]> {
  try {
    const [row] = await db.run<{ role: string; applied: string[] }>(
      sql`select current_user as role, array(select name from florin_migrations) as applied`,
    )
    const role = row?.role ?? ''
    const missing = missingMigrations(row?.applied ?? [])
    return [
      // An administrator is past the walls between merchant accounts, and nobody would notice.
      ...(role === `florin_${process}`
        ? []
        : [`the database role is ${role} and must be florin_${process}: correct DATABASE_URL`]),
      ...(missing.length === 0 ? [] : [`the database lacks the migrations ${missing.join(', ')}: run florin migrate`]),
    ]
  } catch (error) {
    return [`the database ${databaseAdvice(error as Error) ?? 'does not answer'}`]
  }
}

export interface Running {
  log: Log
  /** From now on `/readyz` says no. */
  drain(): void
  close(): Promise<void>
}

/** Starts a process and ends it well: SIGTERM or SIGINT → not ready → wait for the balancer → finish → exit. */
export async function runProcess(
  start: () => Promise<Running & { drainDelayMs: number; shutdownTimeoutMs: number }>,
): Promise<void> {
  try {
    const running = await start()
    let stopping = false
    const stop = (signal: NodeJS.Signals) => {
      if (stopping) return
      stopping = true
      running.log.info('stopping', { signal })
      void shutDown(running).then((code) => process.exit(code))
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  } catch (error) {
    // A configuration error is for a person to read; its stack would hide it.
    const text = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error)
    process.stderr.write(`${text}\n`)
    process.exitCode = 1
  }
}

async function shutDown(running: Running & { drainDelayMs: number; shutdownTimeoutMs: number }): Promise<number> {
  running.drain()
  await sleep(running.drainDelayMs)
  const late = sleep(running.shutdownTimeoutMs, 'late' as const, { ref: false })
  const outcome = await Promise.race([running.close().then(() => 'closed' as const), late])
  if (outcome === 'late') running.log.error('still busy after the shutdown timeout')
  return outcome === 'closed' ? 0 : 1
}
