import type { RuleOutcome } from '../../connectors/simulator.ts'
import { declines, failures, refundReasons } from './catalogue.ts'
import { type Course, day, hour, knownAs, minute, part, type Recipe, sale, type Step } from './course.ts'
import type { Random } from './random.ts'

/** What became of payments that are over, and how often it does. */

const soon = (random: Random) => random.between(1, 9) * minute + random.between(0, 59) * 1000
const shipped = (random: Random) => random.between(4, 60) * hour
const returned = (random: Random) => random.between(4, 20) * day + random.between(0, 20) * hour

/** What was charged or given back is reported a day later. */
const report = (after: number): Step => ({ after: after + day + 2 * hour, act: 'report' })
const reported = (...steps: Step[]): Step[] => [...steps, report(steps.at(-1)?.after ?? 0)]
const sold: readonly Step[] = [report(0)]
const refuse = (result: 'declined' | 'failed', error_code: string): RuleOutcome => ({ result, error_code })

function refunds(random: Random, make: (after: number, reason: string) => Step[]): Course {
  return { payment: sale, steps: [...sold, ...reported(...make(returned(random), random.pick(refundReasons)))] }
}

interface WeightedRecipe extends Recipe {
  /** The larger, the more often. */
  weight: number
}

export const recipes: readonly WeightedRecipe[] = [
  { name: 'charged at once', weight: 300, make: () => ({ payment: sale, steps: sold }) },
  {
    name: 'charged when shipped',
    weight: 260,
    make: (random) => {
      const after = shipped(random)
      const note: Step = { after: after + minute, act: 'note', metadata: { shipped: 'yes' } }
      return { steps: [{ after, act: 'capture' }, ...(random.chance(0.2) ? [note] : []), report(after)] }
    },
  },
  {
    name: 'charged in part',
    weight: 25,
    make: (random, amount) => ({
      steps: reported({ after: shipped(random), act: 'capture', amount: part(random, amount) }),
    }),
  },
  {
    name: 'charged in two parcels',
    weight: 20,
    make: (random, amount) => {
      const [after, first] = [shipped(random), part(random, amount)]
      return {
        steps: reported(
          { after, act: 'capture', amount: first, final: false },
          { after: after + day, act: 'capture', amount: amount - first },
        ),
      }
    },
  },
  {
    name: 'charged by subscription',
    weight: 40,
    make: () => ({
      storedCard: 'needed',
      payment: { ...sale, payment_source: 'recurring', merchant_initiated: true, is_subsequent_payment: true },
      steps: sold,
    }),
  },
  {
    name: 'refunded in part',
    weight: 45,
    make: (random, amount) =>
      refunds(random, (after, reason) => [{ after, act: 'refund', amount: part(random, amount), reason }]),
  },
  {
    name: 'refunded',
    weight: 35,
    make: (random) => refunds(random, (after, reason) => [{ after, act: 'refund all', reason }]),
  },
  {
    name: 'refund declined, then made',
    weight: 4,
    make: (random, amount) =>
      refunds(random, (after, reason) => [
        { after, act: 'refund', amount, reason, outcome: refuse('declined', 'issuer_decline') },
        { after: after + day, act: 'refund', amount, reason },
      ]),
  },
  {
    name: 'refund failed',
    weight: 4,
    make: (random, amount) =>
      refunds(random, (after, reason) => [
        { after, act: 'refund', amount, reason, outcome: refuse('failed', 'service_error') },
      ]),
  },
  {
    name: 'declined',
    weight: 75,
    make: (random) => ({
      payment: random.chance(0.6) ? sale : {},
      outcome: refuse('declined', random.weighted(declines).code),
      steps: [],
    }),
  },
  {
    name: 'failed',
    weight: 14,
    make: (random) => ({ payment: sale, outcome: refuse('failed', random.weighted(failures).code), steps: [] }),
  },
  {
    name: 'declined, and not stored',
    weight: 4,
    make: () => ({
      number: '4111111111111111',
      payment: { ...sale, store: true },
      outcome: refuse('declined', 'insufficient_funds'),
      steps: [],
    }),
  },
  { name: 'voided', weight: 28, make: (random) => ({ steps: [{ after: shipped(random), act: 'void' }] }) },
  { name: 'never captured', weight: 5, make: () => ({ steps: [] }) },
  {
    name: 'capture failed, then made',
    weight: 5,
    make: (random) => {
      const after = shipped(random)
      return {
        steps: reported(
          { after, act: 'capture', outcome: refuse('failed', 'service_network_error') },
          { after: after + hour, act: 'capture' },
        ),
      }
    },
  },
  {
    name: 'authenticated',
    weight: 45,
    make: (random) => ({
      asks: 'three-d-secure',
      payment: sale,
      steps: reported({ after: soon(random), act: 'answer', decision: 'approved' }),
    }),
  },
  {
    name: 'authenticated without a challenge',
    weight: 15,
    make: () => ({
      asks: 'three-d-secure',
      number: '4000000000005001',
      payment: sale,
      steps: sold,
    }),
  },
  ...(['rejected', 'cancelled', 'expired'] as const).map(
    (decision): WeightedRecipe => ({
      name: `authentication ${decision}`,
      weight: 7,
      make: (random) => ({
        asks: 'three-d-secure',
        payment: sale,
        steps: [{ after: soon(random), act: 'answer', decision }],
      }),
    }),
  ),
  {
    name: 'redirected, and approved',
    weight: 25,
    make: (random) => ({
      asks: 'redirect',
      payment: sale,
      steps: reported({ after: soon(random), act: 'answer', decision: 'approved' }),
    }),
  },
  {
    name: 'redirected, and canceled',
    weight: 4,
    make: (random) => ({ asks: 'redirect', steps: [{ after: soon(random), act: 'cancel' }] }),
  },
  {
    name: 'paid by gift card',
    weight: 20,
    make: () => ({ giftCard: 'all', payment: sale, steps: [] }),
  },
  {
    name: 'paid by gift card and card',
    weight: 25,
    make: () => ({ giftCard: 'part', payment: sale, steps: sold }),
  },
  {
    name: 'gift card refunded in part',
    weight: 5,
    make: (random, amount) => ({
      giftCard: 'all',
      payment: sale,
      steps: [
        {
          after: returned(random),
          act: 'refund',
          amount: part(random, amount),
          reason: random.pick(refundReasons),
          ofGiftCard: true,
        },
      ],
    }),
  },
  {
    name: 'gift card and card refunded',
    weight: 5,
    make: (random) => ({
      ...refunds(random, (after, reason) => [{ after, act: 'refund all', reason }]),
      giftCard: 'part',
    }),
  },
  {
    name: 'reviewed and accepted',
    weight: 6,
    make: (random) => ({
      isGuest: true,
      payment: knownAs('review'),
      steps: [
        { after: random.between(1, 20) * hour, act: 'review', decision: 'accept' },
        ...reported({ after: 21 * hour, act: 'capture' }),
      ],
    }),
  },
  {
    name: 'reviewed and rejected',
    weight: 4,
    make: (random) => {
      const after = random.between(1, 20) * hour
      return {
        isGuest: true,
        payment: knownAs('review'),
        steps: [
          { after, act: 'review', decision: 'reject' },
          { after: after + hour, act: 'void' },
        ],
      }
    },
  },
  {
    name: 'taken for fraud',
    weight: 6,
    make: () => ({ isGuest: true, payment: { ...sale, ...knownAs('reject') }, steps: [] }),
  },
  { name: 'charged back', weight: 5, make: () => disputed('4000000000004004', [5]) },
  { name: 'charged back, and won', weight: 4, make: () => disputed('4000000000004012', [5, 15]) },
  {
    name: 'decided later',
    weight: 6,
    make: () => ({
      payment: sale,
      outcome: { result: 'pending', decide_after_seconds: 90 },
      steps: reported({ after: 2 * minute, act: 'ask' }),
    }),
  },
  {
    name: 'answer lost, and asked for',
    weight: 4,
    make: () => ({
      payment: sale,
      outcome: { result: 'timeout_after' },
      steps: reported({ after: 2 * minute, act: 'ask' }),
    }),
  },
  {
    name: 'stored with the first payment',
    weight: 30,
    make: () => ({
      number: '5200828282828210',
      payment: { ...sale, store: true },
      steps: sold,
    }),
  },
]

function disputed(number: string, days: readonly number[]): Course {
  return {
    number,
    payment: sale,
    steps: [...sold, ...days.map((count): Step => ({ after: count * day, act: 'report' }))],
  }
}
