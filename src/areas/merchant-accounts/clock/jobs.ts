import type { Job } from '../../../jobs/job.ts'
import type { TimeRule } from '../../../jobs/time-rule.ts'
import { settled, settleKind } from './operations.ts'

/** Does what fell due in an account whose clock was moved, without waiting for the next turn of each rule. */
export const settleClock = (rules: readonly TimeRule[]): Job => ({
  kind: settleKind,
  leaseMs: 60_000,
  async run({ db, log, signal, clocks }, payload) {
    const { merchantAccountId, aheadMs } = payload as { merchantAccountId: string; aheadMs: number }
    clocks.move(merchantAccountId, aheadMs)
    const accounts = [merchantAccountId]
    for (const rule of rules) await rule.run({ db, log, signal, accounts, ...clocks.of(accounts) })
    // A worker that stops half-way must not be taken for one that is done.
    signal.throwIfAborted()
    await settled({ db, accounts }, merchantAccountId, aheadMs)
  },
})
