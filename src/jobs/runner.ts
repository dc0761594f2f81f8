import { setTimeout as sleep } from 'node:timers/promises'
import { type Clocks, realTime } from '../clocks.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Db } from '../platform/postgres.ts'
import { enqueue } from '../queue.ts'
import type { Job } from './job.ts'
import { type ClaimedJob, claimJobs, deleteJob, extendLease, rescheduleJob } from './store.ts'

export interface RunnerOptions {
  db: Db
  jobs: readonly Job[]
  clocks: Clocks
  log: Log
  metrics: Pick<Metrics, 'observeJob'>
  pollMs?: number
  concurrency?: number
}

export interface Runner {
  /** Stops claiming and waits for the jobs at hand. */
  stop(): Promise<void>
}

/** Runs due jobs, beside any number of other workers. The database decides who gets which. */
export function startRunner({
  db,
  jobs,
  clocks,
  log,
  metrics,
  pollMs = 1_000,
  concurrency = 4,
}: RunnerOptions): Runner {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const byKind = new Map(jobs.map((job) => [job.kind, job]))

  async function runOne(claimed: ClaimedJob, job: Job): Promise<void> {
    const lost = new AbortController()
    const heartbeat = setInterval(() => {
      extendLease(db, claimed, job.leaseMs).then(
        (held) => held || lost.abort(),
        (error: unknown) => log.warn('lease not extended', { job: job.kind, job_id: claimed.id, error }),
      )
    }, job.leaseMs / 3)
    const start = performance.now()
    const seconds = () => (performance.now() - start) / 1000
    try {
      await clocks.refresh()
      const signal = AbortSignal.any([stopping.signal, lost.signal])
      await job.run({ db, now: realTime.now, clocks, log, signal }, claimed.payload)
      metrics.observeJob(job.kind, 'succeeded', seconds())
      if (job.everyMs === undefined) await deleteJob(db, claimed)
      else await rescheduleJob(db, claimed, { inMs: job.everyMs, failed: null })
    } catch (error) {
      metrics.observeJob(job.kind, 'failed', seconds())
      log.error('job failed', { job: job.kind, job_id: claimed.id, attempt: claimed.attempts, error })
      // Name and code only: a message can hold the data the job worked on.
      const { name, code } = error as { name?: string; code?: string }
      await rescheduleJob(db, claimed, {
        inMs: retryDelayMs(claimed.attempts),
        failed: [name, code].filter(Boolean).join(' '),
      })
    } finally {
      clearInterval(heartbeat)
    }
  }

  async function claimOnce(): Promise<void> {
    const free = concurrency - running.size
    if (free <= 0) return
    for (const claimed of await claimJobs(db, jobs, free)) {
      const job = byKind.get(claimed.kind)
      if (!job) continue
      const run: Promise<void> = runOne(claimed, job)
        .catch((error: unknown) => log.error('job not recorded', { job: job.kind, job_id: claimed.id, error }))
        .finally(() => running.delete(run))
      running.add(run)
    }
  }

  async function addPeriodic(): Promise<void> {
    for (const { kind, everyMs } of jobs) {
      if (everyMs !== undefined) await enqueue(db, { kind, key: '', payload: {}, runAt: realTime.now() })
    }
  }

  const loop = (async () => {
    let prepared = false
    while (!stopping.signal.aborted) {
      try {
        if (!prepared) await addPeriodic()
        prepared = true
        await claimOnce()
      } catch (error) {
        log.error('no jobs claimed', { error })
      }
      // Some jitter, so that several workers do not ask in step.
      await sleep(pollMs * (0.75 + Math.random() / 2), undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  })()

  return {
    async stop() {
      stopping.abort()
      await loop
      await Promise.all(running)
    },
  }
}

/** 2 s, 4 s, 8 s … at most an hour. */
export const retryDelayMs = (attempts: number) => Math.min(1_000 * 2 ** Math.min(attempts, 20), 3_600_000)
