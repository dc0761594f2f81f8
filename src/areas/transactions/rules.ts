/** What a payment may do next, and what each move is called. Pure: no database, no clock. */

export { type Intent, intents, type PaymentSource, paymentSources } from '../../sourcing.ts'

export const transactionStatuses = [
  'processing',
  'buyer_approval_pending',
  'authorization_succeeded',
  'authorization_failed',
  'authorization_declined',
  'capture_pending',
  'capture_succeeded',
  'authorization_void_pending',
  'authorization_voided',
] as const
export type TransactionStatus = (typeof transactionStatuses)[number]

export const instrumentTypes = [
  'pan',
  'card_token',
  'redirect',
  'redirect_token',
  'googlepay',
  'applepay',
  'network_token',
  'plaid',
  'bank',
] as const

export const avsCodes = [
  'match',
  'no_match',
  'partial_match_address',
  'partial_match_postcode',
  'partial_match_name',
  'unavailable',
] as const
export const antiFraudDecisions = ['accept', 'reject', 'review', 'error', 'exception', 'skipped', 'pending'] as const
export const cvvCodes = ['match', 'no_match', 'unavailable', 'not_provided'] as const

/** The state machine. What is not here cannot happen: every move is an update that names where it comes from. */
export const moves: Record<TransactionStatus, readonly TransactionStatus[]> = {
  processing: [
    'buyer_approval_pending',
    'authorization_succeeded',
    'authorization_declined',
    'authorization_failed',
    'capture_pending',
    'capture_succeeded',
  ],
  buyer_approval_pending: [
    // The buyer approved, and gift cards are to pay the rest.
    'processing',
    'authorization_succeeded',
    'authorization_declined',
    'authorization_failed',
    'capture_pending',
    'capture_succeeded',
  ],
  authorization_succeeded: ['capture_pending', 'authorization_void_pending'],
  // A capture that fails leaves the authorization.
  capture_pending: ['capture_succeeded', 'authorization_succeeded'],
  // Further captures, where the last was not final.
  capture_succeeded: ['capture_pending'],
  authorization_void_pending: ['authorization_voided', 'authorization_succeeded'],
  authorization_declined: [],
  authorization_failed: [],
  authorization_voided: [],
}

/** A payment that came to nothing, for good. */
export const isRefused = (status: TransactionStatus) =>
  status === 'authorization_declined' || status === 'authorization_failed'

/** Nobody has said yes or no. */
export const isUndecided = (status: TransactionStatus) => status === 'processing' || status === 'buyer_approval_pending'

/** The guard of an update. */
export const statusesBefore = (to: TransactionStatus): TransactionStatus[] =>
  transactionStatuses.filter((from) => moves[from].includes(to))

export const statusEvents = {
  processing: undefined,
  buyer_approval_pending: 'transaction.authentication-pending',
  authorization_succeeded: 'transaction.authorized',
  authorization_declined: 'transaction.declined',
  authorization_failed: 'transaction.failed',
  capture_pending: 'transaction.capture-pending',
  capture_succeeded: 'transaction.captured',
  authorization_void_pending: 'transaction.void-pending',
  authorization_voided: 'transaction.voided',
} as const satisfies Record<TransactionStatus, string | undefined>

/** What may be captured beyond the authorization: the larger of the account's two allowances. */
export function captureLimit(
  authorized: number,
  { amount, percentage }: { amount: number | null; percentage: number | null },
): number {
  return authorized + Math.max(amount ?? 0, Math.floor((authorized * (percentage ?? 0)) / 100))
}
