import type { Job } from '../../../jobs/job.ts'
import type { TimeRule } from '../../../jobs/time-rule.ts'
import { forgetOldNotifications } from './operations.ts'

/** Messages are known for a day. */
export const sweepNotifications = (): TimeRule => ({
  kind: 'sweep-notifications',
  everyMs: 60 * 60 * 1000,
  leaseMs: 60_000,
  run: (ctx) => forgetOldNotifications(ctx, ctx.signal),
})

/** What the sandbox's providers have to say goes out. */
export const sendSandboxNotifications = (sendDue: (signal: AbortSignal) => Promise<number>): Job => ({
  kind: 'send-sandbox-notifications',
  everyMs: 1_000,
  leaseMs: 60_000,
  async run({ log, signal }) {
    const count = await sendDue(signal)
    if (count > 0) log.info('sandbox notifications sent', { job: 'send-sandbox-notifications', count })
  },
})
