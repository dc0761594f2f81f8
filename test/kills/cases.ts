import { randomUUID } from 'node:crypto'
import { cardOf, testCards } from '../every-state.ts'
import type { StageRequest } from './stage.ts'

/** What is killed where. */

export const operations = ['create', 'capture', 'void', 'refund'] as const
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

export const targets: readonly Target[] = [
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

/** Every point in the code that a run is killed at. */
export const knownPoints = [...new Set(targets.flatMap(({ at }) => Object.values(at)))].filter(
  (point) => point !== anyMoment,
)

export interface Case {
  operation: Operation
  point: string
  account: string
  key: string | undefined
  /** Unlike that of any other case, so that the provider's books alone can tell what was charged for it. */
  amount: number
  /** Of a capture or refund: what it asks for. */
  part: number
  intent: 'authorize' | 'capture'
  kind: Kind
  /** Of the payment that a follow-up is about. */
  transactionId: string | undefined
}

let count = 0

/** The combinations take turns. */
export function makeCase(operation: Operation, point: string, account: string, turn: number): Case {
  count += 1
  const kinds = createPoints[point] ?? (['plain'] as const)
  return {
    operation,
    point,
    account,
    key: turn % 3 === 2 ? undefined : `key-${randomUUID()}`,
    // Beyond the amounts that mean something to the sandbox.
    amount: 1_000_000 + count * 10,
    part: 100_000 + count,
    intent: operation === 'refund' || (operation === 'create' && turn % 2 === 0) ? 'capture' : 'authorize',
    kind: operation === 'create' ? (kinds[Math.floor(turn / 2) % kinds.length] ?? 'plain') : 'plain',
    transactionId: undefined,
  }
}

const paymentOf = ({ amount, intent, kind }: Case) => ({
  amount,
  currency: 'EUR',
  country: 'DE',
  intent,
  external_identifier: `order-${amount}`,
  store: kind !== 'plain',
  payment_method: {
    ...cardOf(kind === 'stored in vain' ? testCards.declined : testCards.approved),
    ...(kind !== 'plain' && { external_identifier: `card-${amount}` }),
  },
})

/** The payment that is there before a follow-up. */
export const preparationOf = (one: Case): StageRequest | undefined =>
  one.operation === 'create' ? undefined : { account: one.account, path: '/transactions', body: paymentOf(one) }

export function requestOf(one: Case): StageRequest {
  const { account, key, transactionId = '', part } = one
  const path = `/transactions/${transactionId}`
  switch (one.operation) {
    case 'create':
      return { account, key, path: '/transactions', body: paymentOf(one) }
    case 'capture':
      return { account, key, path: `${path}/capture`, body: { amount: part, final: false } }
    case 'void':
      return { account, key, path: `${path}/void` }
    case 'refund':
      return { account, key, path: `${path}/refunds`, body: { amount: part } }
  }
}
