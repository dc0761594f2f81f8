import { type Answer, pending, refused } from '../mock-card/rules.ts'
import { approvalRules } from './refusals.ts'

/** What can become of a question to a buyer. `expired` may also be so because its time is over. */
export const decisions = ['approved', 'rejected', 'cancelled', 'expired'] as const
export type Decision = (typeof decisions)[number]

/** A challenge whose result a scenario has fixed. */
export type ScenarioResult = 'Y' | 'N' | 'timeout'

/** What the call that waits comes to, by decision; `pending` between the decision and its answer. */
export type Answers = Record<Decision | 'pending', Answer>

/** Of a question whose approval means this answer. */
export const answersTo = (id: string, approved: Answer): Answers => ({
  approved,
  rejected: refused(id, approvalRules.rejected),
  cancelled: refused(id, approvalRules.cancelled),
  expired: refused(id, approvalRules.expired),
  pending: pending(id),
})

const fixed: Record<ScenarioResult, Decision> = { Y: 'approved', N: 'rejected', timeout: 'expired' }

/** A scenario decides before the buyer does. */
export const decisionOf = (pressed: Decision, scenarioResult: ScenarioResult | null): Decision =>
  scenarioResult ? fixed[scenarioResult] : pressed
