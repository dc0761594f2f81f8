import type { Clock } from '../clocks.ts'
import type { Accounts } from '../platform/accounts.ts'
import type { Job, JobContext } from './job.ts'

/** Something that happens to accounts by the passing of their time: what expires, and what is asked for again. */
export interface TimeRule {
  kind: string
  everyMs: number
  leaseMs: number
  /** Does all that is due in these accounts by this time. May run twice, also at once. */
  run(ctx: TimeContext): Promise<void>
}

export type TimeContext = Pick<JobContext, 'db' | 'log' | 'signal'> & Clock & { accounts: Accounts }

/** The rule as a job: for every account whose clock was moved, by its clock, and for all by real time, which is never early for anybody. */
export const byEveryClock = (rule: TimeRule): Job => ({
  kind: rule.kind,
  everyMs: rule.everyMs,
  leaseMs: rule.leaseMs,
  async run({ db, log, signal, clocks }) {
    for (const accounts of [...clocks.moved().map((account) => [account]), 'all' as const]) {
      if (!signal.aborted) await rule.run({ db, log, signal, accounts, ...clocks.of(accounts) })
    }
  },
})
