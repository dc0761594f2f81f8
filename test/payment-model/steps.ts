import fc from 'fast-check'
import { cancelFaults, faults, type Fault } from './faults.ts'
import { cards, type CardName, type Decision, decisions } from './provider.ts'
import { profiles } from './world.ts'

/** What a sequence is made of. Amounts are relative to what is left when their turn comes. */

export type CaptureAmount =
  | 'default'
  | 'one'
  | 'half'
  | 'left'
  | 'more than left'
  | 'limit'
  | 'over limit'
  | 500001
  | 500002
export type RefundAmount = 'default' | 'one' | 'half' | 'left' | 'too much' | 520001 | 520002

export interface CreateStep {
  kind: 'create'
  profile: number
  amount: number
  intent: 'authorize' | 'capture'
  asyncCapture: boolean
  card: CardName
  canReturn: boolean
  hasKey: boolean
  fault: Fault | undefined
}

interface FollowUpStep {
  /** One that this can be done with, if there is one. */
  isApt: boolean
  on: number
  hasKey: boolean
  fault: Fault | undefined
}

export type Step =
  | CreateStep
  | ({ kind: 'capture'; amount: CaptureAmount; final: boolean; isPreferred: boolean } & FollowUpStep)
  | ({ kind: 'void'; isPreferred: boolean } & FollowUpStep)
  | ({ kind: 'refund'; amount: RefundAmount; isAll: boolean } & FollowUpStep)
  | { kind: 'cancel'; on: number; fault: Fault | undefined }
  | { kind: 'sync'; on: number; fault: Fault | undefined }
  | { kind: 'buyer'; isApt: boolean; on: number; decision: Decision }
  | { kind: 'return'; on: number; fault: Fault | undefined }
  | { kind: 'put'; on: number; text: string }
  | { kind: 'janitor'; fault: Fault | undefined }
  | { kind: 'advance'; ms: number }
  | { kind: 'deliver' }
  | { kind: 'repeat'; of: number; isOther: boolean }

const mostTransactions = 4

const weighted = <Value>(...choices: readonly [weight: number, ...values: Value[]][]) =>
  fc.oneof(
    ...choices.map(([weight, ...values]) => ({
      arbitrary: fc.constantFrom(...values),
      weight: weight * values.length,
    })),
  )

/** Most go well; the rest is spread over what can go wrong. */
const faultOf = (names: readonly Fault['name'][], nths: readonly number[] = [0]) =>
  fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 5 },
    { arbitrary: fc.record({ name: fc.constantFrom(...names), nth: fc.constantFrom(...nths) }), weight: 2 },
  )
const ofCall = faultOf(faults.filter((name) => name !== 'refused elsewhere'))
const ofCancel = faultOf(cancelFaults)
const ofQuestion = faultOf(['call lost', 'answer lost', ...cancelFaults])
const on = fc.nat({ max: mostTransactions - 1 })
const hasKey = fc.boolean()
const isApt = weighted([6, true], [1, false])

/** 600000 has room for the amounts that force something of a capture or a refund. */
const amounts = weighted(
  [8, 1000],
  [4, 600000],
  [1, 1, 0, 200011, 200012, 300004, 300013, 500001, 500002, 510001, 510002],
)
const cardNames = Object.keys(cards).filter((name): name is CardName => name in cards)
const cardName = weighted<CardName>([8, 'plain'], [1, ...cardNames])

export const createStep: fc.Arbitrary<CreateStep> = fc
  .record({
    kind: fc.constant('create' as const),
    profile: fc.oneof(
      { arbitrary: fc.nat({ max: profiles.length - 2 }), weight: 19 },
      fc.constant(profiles.length - 1),
    ),
    amount: amounts,
    intent: fc.constantFrom('authorize' as const, 'authorize' as const, 'capture' as const),
    asyncCapture: fc.boolean(),
    card: cardName,
    canReturn: weighted([3, true], [1, false]),
    hasKey,
    fault: faultOf(faults, [0, 0, 1]),
  })
  .map((step) => {
    // Only an authorization may be of nothing, and only a sale charged later; anything else is refused before it begins.
    const intent = step.amount === 0 ? 'authorize' : step.intent
    return { ...step, intent, asyncCapture: step.asyncCapture && intent === 'capture' }
  })

const captureAmounts = [
  'default',
  'one',
  'half',
  'left',
  'more than left',
  'limit',
  'over limit',
  500001,
  500002,
] as const
const refundAmounts = ['default', 'one', 'half', 'left', 'too much', 520001, 520002] as const

const capture = fc.record({
  kind: fc.constant('capture' as const),
  on,
  isApt,
  amount: fc.constantFrom<CaptureAmount>(...captureAmounts),
  final: fc.boolean(),
  isPreferred: fc.boolean(),
  hasKey,
  fault: ofCall,
})
const refund = fc.record({
  kind: fc.constant('refund' as const),
  on,
  isApt,
  amount: fc.constantFrom<RefundAmount>(...refundAmounts),
  isAll: fc.constantFrom(false, false, true),
  hasKey,
  fault: ofCall,
})

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: createStep, weight: 3 },
  { arbitrary: capture, weight: 5 },
  { arbitrary: refund, weight: 5 },
  {
    arbitrary: fc.record({
      kind: fc.constant('void' as const),
      on,
      isApt,
      isPreferred: fc.boolean(),
      hasKey,
      fault: ofCall,
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constant('cancel' as const), on, fault: ofCancel }), weight: 1 },
  {
    arbitrary: fc.record({
      kind: fc.constant('buyer' as const),
      on,
      isApt: weighted([2, true], [1, false]),
      decision: weighted<Decision>([4, 'approved'], [1, ...decisions]),
    }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constant('return' as const), on, fault: ofQuestion }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant('sync' as const), on, fault: ofQuestion }), weight: 1 },
  {
    arbitrary: fc.record({ kind: fc.constant('put' as const), on, text: fc.constantFrom('order-1', 'order-2') }),
    weight: 1,
  },
  { arbitrary: fc.record({ kind: fc.constant('janitor' as const), fault: ofQuestion }), weight: 2 },
  {
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      // Past what the provider takes, a lease and the first check, the second, a buyer's time, the third, the life of a key.
      ms: fc.constantFrom(
        ...[3, 3, 120, 120, 600, 1_900, 1_900, 7_200, 90_000, 691_200].map((seconds) => seconds * 1_000),
      ),
    }),
    weight: 3,
  },
  { arbitrary: fc.constant({ kind: 'deliver' as const }), weight: 1 },
  {
    arbitrary: fc.record({
      kind: fc.constant('repeat' as const),
      of: fc.nat({ max: 5 }),
      isOther: fc.constantFrom(false, false, false, true),
    }),
    weight: 3,
  },
)

export { mostTransactions }
