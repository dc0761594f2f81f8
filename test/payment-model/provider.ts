/**
 * The sandbox's processor as docs/sandbox.md tells it, in memory. Written from the page and not from the code, so that the two can
 * disagree.
 */

export type Outcome =
  | { result: 'approved' }
  | Refusal
  | { result: 'pending'; askAfterMs: number; isAuthorized?: boolean }
  /** The buyer is asked first. */
  | { result: 'redirect' }
  | { result: 'unknown' }
  | { result: 'never_arrived' }

export interface Refusal {
  result: 'declined' | 'failed'
  code: string
  retriable: boolean
  /** Only the charge was refused: the money stays reserved. */
  isAuthorized?: boolean
}

type Kind = 'authorize' | 'sale' | 'late_sale' | 'capture' | 'void' | 'refund' | 'cancel'

export interface Payment {
  state: 'pending' | 'authorized' | 'completed' | 'voided' | 'canceled' | 'refused'
  authorized: number
  captured: number
  refunded: number
  expiresAt: number
  card: CardName
}

interface Operation {
  kind: Kind | 'never_arrived'
  amount: number
  closes: boolean
  payment: Payment | undefined
  outcome: Outcome
  due: { at: number; outcome: Outcome } | undefined
  /** A charge that is made later, of money that is reserved at once. */
  isReserved: boolean
  question?: Question
}

/** What buyers press. */
export const decisions = ['approved', 'rejected', 'cancelled', 'expired'] as const
export type Decision = (typeof decisions)[number]

export interface Question {
  state: Decision | 'open'
  expiresAt: number
  /** What the payment comes to if the buyer approves, and how long that takes. */
  approved: Outcome
  waitMs: number
}

const declined = (code: string, retriable = false): Refusal => ({ result: 'declined', code, retriable })
const failed = (code: string, retriable = false): Refusal => ({ result: 'failed', code, retriable })

/** Cards by what they do. `later` and `lost`: the calls whose answer comes later, or not at all. */
interface Card {
  number: string
  refusal?: Refusal
  later?: readonly Kind[]
  lost?: readonly Kind[]
  /** The call does not reach the processor. */
  swallows?: boolean
}
const payments = ['authorize', 'sale'] as const
export const cards = {
  plain: { number: '4111111111111111' },
  decline: { number: '4000000000009995', refusal: declined('insufficient_funds') },
  softDecline: { number: '4000000000000002', refusal: declined('issuer_decline', true) },
  softFailure: { number: '4000000000001059', refusal: failed('service_error', true) },
  pending: { number: '4000000000002008', later: payments },
  capturePending: { number: '4000000000002016', later: ['capture'] },
  voidPending: { number: '4000000000002024', later: ['void'] },
  refundPending: { number: '4000000000002032', later: ['refund'] },
  timeoutBefore: { number: '4000000000003006', swallows: true },
  timeoutAfter: { number: '4000000000003014', lost: payments },
  captureTimeout: { number: '4000000000003105', lost: ['capture'] },
  voidTimeout: { number: '4000000000003113', lost: ['void'] },
  refundTimeout: { number: '4000000000003121', lost: ['refund'] },
} satisfies Record<string, Card>
export type CardName = keyof typeof cards
const cardOf = (name: CardName): Card => cards[name]

/** Amounts by what they do to which call. */
const paymentRefusals = new Map([
  [200011, declined('insufficient_funds')],
  [200012, declined('issuer_decline', true)],
  [300004, failed('invalid_service_configuration')],
  [300013, failed('service_error', true)],
])
const captureRefusals = new Map([
  [500001, failed('service_network_error')],
  [500002, declined('refused_transaction')],
])
const refusals: Partial<Record<Kind, ReadonlyMap<number, Refusal>>> = {
  capture: captureRefusals,
  void: new Map([
    [510001, failed('service_network_error')],
    [510002, declined('issuer_decline')],
  ]),
  refund: new Map([
    [520001, failed('disputed_transaction')],
    [520002, declined('issuer_decline')],
    // Not asked for, but some sums end there.
    [520003, failed('service_error')],
    [520004, failed('refund_already_satisfied')],
  ]),
}

const pendingMs = 2_000
const authorizationMs = 7 * 24 * 60 * 60 * 1000
const buyerRefusals = {
  rejected: declined('failed_buyer_approval'),
  cancelled: failed('cancelled_buyer_approval'),
  expired: failed('incomplete_buyer_approval'),
}
const usedReference = failed('duplicate_transaction')

export interface AuthorizeCall {
  amount: number
  intent: 'authorize' | 'capture'
  asyncCapture: boolean
  card: CardName
  /** Until when the buyer may answer a challenge; undefined: there is none. */
  asksUntil: number | undefined
}

export class Provider {
  readonly #operations = new Map<string, Operation>()

  find(reference: string): Operation | undefined {
    return this.#operations.get(reference)
  }

  authorize(reference: string, call: AuthorizeCall, now: number): Outcome {
    const card = cardOf(call.card)
    if (card.swallows) return { result: 'unknown' }
    const known = this.#repeat(reference)
    if (known) return known
    const { amount, asksUntil } = call
    const kind = call.intent === 'capture' ? 'sale' : 'authorize'
    const refusal = card.refusal ?? paymentRefusals.get(amount)
    const verdict = refusal ?? (kind === 'sale' ? captureRefusals.get(amount) : undefined) ?? { result: 'approved' }
    const isLater = card.later?.includes(kind) ?? false
    if (asksUntil !== undefined) {
      return this.#ask(reference, call, kind, {
        expiresAt: asksUntil,
        approved: verdict,
        waitMs: isLater ? pendingMs : 0,
      })
    }
    const isReserved = call.asyncCapture && !refusal && !isLater && !card.lost?.includes(kind)
    const authorized = isReserved ? amount : 0
    const expiresAt = now + authorizationMs
    const payment: Payment = { state: 'pending', authorized, captured: 0, refunded: 0, expiresAt, card: call.card }
    const booked = isReserved ? 'late_sale' : kind
    const operation = { kind: booked, amount, closes: false, payment, isReserved } as const
    return this.#record(reference, operation, verdict, { waits: isLater || isReserved, now })
  }

  /** Nothing is reserved before the buyer has approved. */
  #ask(
    reference: string,
    { amount, card }: AuthorizeCall,
    kind: 'authorize' | 'sale',
    { expiresAt, approved, waitMs }: Omit<Question, 'state'>,
  ): Outcome {
    const lapses = expiresAt + authorizationMs
    this.#operations.set(reference, {
      kind,
      amount,
      closes: false,
      payment: { state: 'pending', authorized: 0, captured: 0, refunded: 0, expiresAt: lapses, card },
      outcome: { result: 'redirect' },
      due: { at: expiresAt, outcome: buyerRefusals.expired },
      isReserved: false,
      question: { state: 'open', expiresAt, approved, waitMs },
    })
    return cardOf(card).lost?.includes(kind) ? { result: 'unknown' } : { result: 'redirect' }
  }

  /** The first answer counts, and only while it is awaited. True when this one did. */
  decide(reference: string, decision: Decision, now: number): boolean {
    const operation = this.#operations.get(reference)
    const question = operation?.question
    if (!question || question.state !== 'open' || question.expiresAt <= now) return false
    if (operation.payment?.state === 'canceled' || operation.outcome.result !== 'redirect') return false
    question.state = decision
    const [outcome, waitMs] =
      decision === 'approved' ? [question.approved, question.waitMs] : [buyerRefusals[decision], 0]
    operation.outcome = { result: 'pending', askAfterMs: waitMs }
    operation.due = { at: now + waitMs, outcome }
    return true
  }

  followUp(
    reference: string,
    kind: 'capture' | 'void' | 'refund' | 'cancel',
    { payment, amount, closes }: { payment: Payment; amount: number | undefined; closes: boolean },
    now: number,
  ): Outcome {
    const known = this.#repeat(reference)
    if (known) return known
    const operation = { kind, amount: amount ?? payment.authorized, closes, payment, isReserved: false }
    const verdict = objection(operation, now) ?? refusals[kind]?.get(operation.amount) ?? { result: 'approved' }
    return this.#record(reference, operation, verdict, {
      waits: cardOf(payment.card).later?.includes(kind) ?? false,
      now,
    })
  }

  /** What became of a call. One that is not known is refused from then on. */
  sync(reference: string, now: number): Outcome {
    const operation = this.#operations.get(reference)
    if (!operation) {
      const never = { result: 'never_arrived' } as const
      const nothing = { amount: 0, closes: false, payment: undefined, due: undefined, isReserved: false }
      this.#operations.set(reference, { kind: 'never_arrived', outcome: never, ...nothing })
      return never
    }
    const { due, payment } = operation
    if (!due || !payment) return operation.outcome
    if (due.at > now && payment.state !== 'canceled') {
      if (operation.outcome.result === 'redirect') return operation.outcome
      return { result: 'pending', askAfterMs: due.at - now, ...standing(operation) }
    }
    operation.outcome = objection(operation) ?? due.outcome
    operation.due = undefined
    apply(operation)
    return operation.outcome
  }

  #repeat(reference: string): Outcome | undefined {
    const known = this.#operations.get(reference)
    return known && (known.kind === 'never_arrived' ? usedReference : known.outcome)
  }

  #record(
    reference: string,
    asked: { kind: Kind; amount: number; closes: boolean; payment: Payment; isReserved: boolean },
    verdict: Outcome,
    { waits, now }: { waits: boolean; now: number },
  ): Outcome {
    const outcome: Outcome = waits ? { result: 'pending', askAfterMs: pendingMs, ...standing(asked) } : verdict
    const late = verdict.result === 'approved' ? verdict : { ...verdict, ...standing(asked) }
    const due = waits ? { at: now + pendingMs, outcome: late } : undefined
    const operation: Operation = { ...asked, outcome, due }
    this.#operations.set(reference, operation)
    if (!waits) apply(operation)
    return cardOf(asked.payment.card).lost?.includes(asked.kind) ? { result: 'unknown' } : outcome
  }
}

const standing = ({ isReserved }: { isReserved: boolean }) => (isReserved ? { isAuthorized: true } : {})

/** What the processor refuses by itself. `now`: of a call that just came; what was asked for in time does not expire. */
function objection(
  { kind, amount, payment }: Pick<Operation, 'kind' | 'amount' | 'payment'>,
  now = -Infinity,
): Refusal | undefined {
  if (!payment) return undefined
  const { state, authorized, captured, refunded, expiresAt } = payment
  switch (kind) {
    case 'authorize':
    case 'sale':
    case 'late_sale':
      return state === 'pending' ? undefined : failed('canceled')
    case 'capture':
      if (state !== 'authorized') return failed('invalid_operation')
      if (now >= expiresAt) return declined('expired_authorization')
      return captured + amount > authorized * 2 ? failed('invalid_amount') : undefined
    case 'void':
      return state === 'authorized' && captured === 0 ? undefined : failed('invalid_operation')
    case 'refund':
      return refunded + amount > captured ? failed('invalid_amount') : undefined
    case 'cancel':
      return state === 'pending' ? undefined : failed('invalid_operation')
    case 'never_arrived':
      return undefined
  }
}

/** Moves the money of a decided operation. */
function apply({ kind, amount, closes, payment, outcome, isReserved }: Operation): void {
  if (!payment) return
  const isApproved = outcome.result === 'approved'
  if ((kind === 'authorize' || kind === 'sale' || kind === 'late_sale') && payment.state === 'pending') {
    const refused = isReserved ? 'authorized' : 'refused'
    payment.state = !isApproved ? refused : kind === 'authorize' ? 'authorized' : 'completed'
    payment.authorized = isApproved || isReserved ? amount : 0
    payment.captured = isApproved && kind !== 'authorize' ? amount : 0
    return
  }
  if (!isApproved) return
  if (kind === 'capture') {
    payment.captured += amount
    if (closes) payment.state = 'completed'
  }
  if (kind === 'void') payment.state = 'voided'
  if (kind === 'refund') payment.refunded += amount
  if (kind === 'cancel') payment.state = 'canceled'
}
