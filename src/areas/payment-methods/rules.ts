/** Values of the specification and the contract together. */
export const paymentMethodStatuses = ['processing', 'buyer_approval_required', 'succeeded', 'failed', 'paused'] as const
export type PaymentMethodStatus = (typeof paymentMethodStatuses)[number]

/** The state machine. What is not here cannot happen. A card that is stored without a payment begins as `succeeded`. */
export const moves: Record<PaymentMethodStatus, readonly PaymentMethodStatus[]> = {
  processing: ['buyer_approval_required', 'succeeded', 'failed'],
  buyer_approval_required: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
  // For providers that suspend a method; none does yet.
  paused: [],
}

/** The guard of an update. */
export const statusesBefore = (to: PaymentMethodStatus): PaymentMethodStatus[] =>
  paymentMethodStatuses.filter((from) => moves[from].includes(to))

/** What can happen to a card's replacement, as the specification's table has it. */
export type ReplacementTrigger = 'found' | 'expired' | 'only_expiration_changed' | `declined:${string}`

const decliningCodes: readonly string[] = [
  'canceled_payment_method',
  'expired_payment_method',
  'unavailable_payment_method',
  'unknown_payment_method',
]

/** `wait` keeps the replacement, `apply` makes it the card's details, `none` changes nothing. */
export function decideReplacement(hasReplacement: boolean, trigger: ReplacementTrigger): 'wait' | 'apply' | 'none' {
  if (trigger === 'found') return 'wait'
  if (!hasReplacement) return 'none'
  if (trigger === 'expired' || trigger === 'only_expiration_changed') return 'apply'
  return decliningCodes.includes(trigger.slice('declined:'.length)) ? 'apply' : 'none'
}
