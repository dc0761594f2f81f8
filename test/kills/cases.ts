import { randomUUID } from 'node:crypto'
import { cardOf, testCards } from '../every-state.ts'
import {
  type CaseGiftCard,
  giftCardOperations,
  giftCardPoints,
  giftCardRefund,
  giftCardsOf,
  giftCardSteps,
  isOfGiftCards,
  janitorDeaths,
  refusedAmount,
  type Way,
  wayOf,
} from './gift-card-cases.ts'
import type { StageRequest } from './stage.ts'

/** What is killed where. */

const operations = ['create', 'capture', 'void', 'refund', ...giftCardOperations] as const
export type Operation = (typeof operations)[number]

/** Not a point in the code: a kill from outside, whenever. */
export const anyMoment = 'any moment'
const lastPoint = 'answer: not yet sent'

type Kind = 'plain' | 'stored' | 'stored in vain'
const createPoints: Record<string, readonly Kind[]> = {
  'create: checked': ['plain', 'stored'],
  'create: number stored': ['stored'],
  'create: intent not yet recorded': ['plain', 'stored'],
  'create: intent not yet committed': ['stored'],
  'authorize: intent recorded': ['plain', 'stored'],
  'authorize: provider answered': ['plain', 'stored', 'stored in vain'],
  'authorize: number not yet forgotten': ['stored in vain'],
  'authorize: outcome recorded': ['plain', 'stored', 'stored in vain'],
  'create: not yet answered': ['plain', 'stored'],
  [lastPoint]: ['plain', 'stored'],
  [anyMoment]: ['plain', 'stored', 'stored in vain'],
}
const steps = [
  'intent not yet committed',
  'intent recorded',
  'provider answered',
  'outcome not yet committed',
  'outcome recorded',
]

/** Points that one process can be killed at together, one for each operation. */
export interface Target {
  name: string
  at: Partial<Record<Operation, string>>
}

export const plainTargets: readonly Target[] = [
  ...Object.keys(createPoints)
    .filter((point) => point !== lastPoint && point !== anyMoment)
    .map((point) => ({ name: point, at: { create: point } })),
  ...steps.map((step) => ({
    name: step,
    at: { capture: `capture: ${step}`, void: `void: ${step}`, refund: `refund: ${step}` },
  })),
  ...[lastPoint, anyMoment].map((point) => ({
    name: point,
    at: { create: point, capture: point, void: point, refund: point },
  })),
]

const all = (operations: readonly Operation[], point: string): Target['at'] =>
  Object.fromEntries(operations.map((operation) => [operation, point]))

export const giftCardTargets: readonly Target[] = [
  ...[...new Set(Object.values(giftCardPoints).flat())].map((point) => ({
    name: `gift cards, ${point}`,
    at: all(
      giftCardOperations.filter((operation) => giftCardPoints[operation].includes(point)),
      point,
    ),
  })),
  ...steps.map((step) => ({
    name: `gift cards, ${step}`,
    // The intent of all refunds has a point of its own.
    at: Object.fromEntries(
      Object.entries(giftCardSteps)
        .filter(([operation]) => operation !== 'refund all' || step !== 'intent not yet committed')
        .map(([operation, action]) => [operation, `${action}: ${step}`]),
    ),
  })),
  ...[lastPoint, anyMoment].map((point) => ({ name: `gift cards, ${point}`, at: all(giftCardOperations, point) })),
]

export const targets: readonly Target[] = [...plainTargets, ...giftCardTargets]

/** Every point in the code that a run is killed at. */
export const knownPoints = [
  ...new Set([...targets.flatMap(({ at }) => Object.values(at)), ...janitorDeaths.flatMap(({ deaths }) => deaths)]),
].filter((point) => point !== anyMoment)

export interface Case {
  operation: Operation
  point: string
  account: string
  key: string | undefined
  /** What the payment is called. */
  order: string
  /**
   * Of the card. Unlike that of any other case, so that the provider's books alone can tell what was charged for it; but for the one amount
   * that cannot be charged.
   */
  amount: number
  giftCards: CaseGiftCard[]
  /** Of a capture or refund: what it asks for. */
  part: number
  intent: 'authorize' | 'capture'
  kind: Kind
  /** Of the payment that a follow-up is about. */
  transactionId: string | undefined
  /** Of its first gift card. */
  redemptionId: string | undefined
}

let count = 0

/** The combinations take turns. */
export function makeCase(operation: Operation, point: string, account: string, turn: number, way?: Way): Case {
  count += 1
  const common = {
    operation,
    point,
    account,
    key: turn % 3 === 2 ? undefined : `key-${randomUUID()}`,
    order: `order-${count}`,
    transactionId: undefined,
    redemptionId: undefined,
  }
  // Beyond the amounts that mean something to the sandbox.
  const amount = 1_000_000 + count * 10
  if (isOfGiftCards(operation)) {
    const { intent, isStored, isAlone } = way ?? wayOf(operation, point, turn)
    return {
      ...common,
      amount: isAlone ? 0 : operation === 'pay with a refused charge' ? refusedAmount : amount,
      giftCards: giftCardsOf(operation, { intent, isStored, isAlone }),
      part: giftCardRefund,
      intent,
      kind: isAlone || turn % 2 === 0 ? 'plain' : 'stored',
    }
  }
  const kinds = createPoints[point] ?? (['plain'] as const)
  return {
    ...common,
    amount,
    giftCards: [],
    part: 100_000 + count,
    intent: operation === 'refund' || (operation === 'create' && turn % 2 === 0) ? 'capture' : 'authorize',
    kind: operation === 'create' ? (kinds[Math.floor(turn / 2) % kinds.length] ?? 'plain') : 'plain',
  }
}

const paymentOf = ({ order, amount, giftCards, intent, kind }: Case) => ({
  amount: giftCards.reduce((sum, card) => sum + card.amount, amount),
  currency: 'EUR',
  country: 'DE',
  intent,
  external_identifier: order,
  store: kind !== 'plain',
  payment_method:
    amount === 0
      ? null
      : {
          ...cardOf(kind === 'stored in vain' ? testCards.declined : testCards.approved),
          ...(kind !== 'plain' && { external_identifier: `card-${order}` }),
        },
  ...(giftCards.length > 0 && {
    gift_cards: giftCards.map(({ id, number, pin, amount }) => (id ? { id, amount } : { number, pin, amount })),
  }),
})

/** What is stored before the payment. */
export const storingOf = ({ account }: Case, { number, pin }: CaseGiftCard): StageRequest => ({
  account,
  path: '/gift-cards',
  body: { number, pin },
})

/** The payment that is there before a follow-up. */
export const preparationOf = (one: Case): StageRequest | undefined =>
  one.operation === 'create' || one.operation.startsWith('pay ')
    ? undefined
    : { account: one.account, path: '/transactions', body: paymentOf(one) }

export function requestOf(one: Case): StageRequest {
  const { account, key, transactionId = '', part } = one
  const path = `/transactions/${transactionId}`
  switch (one.operation) {
    case 'create':
    case 'pay mixed':
    case 'pay with gift cards':
    case 'pay with a poor gift card':
    case 'pay with a refused charge':
      return { account, key, path: '/transactions', body: paymentOf(one) }
    case 'capture':
      return { account, key, path: `${path}/capture`, body: { amount: part, final: false } }
    case 'capture gift cards':
      return { account, key, path: `${path}/capture` }
    case 'void':
    case 'void gift cards':
      return { account, key, path: `${path}/void` }
    case 'refund':
      return { account, key, path: `${path}/refunds`, body: { amount: part } }
    case 'refund to a gift card': {
      const target = { target_type: 'gift-card-redemption', target_id: one.redemptionId }
      return { account, key, path: `${path}/refunds`, body: { ...target, amount: part } }
    }
    case 'refund all':
      return { account, key, path: `${path}/refunds/all`, body: {} }
  }
}

export const nameOf = ({ operation, point, intent, kind, key, order, giftCards }: Case) => {
  const stored = giftCards.some(({ isStored }) => isStored) ? 'stored gift card, ' : ''
  return `${operation} (${intent}, ${kind}, ${stored}${key ? 'with' : 'without'} a key, ${order}) killed at "${point}"`
}
