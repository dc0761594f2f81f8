import { setTimeout as sleep } from 'node:timers/promises'
import { isTestNumber } from '../../../cards/test-numbers.ts'
import type { Db } from '../../../platform/postgres.ts'
import type { AuthorizeCall, FollowUpCall } from '../../payment.ts'
import type { RuledAction, RuleVerdict, SimulatorRule, SimulatorRules } from '../../simulator.ts'
import { findRule } from '../find-rule.ts'
import { announce } from '../notifications.ts'
import { amountRefusals, type Refusal } from './amounts.ts'
import { pendingMs } from './catalogue.ts'
import { type Answer, approved, type Decision, refused } from './rules.ts'
import type { OperationRow } from './store.ts'

/** What a simulator rule makes of a call. */

/** No rule makes a card of a number that is none. */
export async function ruleOfAuthorization(
  rules: SimulatorRules,
  { service, amount, currency, country, card, buyer, externalIdentifier }: AuthorizeCall,
): Promise<SimulatorRule | undefined> {
  if (card && !isTestNumber(card.number)) return undefined
  return findRule(rules, service.merchantAccountId, {
    action: 'authorize',
    serviceId: service.serviceId,
    amount,
    currency,
    country,
    cardNumber: card?.number ?? null,
    emailAddress: buyer.emailAddress,
    externalIdentifier,
  })
}

export const ruleOfFollowUp = (
  rules: SimulatorRules,
  { service, currency }: FollowUpCall,
  { kind, amount }: { kind: RuledAction; amount: number | null },
): Promise<SimulatorRule | undefined> =>
  findRule(rules, service.merchantAccountId, {
    action: kind,
    serviceId: service.serviceId,
    amount,
    currency,
    country: null,
    cardNumber: null,
    emailAddress: null,
    externalIdentifier: null,
  })

const refusals = new Map(amountRefusals.toReversed().map(({ refusal }) => [refusal.error_code, refusal]))

/** What a rule can refuse with. */
export const errorCodes: readonly string[] = [...refusals.keys()].toSorted()

/** Undefined: nothing is refused. */
function refusalOf({ result, error_code = '', raw_response_code }: RuleVerdict): Refusal | undefined {
  const usual = refusals.get(error_code)
  if (result === 'approved' || !usual) return undefined
  return { ...usual, outcome: result, raw_code: raw_response_code ?? usual.raw_code }
}

type Delivery = Exclude<Decision['delivery'], 'charged later'>

/** What is said in the end, and how it comes about. Undefined: the rule has no opinion. */
function verdictOf({ outcome }: SimulatorRule): { final: RuleVerdict; delivery: Delivery } | undefined {
  const { result, final = { result: 'approved' }, ...words } = outcome
  switch (result) {
    case undefined:
      return undefined
    case 'pending':
      return { final, delivery: 'later' }
    case 'timeout_after':
      return { final, delivery: 'lost' }
    case 'timeout_before':
      return { final, delivery: 'never' }
    case 'approved':
    case 'declined':
    case 'failed':
      return { final: { ...words, result }, delivery: 'now' }
  }
}

/** What becomes of a payment instead of the usual, by how the processor answers a refusal or its absence. */
export type Judge = (usual: Decision, answerTo: (refusal: Refusal | undefined) => Answer) => Decision

export function judgeByRule(
  { intent, asyncCapture }: Pick<AuthorizeCall, 'intent' | 'asyncCapture'>,
  usual: Decision,
  answerTo: Parameters<Judge>[1],
  rule: SimulatorRule | undefined,
): Decision {
  const verdict = rule && verdictOf(rule)
  if (!verdict) return usual
  const refusal = refusalOf(verdict.final)
  const isChargedLater = verdict.delivery === 'now' && !refusal && intent === 'capture' && asyncCapture
  return {
    answer: answerTo(refusal),
    delivery: isChargedLater ? 'charged later' : verdict.delivery,
    forces: usual.forces,
  }
}

/** How a call about a payment is answered, if the payment allows it at all. */
export function followByRule(
  id: string,
  rule: SimulatorRule | undefined,
): { delivery: Delivery | null; ruled: Answer | undefined } {
  const verdict = rule && verdictOf(rule)
  if (!verdict) return { delivery: null, ruled: undefined }
  const refusal = refusalOf(verdict.final)
  return { delivery: verdict.delivery, ruled: refusal ? refused(id, refusal) : approved(id) }
}

/** How long what is not decided at once takes. */
export const waitMsOf = (rule: SimulatorRule | undefined): number =>
  rule?.outcome.decide_after_seconds === undefined ? pendingMs : rule.outcome.decide_after_seconds * 1000

/** The answer takes its time on the way. */
export async function delayed<Result>(
  rule: SimulatorRule | undefined,
  signal: AbortSignal,
  answer: Result,
): Promise<Result> {
  const { delay_ms: ms = 0 } = rule?.outcome ?? {}
  // Whoever has stopped waiting does not hear it.
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined)
  return answer
}

/** Whoever did not hear at once what became of a call is told when it is time. Nobody awaits news of a cancel. */
export async function announceLater(
  db: Db,
  { service, reference }: Pick<FollowUpCall, 'service' | 'reference'>,
  { id, row, inMs, rule }: { id: string; row: OperationRow | undefined; inMs: number; rule: SimulatorRule | undefined },
): Promise<void> {
  if (row?.id !== id || row.kind === 'cancel' || !(row.due_at || row.lost)) return
  await announce(db, service, { reference, kind: 'operation', inMs }, rule?.notifications ?? undefined)
}
