import type { Job } from '../../jobs/job.ts'
import type { Vault } from '../../vault/client.ts'
import { sweepSessions } from './operations/sweep.ts'

/** Expired checkout sessions and their cards are removed. */
export const sweepCheckoutSessions = (vault: Vault): Job => ({
  kind: 'sweep-checkout-sessions',
  everyMs: 5 * 60 * 1000,
  leaseMs: 60_000,
  async run({ db, now, log, signal }) {
    const count = await sweepSessions({ db, now, vault }, signal)
    if (count > 0) log.info('expired checkout sessions removed', { job: 'sweep-checkout-sessions', count })
  },
})
