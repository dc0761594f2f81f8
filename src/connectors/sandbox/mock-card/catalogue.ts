import { type Authentication, authenticationNumbers, type Force, forcingNumbers } from '../../../cards/test-numbers.ts'
import type { Approved } from '../../payment.ts'
import { approvalRules } from '../approvals/refusals.ts'
import { type Action, amountRefusals, payments, type Refusal } from './amounts.ts'

/** One thing that the sandbox's processor can be made to do. The connector decides from these rows, and docs/sandbox.md shows them. */
export interface CatalogueEntry {
  trigger: 'amount' | 'card_number' | 'three_d_secure' | 'postal_code' | 'security_code' | 'connection_option'
  /** A postal code contains it, anything else equals it. `*`: any other; null: none was sent. */
  value: number | string | null
  applies_to: readonly Action[]
  /** Null: as without it. `unknown`: the answer does not reach the caller. */
  outcome: 'approved' | 'declined' | 'failed' | 'pending' | 'unknown' | null
  /** What asking again says in the end, where the first answer was not the last. */
  later: 'approved' | 'never_arrived' | null
  error_code: string | null
  retriable: boolean
  raw_code: string | null
  avs: Approved['avs']
  cvv: Approved['cvv']
  /** Of a card number. */
  forces: Force | null
  description: string
}

const blank = {
  outcome: null,
  later: null,
  error_code: null,
  retriable: false,
  raw_code: null,
  avs: null,
  cvv: null,
  forces: null,
} as const

const amounts: readonly CatalogueEntry[] = amountRefusals.map(({ amount, appliesTo, refusal }) => ({
  ...blank,
  ...refusal,
  trigger: 'amount',
  value: amount,
  applies_to: appliesTo,
}))

const waits = { outcome: 'pending', later: 'approved' } as const
const isLost = { outcome: 'unknown', later: 'approved' } as const
const isDisputed = { outcome: 'approved', later: null, applies_to: payments } as const
const behaviours: Partial<Record<Force, Pick<CatalogueEntry, 'applies_to' | 'outcome' | 'later' | 'description'>>> = {
  pending: { ...waits, applies_to: payments, description: 'Not decided at once, but two seconds later' },
  capture_pending: { ...waits, applies_to: ['capture'], description: 'The capture is made two seconds later' },
  void_pending: { ...waits, applies_to: ['void'], description: 'The void is made two seconds later' },
  refund_pending: { ...waits, applies_to: ['refund'], description: 'The refund is made two seconds later' },
  timeout_before: {
    outcome: 'unknown',
    later: 'never_arrived',
    applies_to: payments,
    description: 'No answer; the processor never got the call and did nothing',
  },
  timeout_after: { ...isLost, applies_to: payments, description: 'No answer, but the processor has done it' },
  capture_timeout: { ...isLost, applies_to: ['capture'], description: 'No answer, but the capture was made' },
  void_timeout: { ...isLost, applies_to: ['void'], description: 'No answer, but the void was made' },
  refund_timeout: { ...isLost, applies_to: ['refund'], description: 'No answer, but the refund was made' },
  dispute: {
    ...isDisputed,
    description: 'Approved, and what is charged is charged back three days after its settlement',
  },
  dispute_won: {
    ...isDisputed,
    description: 'The same, and the merchant wins: the chargeback is reversed ten days later',
  },
}

/** Any other card that forces something is refused, as the amount is that stands for its code. */
const cardNumbers: readonly CatalogueEntry[] = forcingNumbers.map(({ number, forces }) => ({
  ...blank,
  applies_to: payments,
  ...(behaviours[forces] ?? refusalOf(forces)),
  trigger: 'card_number',
  value: number,
  forces,
}))

const refusedUnseen = { ...approvalRules.notAuthenticated, applies_to: payments } as const
const authentications: Record<Authentication, Partial<CatalogueEntry> & { description: string }> = {
  Y: { description: 'Authenticated without a challenge' },
  A: { description: 'Authentication was attempted, without a challenge' },
  N: { ...refusedUnseen, description: 'Not authenticated' },
  R: { ...refusedUnseen, description: 'Rejected by the issuer' },
  U: { description: '3-D Secure is unavailable; the payment goes on without it' },
  C: { description: 'A challenge; a payment whose buyer cannot be asked fails with `missing_redirect_url`' },
}

/** Where 3-D Secure is asked for, these say what it says; the rest is as with any other card. */
const authenticationCards: readonly CatalogueEntry[] = authenticationNumbers.map(({ number, authentication }) => ({
  ...blank,
  applies_to: payments,
  ...authentications[authentication],
  trigger: 'three_d_secure',
  value: number,
}))

const checks: readonly CatalogueEntry[] = [
  avs('77', 'no_match', 'The postal code contains 77'),
  avs('88', 'partial_match_postcode', 'The postal code contains 88, but not 77'),
  avs('99', 'partial_match_address', 'The postal code contains 99, but neither 77 nor 88'),
  avs('*', 'match', 'Any other postal code'),
  avs(null, 'unavailable', 'No postal code was sent'),
  cvv('222', 'not_provided', 'The security code is 222'),
  cvv('333', 'no_match', 'The security code is 333'),
  cvv('*', 'match', 'Any other security code'),
  cvv(null, 'not_provided', 'No security code was sent'),
]

const connectionOptions: readonly CatalogueEntry[] = [
  {
    ...blank,
    trigger: 'connection_option',
    value: 'merchant_advice_code',
    applies_to: payments,
    description:
      'An object with `result`, one to four letters or digits that a refusal then carries as its merchant advice code, and `account_number`: when it is there, only refusals of this card carry it',
  },
  {
    ...blank,
    trigger: 'connection_option',
    value: 'skip_retry',
    applies_to: payments,
    description: 'With `true` no refusal is retriable, so that no other service is asked',
  },
]

export const catalogue: readonly CatalogueEntry[] = [
  ...amounts,
  ...cardNumbers,
  ...authenticationCards,
  ...checks,
  ...connectionOptions,
]

/** What the processor refuses by itself, whatever was to be simulated. */
export const houseRules = {
  notATestNumber: {
    outcome: 'failed',
    error_code: 'invalid_payment_method',
    retriable: false,
    raw_code: 'S001',
    description: 'The sandbox takes test numbers only; the list is in docs/sandbox.md',
  },
  expired: refusalOf('expired_payment_method'),
  authorizationExpired: refusalOf('expired_authorization'),
  usedReference: {
    outcome: 'failed',
    error_code: 'duplicate_transaction',
    retriable: false,
    raw_code: 'S002',
    description: 'The reference belongs to another call, or to one that was said never to have arrived',
  },
  noSuchPayment: {
    outcome: 'failed',
    error_code: 'unknown_service_resource',
    retriable: false,
    raw_code: 'S003',
    description: 'There is no such payment',
  },
  otherCurrency: {
    outcome: 'failed',
    error_code: 'incorrect_currency',
    retriable: false,
    raw_code: 'S004',
    description: 'The payment is in another currency',
  },
  notInThisState: {
    outcome: 'failed',
    error_code: 'invalid_operation',
    retriable: false,
    raw_code: 'S005',
    description:
      'The state of the payment does not allow it: a capture needs an authorization that is not voided and had no final capture, a void one without any capture, a cancel a payment that is not decided',
  },
  tooMuch: {
    outcome: 'failed',
    error_code: 'invalid_amount',
    retriable: false,
    raw_code: 'S006',
    description: 'More than twice the authorized amount would be captured, or more refunded than was captured',
  },
  canceled: {
    outcome: 'failed',
    error_code: 'canceled',
    retriable: false,
    raw_code: 'S007',
    description: 'The payment was canceled before it was decided',
  },
} as const satisfies Record<string, Refusal>

/** How long what is not decided at once takes. */
export const pendingMs = 2_000

/** How long money stays reserved. */
export const authorizationMs = 7 * 24 * 60 * 60 * 1000

/** Those of an action, by amount. */
export const refusalsOf = (action: string): ReadonlyMap<number, Refusal> =>
  new Map(
    amountRefusals
      .filter(({ appliesTo }) => appliesTo.some((one) => one === action))
      .map(({ amount, refusal }) => [amount, refusal]),
  )

const byNumber = new Map(cardNumbers.map((entry) => [entry.value, entry]))
export const findCardNumber = (number: string) => byNumber.get(number)

/** What cards force to give this first answer to a call. */
export const forcesOf = (action: string, outcome: 'pending' | 'unknown') =>
  cardNumbers.flatMap(({ applies_to, outcome: given, forces }) =>
    given === outcome && forces && applies_to.some((one) => one === action) ? [forces] : [],
  )

/** The first row whose value the text contains, or is. */
export function findAvs(postalCode: string | null): Approved['avs'] {
  return findCheck('postal_code', postalCode, (value) => postalCode?.includes(value) === true)?.avs ?? null
}

export function findCvv(securityCode: string | null): Approved['cvv'] {
  return findCheck('security_code', securityCode, (value) => securityCode === value)?.cvv ?? null
}

function findCheck(trigger: CatalogueEntry['trigger'], sent: string | null, fits: (value: string) => boolean) {
  const rows = checks.filter((entry) => entry.trigger === trigger)
  return rows.find(({ value }) => (sent === null ? value === null : value === '*' || fits(String(value ?? '*'))))
}

function refusalOf(code: string): Refusal {
  const found = amountRefusals.find(({ refusal }) => refusal.error_code === code)
  if (!found) throw new Error(`no amount stands for ${code}`)
  return found.refusal
}

function avs(value: string | null, answer: Approved['avs'], description: string): CatalogueEntry {
  return { ...blank, trigger: 'postal_code', value, applies_to: payments, avs: answer, description }
}

function cvv(value: string | null, answer: Approved['cvv'], description: string): CatalogueEntry {
  return { ...blank, trigger: 'security_code', value, applies_to: payments, cvv: answer, description }
}
