import { hash } from 'node:crypto'
import { authenticationNumbers, isTestNumber } from '../../../cards/test-numbers.ts'
import { isExpired } from '../../../cards/expiration.ts'
import type { AuthorizeCall, ThreeDSecureOutcome } from '../../payment.ts'
import { approvalRules } from '../approvals/refusals.ts'
import { type Answers, answersTo, type ScenarioResult } from '../approvals/rules.ts'
import type { Refusal } from './amounts.ts'
import type { Plan } from './connector.ts'
import type { Judge } from './by-rule.ts'
import { type Answer, answerTo, type CardCall, decideAuthorization, type Decision, refused } from './rules.ts'

type TransactionStatus = 'Y' | 'A' | 'N' | 'R' | 'U' | 'C' | 'timeout'

/** A rule of a user's own: which payments, and what 3-D Secure says of them. */
export interface Scenario {
  conditions: {
    first_name?: string | null
    last_name?: string | null
    email_address?: string | null
    amount?: number | null
    external_identifier?: string | null
    card_number?: string | null
  }
  outcome: {
    version?: string | null
    authentication: { transaction_status: TransactionStatus }
    result?: { transaction_status: ScenarioResult } | null
  }
}

/** The scenarios of a merchant account, newest first. */
export type LoadScenarios = (merchantAccountId: string) => Promise<readonly Scenario[]>
export const noScenarios: LoadScenarios = () => Promise.resolve([])

interface Authentication {
  version: string
  status: TransactionStatus
  /** Of a challenge that a scenario decides. */
  result: ScenarioResult | null
}

const usualVersion = '2.2.0'
const byNumber = new Map(authenticationNumbers.map(({ number, authentication }) => [number, authentication]))

/** A payment with a card: authenticated first where that is asked for, then decided. */
export async function planCard(
  asked: AuthorizeCall,
  { id, at: now, judge, scenarios }: { id: string; at: Date; judge: Judge; scenarios: LoadScenarios },
): Promise<Plan> {
  const { card, approval } = asked
  if (!card) throw new Error('a card processor was asked without a card')
  const call = { ...asked, card }
  const decision = judge(decideAuthorization(call, id, now), (refusal) => answerTo(call, id, refusal))
  const authentication = await authenticate(call, scenarios, now)
  if (!authentication) return { decision }
  const { version, status, result } = authentication
  if (status !== 'C') return { decision: authenticated(decision, version, status, call, id) }
  if (!approval) return { decision: { ...decision, answer: refused(id, approvalRules.noWayBack), delivery: 'now' } }
  return {
    decision,
    question: {
      kind: 'three_d_secure',
      card_suffix: card.number.slice(-4),
      approval,
      answers: challengeAnswers(decision.answer, version, call, id),
      scenarioResult: result,
      threeDSecure: openChallenge(version),
    },
  }
}

/** What 3-D Secure says of a payment: the newest scenario that fits, else the card, else a challenge. Undefined where it is not asked. */
async function authenticate(
  call: CardCall,
  loadScenarios: LoadScenarios,
  now: Date,
): Promise<Authentication | undefined> {
  const { number, expirationDate } = call.card
  if (call.merchantInitiated || !isTestNumber(number) || isExpired(expirationDate, now)) return undefined
  const ofCard = byNumber.get(number)
  if (!call.approval?.threeDSecure) {
    return ofCard === 'C' ? { version: usualVersion, status: 'C', result: null } : undefined
  }
  const scenarios = await loadScenarios(call.service.merchantAccountId)
  const found = scenarios.find(({ conditions }) => holds(conditions, call))
  if (!found) return { version: usualVersion, status: ofCard ?? 'C', result: null }
  const { version, authentication, result } = found.outcome
  return {
    version: version ?? usualVersion,
    status: authentication.transaction_status,
    result: result?.transaction_status ?? null,
  }
}

/** Whether all conditions that are given hold. */
function holds(conditions: Scenario['conditions'], { buyer, amount, externalIdentifier, card }: CardCall): boolean {
  const pairs = [
    [conditions.first_name, buyer.firstName],
    [conditions.last_name, buyer.lastName],
    [conditions.email_address, buyer.emailAddress],
    [conditions.amount, amount],
    [conditions.external_identifier, externalIdentifier],
    [conditions.card_number, card.number],
  ]
  return pairs.every(([wanted, given]) => wanted === null || wanted === undefined || wanted === given)
}

/** The decision about a payment with what 3-D Secure said before it, where it was said without a challenge. */
function authenticated(
  decision: Decision,
  version: string,
  status: Exclude<TransactionStatus, 'C'>,
  call: CardCall,
  id: string,
): Decision {
  const failed = { version, response_data: null }
  // Nothing is reserved by a payment that is refused at once.
  const atOnce = decision.delivery === 'charged later' ? 'now' : decision.delivery
  const refusedWith = (refusal: Refusal, threeDSecure: ThreeDSecureOutcome): Decision => ({
    ...decision,
    delivery: atOnce,
    answer: { ...refused(id, refusal), threeDSecure },
  })
  switch (status) {
    case 'Y':
    case 'A':
      return { ...decision, answer: { ...decision.answer, threeDSecure: succeeded(version, status, call) } }
    case 'U':
      return { ...decision, answer: { ...decision.answer, threeDSecure: { ...failed, status: 'error', method: null } } }
    case 'N':
    case 'R':
      return refusedWith(approvalRules.notAuthenticated, { ...failed, status: 'declined', method: 'frictionless' })
    case 'timeout':
      return refusedWith(approvalRules.noAnswer, { ...failed, status: 'error', method: null })
  }
}

/** What a payment comes to by what its buyer makes of the challenge. */
function challengeAnswers(approved: Answer, version: string, call: CardCall, id: string): Answers {
  const { approved: _same, pending, ...refusals } = answersTo(id, approved)
  const failed = { version, method: 'challenge', response_data: null } as const
  return {
    approved: { ...approved, threeDSecure: succeeded(version, 'C', call) },
    rejected: { ...refusals.rejected, threeDSecure: { ...failed, status: 'declined' } },
    cancelled: { ...refusals.cancelled, threeDSecure: { ...failed, status: 'cancelled' } },
    expired: { ...refusals.expired, threeDSecure: { ...failed, status: 'error' } },
    pending: { ...pending, threeDSecure: openChallenge(version) },
  }
}

const openChallenge = (version: string): ThreeDSecureOutcome => ({
  version,
  status: null,
  method: 'challenge',
  response_data: null,
})

/** The same for the same reference. */
function succeeded(version: string, said: 'Y' | 'A' | 'C', { reference, card }: CardCall): ThreeDSecureOutcome {
  const digest = hash('sha256', `3-D Secure ${reference}`)
  const isAttempt = said === 'A'
  const eci = card.scheme === 'mastercard' ? (isAttempt ? '01' : '02') : isAttempt ? '06' : '05'
  return {
    version,
    status: 'complete',
    method: said === 'C' ? 'challenge' : 'frictionless',
    response_data: {
      version,
      authentication_response: isAttempt ? 'A' : 'Y',
      directory_response: said,
      directory_transaction_id: digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
      cavv: Buffer.from(digest, 'hex').subarray(0, 20).toString('base64'),
      eci,
    },
  }
}
