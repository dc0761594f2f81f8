import type { RuleConditions, RuledAction, SimulatorRule, SimulatorRules } from '../simulator.ts'

/** What a rule can look at. What a call does not tell is null, and then no condition about it holds. */
export interface RuledCall {
  action: RuledAction
  serviceId: string
  amount: number | null
  currency: string
  country: string | null
  cardNumber: string | null
  emailAddress: string | null
  externalIdentifier: string | null
}

/** The first rule that fits and is not used up; one of its uses is taken. */
export async function findRule(
  rules: SimulatorRules,
  merchantAccountId: string,
  call: RuledCall,
): Promise<SimulatorRule | undefined> {
  for (const rule of await rules.of(merchantAccountId)) {
    if (!fits(rule.conditions, call)) continue
    if (!rule.isCounted || (await rules.use(merchantAccountId, rule.id))) return rule
  }
  return undefined
}

function fits(conditions: RuleConditions, call: RuledCall): boolean {
  const { amount_gte: least = -Infinity, amount_lte: most = Infinity } = conditions
  const isBounded = least !== -Infinity || most !== Infinity
  return (
    same(conditions.action, call.action) &&
    same(conditions.payment_service_id, call.serviceId) &&
    same(conditions.amount, call.amount) &&
    (!isBounded || (call.amount !== null && call.amount >= least && call.amount <= most)) &&
    same(conditions.currency, call.currency) &&
    same(conditions.country, call.country) &&
    same(conditions.card_number, call.cardNumber) &&
    same(conditions.buyer_email_address, call.emailAddress) &&
    same(conditions.external_identifier, call.externalIdentifier)
  )
}

const same = <Value>(wanted: Value | undefined, found: Value | null) => wanted === undefined || wanted === found
