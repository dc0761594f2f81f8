import type { RuleOutcome } from '../../connectors/simulator.ts'
import { refundReasons } from './catalogue.ts'
import { day, hour, knownAs, minute, part, type Recipe, sale } from './course.ts'
import type { Random } from './random.ts'

/** The longest that the sandbox takes to decide: a week. */
const undecided: RuleOutcome = { result: 'pending', decide_after_seconds: (7 * day) / 1000 }
const lastly = (random: Random) => ({ after: random.between(1, 3) * minute })

/** Payments of a few minutes ago that are not over: of these everybody wants to see one. */
export const ongoing: readonly Recipe[] = [
  {
    name: 'the provider has not decided',
    make: () => ({ number: '4111111111111111', payment: { store: true }, outcome: undecided, steps: [] }),
  },
  {
    name: 'the buyer is asked by 3-D Secure',
    make: () => ({ asks: 'three-d-secure', approvalMs: day - hour, payment: sale, steps: [] }),
  },
  {
    name: 'the buyer is redirected',
    make: () => ({ asks: 'redirect', approvalMs: day - hour, payment: sale, steps: [] }),
  },
  { name: 'waits to be shipped', make: () => ({ steps: [] }) },
  {
    name: 'waits for a review',
    make: () => ({ isGuest: true, payment: knownAs('review'), steps: [] }),
  },
  {
    name: 'the capture is not made yet',
    make: (random) => ({ steps: [{ ...lastly(random), act: 'capture', outcome: undecided }] }),
  },
  {
    name: 'the void is not made yet',
    make: (random) => ({ steps: [{ ...lastly(random), act: 'void', outcome: undecided }] }),
  },
  {
    name: 'the refund is not made yet',
    make: (random, amount) => ({
      payment: sale,
      steps: [
        {
          ...lastly(random),
          act: 'refund',
          amount: part(random, amount),
          reason: random.pick(refundReasons),
          outcome: undecided,
        },
      ],
    }),
  },
]
