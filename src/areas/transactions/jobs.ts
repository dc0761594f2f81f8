import type { Connectors } from '../../connectors/payment.ts'
import type { Job } from '../../jobs/job.ts'
import type { Vault } from '../../vault/client.ts'
import { forgetOldKeys } from './operations/idempotency.ts'
import { resolveDue } from './operations/resolve.ts'

/** The janitor: asks providers what became of calls that were left open. */
export const resolveAttempts = (vault: Vault, connectors: Connectors): Job => ({
  kind: 'resolve-attempts',
  everyMs: 5_000,
  leaseMs: 60_000,
  async run({ db, now, log, signal }) {
    const { asked, known } = await resolveDue({ db, now, log, vault, connectors }, signal)
    if (asked > 0) log.info('open attempts asked for', { job: 'resolve-attempts', count: known })
  },
})

/** Answers are repeated for a day. */
export const sweepIdempotencyKeys = (): Job => ({
  kind: 'sweep-idempotency-keys',
  everyMs: 60 * 60 * 1000,
  leaseMs: 60_000,
  run: ({ db, now, signal }) => forgetOldKeys({ db, now }, signal),
})
