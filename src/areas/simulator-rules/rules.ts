import type { RuleConditions, RuleNotifications, RuleOutcome, RuleVerdict } from '../../connectors/simulator.ts'
import type { ErrorDetail } from '../../errors.ts'

/** What a rule may say. Pure. */

interface Rule {
  conditions: RuleConditions
  outcome: RuleOutcome
  notifications: RuleNotifications | null
}

interface Known {
  /** What the sandbox's providers can refuse with. */
  errorCodes: ReadonlySet<string>
  isTestNumber: (number: string) => boolean
}

const problem = (pointer: string, type: string, message: string): ErrorDetail => ({
  location: 'body',
  pointer,
  type: `value_error.${type}`,
  message,
})

/** Everything that does not go together. */
export const ruleProblems = (rule: Rule, known: Known): ErrorDetail[] => [
  ...conditionProblems(rule.conditions, known),
  ...outcomeProblems(rule.outcome, known),
  ...notificationProblems(rule.notifications),
]

/** Of which nothing but an authorization tells. */
const ofAuthorizations = ['country', 'card_number', 'buyer_email_address', 'external_identifier'] as const
const amounts = ['amount', 'amount_gte', 'amount_lte'] as const

function conditionProblems(conditions: RuleConditions, { isTestNumber }: Known): ErrorDetail[] {
  const { action, amount, amount_gte: least, amount_lte: most, card_number: number } = conditions
  const given = (names: readonly (keyof RuleConditions)[]) => names.filter((name) => conditions[name] !== undefined)
  const conflict = (name: string, message: string) => problem(`/conditions/${name}`, 'conflict', message)
  const isBare = action === 'void' || action === 'cancel'
  return [
    ...(action === undefined || action === 'authorize' ? [] : given(ofAuthorizations)).map((name) =>
      conflict(name, 'Only an authorization tells it; leave it out, or the action'),
    ),
    ...(isBare ? given(amounts) : []).map((name) =>
      conflict(name, `A ${action} is about the whole payment and has no amount`),
    ),
    ...(amount === undefined ? [] : given(['amount_gte', 'amount_lte'])).map((name) =>
      conflict(name, 'Goes without `amount`, which says it all'),
    ),
    ...(least !== undefined && most !== undefined && least > most
      ? [problem('/conditions/amount_lte', 'range', 'Must not be less than `amount_gte`')]
      : []),
    ...(number === undefined || isTestNumber(number)
      ? []
      : [problem('/conditions/card_number', 'unknown', 'Must be one of the test numbers in docs/sandbox.md')]),
  ]
}

function outcomeProblems(outcome: RuleOutcome, known: Known): ErrorDetail[] {
  const { result, final } = outcome
  const isDecidedLater = result === 'pending' || result === 'timeout_after'
  return [
    ...verdictProblems('/outcome', outcome, known),
    ...(final && !isDecidedLater
      ? [problem('/outcome/final', 'conflict', 'Only with the result `pending` or `timeout_after`')]
      : []),
    ...(final ? verdictProblems('/outcome/final', final, known) : []),
    ...(outcome.decide_after_seconds !== undefined && result !== 'pending'
      ? [problem('/outcome/decide_after_seconds', 'conflict', 'Only with the result `pending`')]
      : []),
  ]
}

function verdictProblems(
  at: string,
  { result, error_code, raw_response_code }: Omit<RuleVerdict, 'result'> & { result?: RuleOutcome['result'] },
  { errorCodes }: Known,
): ErrorDetail[] {
  if (result === 'declined' || result === 'failed') {
    if (error_code === undefined)
      return [problem(`${at}/error_code`, 'missing', `Is needed with the result \`${result}\``)]
    if (errorCodes.has(error_code)) return []
    return [problem(`${at}/error_code`, 'unknown', 'Must be one of the error codes in docs/sandbox.md')]
  }
  const message = 'Only with the result `declined` or `failed`'
  return [
    ...(error_code === undefined ? [] : [problem(`${at}/error_code`, 'conflict', message)]),
    ...(raw_response_code === undefined ? [] : [problem(`${at}/raw_response_code`, 'conflict', message)]),
  ]
}

function notificationProblems(notifications: RuleNotifications | null): ErrorDetail[] {
  if (!notifications) return []
  const { delivery, count, delay_seconds: delay } = notifications
  return [
    ...(count !== undefined && delivery !== 'duplicated'
      ? [problem('/notifications/count', 'conflict', 'Only with the delivery `duplicated`')]
      : []),
    ...(delay !== undefined && delivery !== 'late' && delivery !== 'reordered'
      ? [problem('/notifications/delay_seconds', 'conflict', 'Only with the delivery `late` or `reordered`')]
      : []),
  ]
}
