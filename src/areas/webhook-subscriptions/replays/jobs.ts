import type { Job } from '../../../jobs/job.ts'
import { advanceReplays } from './operations.ts'

/** Events of the past become deliveries again. The lease is short, so that somebody else soon goes on after a crash. */
export const replayWebhooks: Job = {
  kind: 'replay-webhooks',
  everyMs: 1_000,
  leaseMs: 15_000,
  async run({ db, now, log, signal }) {
    const count = await advanceReplays(db, now, signal)
    if (count > 0) log.info('webhook deliveries replayed', { job: 'replay-webhooks', count })
  },
}
