import type { Context } from '../../context.ts'
import type { TimeRule } from '../../jobs/time-rule.ts'
import { forgetOldKeys } from '../../idempotency/keys.ts'
import { resolveDue } from './operations/resolve.ts'
import { acceptDueReviews } from './reviews/operations.ts'
import { fetchStatements } from './statements/operations/ingest.ts'

/** Whom they ask. */
type Providers = Pick<Context, 'vault' | 'connectors' | 'giftCards'>

/** The janitor: asks providers what became of calls that were left open. */
export const resolveAttempts = (providers: Providers): TimeRule => ({
  kind: 'resolve-attempts',
  everyMs: 5_000,
  leaseMs: 60_000,
  async run(ctx) {
    const { asked, known } = await resolveDue({ ...ctx, ...providers }, ctx.signal)
    if (asked > 0) ctx.log.info('open attempts asked for', { job: 'resolve-attempts', count: known })
  },
})

/** Asks providers what they paid out, took back and were disputed. */
export const fetchDueStatements = (providers: Providers): TimeRule => ({
  kind: 'fetch-statements',
  everyMs: 60_000,
  leaseMs: 60_000,
  async run(ctx) {
    const count = await fetchStatements({ ...ctx, ...providers }, ctx.signal)
    if (count > 0) ctx.log.info('statements asked for', { job: 'fetch-statements', count })
  },
})

/** Payments that nobody has reviewed in time are accepted. */
export const acceptReviews = (): TimeRule => ({
  kind: 'accept-reviews',
  everyMs: 60_000,
  leaseMs: 60_000,
  async run(ctx) {
    const count = await acceptDueReviews(ctx, ctx.signal)
    if (count > 0) ctx.log.info('reviews accepted', { job: 'accept-reviews', count })
  },
})

/** Answers are repeated for a day. */
export const sweepIdempotencyKeys = (): TimeRule => ({
  kind: 'sweep-idempotency-keys',
  everyMs: 60 * 60 * 1000,
  leaseMs: 60_000,
  run: (ctx) => forgetOldKeys(ctx, ctx.signal),
})
