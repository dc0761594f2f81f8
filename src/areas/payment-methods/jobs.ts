import type { Job } from '../../jobs/job.ts'
import type { Vault } from '../../vault/client.ts'
import { replaceExpired, sweepVault } from './operations/replace.ts'

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
