import type { Job } from '../../jobs/job.ts'
import type { Vault } from '../../vault/client.ts'
import { replaceDeclinedKind, replaceExpired, sweepVault, triggerReplacement } from './operations/replace.ts'

/** Cards that expired while newer details wait get these. */
export const expireCards = (vault: Vault): Job => ({
  kind: 'expire-cards',
  everyMs: 60 * 60 * 1000,
  leaseMs: 60_000,
  async run({ db, now, log, signal }) {
    const count = await replaceExpired({ db, now, log, vault }, signal)
    if (count > 0) log.info('expired cards replaced', { job: 'expire-cards', count })
  },
})

/** A card whose payment was refused gets the details that wait, where that failed at the time. */
export const replaceDeclinedCard = (vault: Vault): Job => ({
  kind: replaceDeclinedKind,
  leaseMs: 60_000,
  run({ db, now, log }, payload) {
    const { merchantAccountId, id, errorCode } = payload as { merchantAccountId: string; id: string; errorCode: string }
    return triggerReplacement({ db, now, log, vault }, merchantAccountId, id, `declined:${errorCode}`).then(
      () => undefined,
    )
  },
})

/** Numbers in the vault without an owner are removed. */
export const sweepNumbers = (vault: Vault): Job => ({
  kind: 'sweep-vault',
  everyMs: 15 * 60 * 1000,
  leaseMs: 60_000,
  async run({ db, now, log, signal }) {
    const count = await sweepVault({ db, now, log, vault }, signal)
    if (count > 0) log.warn('numbers without an owner removed', { job: 'sweep-vault', count })
  },
})
