import type { Connectors } from '../../connectors/payment.ts'
import type { Job } from '../../jobs/job.ts'
import type { TimeRule } from '../../jobs/time-rule.ts'
import type { Vault } from '../../vault/client.ts'
import { resolveDueEnrolments } from './enrolments/operations.ts'
import { replaceDeclinedKind, replaceExpired, sweepVault, triggerReplacement } from './operations/replace.ts'

/** Cards that expired while newer details wait get these. */
export const expireCards = (vault: Vault): TimeRule => ({
  kind: 'expire-cards',
  everyMs: 60 * 60 * 1000,
  leaseMs: 60_000,
  async run(ctx) {
    const count = await replaceExpired({ ...ctx, vault }, ctx.signal)
    if (count > 0) ctx.log.info('expired cards replaced', { job: 'expire-cards', count })
  },
})

/** A card whose payment was refused gets the details that wait, where that failed at the time. */
export const replaceDeclinedCard = (vault: Vault): Job => ({
  kind: replaceDeclinedKind,
  leaseMs: 60_000,
  run({ db, clocks, log }, payload) {
    const { merchantAccountId, id, errorCode } = payload as { merchantAccountId: string; id: string; errorCode: string }
    const { now } = clocks.of([merchantAccountId])
    return triggerReplacement({ db, now, log, vault }, merchantAccountId, id, `declined:${errorCode}`).then(
      () => undefined,
    )
  },
})

/** Asks providers what became of methods that wait for their buyers. */
export const resolveEnrolments = (vault: Vault, connectors: Connectors): TimeRule => ({
  kind: 'resolve-enrolments',
  everyMs: 5_000,
  leaseMs: 60_000,
  run: (ctx) => resolveDueEnrolments({ ...ctx, vault, connectors }, ctx.signal),
})

/** Numbers in the vault without an owner are removed. By real time: the vault knows no other. */
export const sweepNumbers = (vault: Vault): Job => ({
  kind: 'sweep-vault',
  everyMs: 15 * 60 * 1000,
  leaseMs: 60_000,
  async run({ db, now, log, signal }) {
    const count = await sweepVault({ db, now, log, vault }, signal)
    if (count > 0) log.warn('numbers without an owner removed', { job: 'sweep-vault', count })
  },
})
