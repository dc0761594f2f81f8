import { setTimeout as sleep } from 'node:timers/promises'
import { realTime } from '../clocks.ts'
import type { Db } from '../platform/postgres.ts'
import { enqueue } from '../queue.ts'
import { extendLease, rescheduleJob, takeJobs } from './store.ts'

const leaseMs = 60_000
const patienceMs = 60_000

/**
 * Keeps every worker from these periodic jobs, as one that runs them would, until they are released. Whoever dies meanwhile keeps them for a minute.
 * Undefined when a worker is busy with one of them for too long.
 */
export async function holdJobs(db: Db, kinds: readonly string[]): Promise<{ release(): Promise<void> } | undefined> {
  for (const kind of kinds) await enqueue(db, { kind, key: '', payload: {}, runAt: realTime.now() })
  const held = await takeJobs(db, kinds, leaseMs)
  const heartbeat = setInterval(() => {
    for (const job of held) extendLease(db, job, leaseMs).catch(() => undefined)
  }, leaseMs / 3)
  const release = async () => {
    clearInterval(heartbeat)
    for (const job of held) await rescheduleJob(db, job, { inMs: 0, failed: null })
  }
  const end = performance.now() + patienceMs
  while (held.length < kinds.length) {
    if (performance.now() > end) {
      await release()
      return undefined
    }
    await sleep(100)
    held.push(...(await takeJobs(db, kinds, leaseMs)))
  }
  return { release }
}
