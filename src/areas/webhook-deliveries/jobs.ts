import type { Job } from '../../jobs/job.ts'
import { expireDeliveries } from './operations.ts'

/** What could not be delivered in its time has failed. */
export const expireWebhookDeliveries: Job = {
  kind: 'expire-webhook-deliveries',
  everyMs: 60_000,
  leaseMs: 60_000,
  async run({ db, now, log, signal }) {
    const count = await expireDeliveries({ db, now }, signal)
    if (count > 0) log.info('webhook deliveries expired', { job: 'expire-webhook-deliveries', count })
  },
}
