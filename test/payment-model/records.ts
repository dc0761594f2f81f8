import type { CardName } from './provider.ts'

/** What the model keeps of a payment. */

export interface Profile {
  account: string
  services: number
  overCapture: { amount: number; percentage: number }
  /** The places of the services that authenticate buyers. */
  asking?: readonly number[]
  /** How much longer than it is told to its provider waits for buyers. */
  patienceMs?: number
}

export interface Attempt {
  reference: string
  action: 'authorize' | 'capture' | 'void' | 'refund'
  service: number
  amount: number
  state: 'open' | 'pending' | 'done'
  result: 'approved' | 'declined' | 'failed' | null
  error: string | null
  checks: number
  nextCheck: number | null
  /** Whether the provider's own id of it is known. */
  isKnown: boolean
  movement: Movement | undefined
}

/** A capture or a refund. */
export interface Movement {
  amount: number
  status: 'pending' | 'processing' | 'succeeded' | 'declined' | 'failed'
  final: boolean
  error: string | null
}

export interface Transaction {
  id: string
  profile: Profile
  amount: number
  intent: 'authorize' | 'capture'
  card: CardName
  status: string
  intentOutcome: 'pending' | 'succeeded' | 'failed'
  error: string | null
  authorized: number
  captured: number
  refunded: number
  capturing: number
  refunding: number
  limit: number
  isCapturable: boolean
  service: number
  externalIdentifier: string
  captures: Movement[]
  refunds: Movement[]
  attempts: Attempt[]
  /** How long a buyer may take, where one can be asked. */
  approvalExpiresAt: number | undefined
}

export interface NewTransaction {
  name: string
  profile: Profile
  amount: number
  intent: 'authorize' | 'capture'
  asyncCapture: boolean
  card: CardName
  /** Whether the buyer has a way back. */
  canReturn: boolean
}

/** Unless the payment says otherwise, which none of the model does. */
const approvalMs = 30 * 60_000

/** Nobody has said yes or no. */
export const isUndecided = ({ status }: Transaction) => status === 'processing' || status === 'buyer_approval_pending'

/** Before anybody was asked. Without a provider to ask it has failed already. */
export function newTransaction(
  id: string,
  { profile, amount, intent, card, name, canReturn }: NewTransaction,
  now: number,
): Transaction {
  const isHopeless = profile.services === 0
  return {
    id,
    profile,
    amount,
    intent,
    card,
    status: isHopeless ? 'authorization_failed' : 'processing',
    intentOutcome: isHopeless ? 'failed' : 'pending',
    error: isHopeless ? 'all_attempts_skipped' : null,
    authorized: 0,
    captured: 0,
    refunded: 0,
    capturing: 0,
    refunding: 0,
    limit: 0,
    isCapturable: false,
    service: 0,
    externalIdentifier: name,
    captures: [],
    refunds: [],
    attempts: [],
    approvalExpiresAt: canReturn && profile.asking ? now + approvalMs : undefined,
  }
}
