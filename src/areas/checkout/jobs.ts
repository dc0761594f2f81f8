import type { TimeRule } from '../../jobs/time-rule.ts'
import type { Vault } from '../../vault/client.ts'
import { sweepSessions } from './operations/sweep.ts'

/** Expired checkout sessions and their cards are removed. */
export const sweepCheckoutSessions = (vault: Vault): TimeRule => ({
  kind: 'sweep-checkout-sessions',
  everyMs: 5 * 60 * 1000,
  leaseMs: 60_000,
  async run(ctx) {
    const count = await sweepSessions({ ...ctx, vault }, ctx.signal)
    if (count > 0) ctx.log.info('expired checkout sessions removed', { job: 'sweep-checkout-sessions', count })
  },
})
