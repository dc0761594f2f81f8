import type { AccountUpdater } from '../../connectors/account-updater.ts'
import type { Job } from '../../jobs/job.ts'
import type { Vault } from '../../vault/client.ts'
import { inquiryKind, runInquiry } from './operations.ts'

/** One inquiry: a card, and what the schemes know of it. */
export const accountUpdaterInquiry = (vault: Vault, updater: AccountUpdater): Job => ({
  kind: inquiryKind,
  leaseMs: 60_000,
  run({ db, clocks, log }, payload) {
    const inquiry = payload as { merchantAccountId: string; inquiryId: string }
    const { now } = clocks.of([inquiry.merchantAccountId])
    return runInquiry({ db, now, log, vault }, updater, inquiry)
  },
})
