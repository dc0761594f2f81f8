import { type GiftCard, giftCard } from '../gift-cards.ts'

/** Payments with gift cards, and what follows them, that are killed. */
export const giftCardOperations = [
  'pay mixed',
  'pay with gift cards',
  'pay with a poor gift card',
  'pay with a refused charge',
  'capture gift cards',
  'void gift cards',
  'refund to a gift card',
  'refund all',
] as const
export type GiftCardOperation = (typeof giftCardOperations)[number]

export const isOfGiftCards = (operation: string): operation is GiftCardOperation =>
  (giftCardOperations as readonly string[]).includes(operation)

/** A gift card of a case. It has enough to be charged twice, unless it is poor. */
export interface CaseGiftCard extends GiftCard {
  opening: number
  amount: number
  isStored: boolean
  /** Of a stored one. */
  id: string | undefined
}

/** The way that a case takes, where its operation leaves a choice. */
export interface Way {
  intent: 'authorize' | 'capture'
  isStored: boolean
  /** Without another method. */
  isAlone: boolean
}

/** The ways take turns. */
export const wayOf = (operation: GiftCardOperation, point: string, turn: number): Way => ({
  intent: intentOf(operation, point, turn),
  isStored: turn % 4 === 1 || turn % 4 === 2,
  isAlone:
    operation === 'pay with gift cards' ||
    ((operation === 'capture gift cards' || operation === 'void gift cards') && turn % 4 >= 2),
})

function intentOf(operation: GiftCardOperation, point: string, turn: number): Way['intent'] {
  if (operation === 'capture gift cards' || operation === 'void gift cards') return 'authorize'
  const isCaptured =
    operation === 'pay with a refused charge' ||
    operation === 'refund to a gift card' ||
    operation === 'refund all' ||
    charging.includes(point)
  return isCaptured || turn % 2 === 0 ? 'capture' : 'authorize'
}

/** The first is what the case is about; of the others the sandbox has endings that mean something. */
export function giftCardsOf(operation: GiftCardOperation, { isStored }: Way): CaseGiftCard[] {
  const isPoor = operation === 'pay with a poor gift card'
  const make = (opening: number, amount: number, isStored: boolean) => ({
    ...giftCard(opening),
    opening,
    amount,
    isStored,
    id: undefined,
  })
  return [make(9000, 3000, isStored), make(isPoor ? 1999 : 6000, 2000, false)]
}

/** The sandbox's processor refuses to charge it. */
export const refusedAmount = 500_002
/** Of a refund to a gift card; with another last digit the sandbox might refuse it. */
export const giftCardRefund = 400

const intending = ['create: checked', 'create: intent not yet recorded', 'create: intent not yet committed']
const authorizing = ['authorize: intent recorded', 'authorize: provider answered', 'authorize: outcome recorded']
const redeeming = [
  'redeem: begun',
  'redeem: one provider answered',
  'redeem: providers answered',
  'redeem: outcome not yet committed',
  'redeem: outcome recorded',
]
const charging = [
  'capture the rest: begun',
  'capture the rest: provider answered',
  'capture the rest: outcome not yet committed',
  'capture the rest: outcome recorded',
]
const reversing = [
  'reverse: begun',
  'reverse: one provider answered',
  'reverse: providers answered',
  'reverse: outcome not yet committed',
  'reverse: outcome recorded',
]

/** Points in the code on the way of each, but for those at the end of every request. */
export const giftCardPoints: Record<GiftCardOperation, readonly string[]> = {
  'pay mixed': [...intending, ...authorizing, ...redeeming, ...charging, 'create: not yet answered'],
  'pay with gift cards': [...intending, ...redeeming],
  'pay with a poor gift card': [...redeeming.slice(1), ...reversing, 'create: not yet answered'],
  'pay with a refused charge': [...charging.slice(1), ...reversing, 'create: not yet answered'],
  'capture gift cards': [],
  'void gift cards': [...reversing, 'void: answer not yet kept'],
  'refund to a gift card': [],
  'refund all': ['refund all: intent not yet committed', 'refund all: answer not yet kept'],
}

/** And those that have the same name but for what is done. */
export const giftCardSteps: Partial<Record<GiftCardOperation, string>> = {
  'capture gift cards': 'capture',
  'void gift cards': 'void',
  'refund to a gift card': 'refund',
  'refund all': 'refund',
}

/** How often one request comes to a point before it can go no further; where it locks the payment, the first keeps the others waiting. */
export const arrivalsOf = (operation: string, point: string): number =>
  operation === 'refund all' && /^refund: (intent recorded|provider answered|outcome recorded)$/.test(point) ? 3 : 1

/** Requests that are killed at a point, and after each of them the janitor at another. */
export interface JanitorDeaths {
  operation: GiftCardOperation
  point: string
  way: Way
  deaths: readonly string[]
}

const unstored = { intent: 'capture', isStored: false, isAlone: false } as const
const lettingGo = reversing.filter((point) => point !== 'reverse: one provider answered')

/** Requests that die first, and janitors that die after them, one for each of the points on their way. */
export const janitorDeaths: readonly JanitorDeaths[] = [
  {
    operation: 'pay mixed',
    point: 'authorize: provider answered',
    way: unstored,
    // The gift cards are gone with the request: nobody is asked to charge them.
    deaths: [
      'resolve: provider answered',
      ...redeeming.filter((point) => point !== 'redeem: one provider answered'),
      ...lettingGo,
    ],
  },
  {
    operation: 'pay mixed',
    point: 'redeem: providers answered',
    way: unstored,
    deaths: ['give up: not yet committed', 'give up: recorded', ...reversing],
  },
  {
    operation: 'pay with gift cards',
    point: 'redeem: providers answered',
    way: { ...unstored, isStored: true, isAlone: true },
    deaths: ['give up: recorded', ...reversing],
  },
  {
    operation: 'pay mixed',
    point: 'capture the rest: provider answered',
    way: { ...unstored, isStored: true },
    deaths: ['resolve: provider answered', 'capture the rest: outcome not yet committed'],
  },
  {
    operation: 'pay mixed',
    point: 'capture the rest: begun',
    way: unstored,
    deaths: ['capture the rest: outcome not yet committed', ...reversing],
  },
  {
    operation: 'void gift cards',
    point: 'void: provider answered',
    way: { ...unstored, intent: 'authorize' },
    deaths: ['void: outcome not yet committed', ...reversing, 'void: answer not yet kept'],
  },
  {
    operation: 'refund to a gift card',
    point: 'refund: intent recorded',
    way: unstored,
    deaths: ['resolve: gift card refund answered', 'refund: outcome not yet committed'],
  },
]
