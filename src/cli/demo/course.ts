import type { createTransaction } from '../../areas/transactions/operations/create.ts'
import type { RuleOutcome } from '../../connectors/simulator.ts'
import type { Random } from './random.ts'

export type NewPayment = Parameters<typeof createTransaction>[1]

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** Something that happens to a payment, so long after it was made. `outcome` is what the provider says, if not yes. */
export type Step = { after: number; outcome?: RuleOutcome } & (
  | { act: 'capture'; amount?: number; final?: boolean }
  | { act: 'void' | 'cancel' | 'ask' | 'report' }
  | { act: 'refund'; amount: number; reason: string; ofGiftCard?: boolean }
  | { act: 'refund all'; reason: string }
  | { act: 'answer'; decision: 'approved' | 'rejected' | 'cancelled' | 'expired' }
  | { act: 'review'; decision: 'accept' | 'reject' }
  | { act: 'note'; metadata: Record<string, string> }
)

export interface Course {
  payment?: Partial<NewPayment>
  /** This test card and no other. */
  number?: string
  /** Nobody who is stored. */
  isGuest?: boolean
  /** How the buyer is asked first: by 3-D Secure, or by a method that redirects. */
  asks?: 'three-d-secure' | 'redirect'
  /** How long the buyer has, where it is not the usual. */
  approvalMs?: number
  /** A gift card pays all of it, or a part. */
  giftCard?: 'all' | 'part'
  /** A card that the buyer has stored, if there is one. */
  storedCard?: 'needed'
  outcome?: RuleOutcome
  steps: readonly Step[]
}

/** What can become of a payment of this amount. */
export interface Recipe {
  name: string
  make: (random: Random, amount: number) => Course
}

export const sale = { intent: 'capture' } as const
/** Every price ends in 0 or 5, and what is given back shall too. */
export const part = (random: Random, amount: number) =>
  Math.max(5, Math.round((amount * random.between(20, 70)) / 500) * 5)

/** Somebody whom the sandbox's fraud check knows by the e-mail address. */
export const knownAs = (word: 'review' | 'reject'): Partial<NewPayment> => ({
  buyer: { display_name: 'Robin Doe', billing_details: { first_name: 'Robin', email_address: `${word}@example.com` } },
})
