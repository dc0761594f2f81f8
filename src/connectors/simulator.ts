/** What the sandbox's providers do instead of the usual, by rules of a merchant's own. As they are stored. */
export interface SimulatorRule {
  id: string
  /** All that are given must hold. */
  conditions: RuleConditions
  outcome: RuleOutcome
  notifications: RuleNotifications | null
  /** Whether it is good for some calls only. */
  isCounted: boolean
}

/** A sale is an authorization too. */
export const ruledActions = ['authorize', 'capture', 'void', 'refund', 'cancel'] as const
export type RuledAction = (typeof ruledActions)[number]

export interface RuleConditions {
  payment_service_id?: string
  action?: RuledAction
  amount?: number
  amount_gte?: number
  amount_lte?: number
  currency?: string
  country?: string
  card_number?: string
  buyer_email_address?: string
  external_identifier?: string
}

export interface RuleVerdict {
  result: 'approved' | 'declined' | 'failed'
  error_code?: string
  raw_response_code?: string
}

export interface RuleOutcome extends Omit<RuleVerdict, 'result'> {
  /** Left out: as without the rule. */
  result?: RuleVerdict['result'] | 'pending' | 'timeout_before' | 'timeout_after'
  /** How long the answer takes. */
  delay_ms?: number
  /** Of `pending`. */
  decide_after_seconds?: number
  /** What it is in the end: of `pending`, and of `timeout_after`. */
  final?: RuleVerdict
}

export interface RuleNotifications {
  delivery: 'normal' | 'late' | 'duplicated' | 'reordered' | 'lost'
  count?: number
  delay_seconds?: number
}

export interface SimulatorRules {
  /** Those in force, the one that wins first. */
  of(merchantAccountId: string): Promise<readonly SimulatorRule[]>
  /** Takes one of the uses of a rule that is counted. False when there is none left. */
  use(merchantAccountId: string, ruleId: string): Promise<boolean>
}

export const noRules: SimulatorRules = { of: () => Promise.resolve([]), use: () => Promise.resolve(false) }
