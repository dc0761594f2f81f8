import type { TransactionStatus } from '../rules.ts'
import { type Totals, totalsOf } from '../statements/rules.ts'
import type { Action } from '../store/rows.ts'
import type { WholeAttempt, WholeTransaction } from '../store/verify.ts'

/** What is said twice must be said the same. Pure. */
export interface Checks {
  same(what: string, expected: Value, found: Value): void
  /** For what has more than one right value. */
  holds(what: string, isRight: boolean, expected: Value, found: Value): void
}
export type Value = string | number | boolean | null

const total = <Item>(items: readonly Item[], amountOf: (item: Item) => number) =>
  items.reduce((sum, item) => sum + amountOf(item), 0)
const isOpen = ({ state }: WholeAttempt) => state !== 'done'

/** Totals against their parts. */
export function checkAmounts({ same, holds }: Checks, whole: WholeTransaction): void {
  const { row, instruments, captures, refunds } = whole
  holds('instruments', instruments.length > 0, 'at least 1', instruments.length)
  // While everything is being given back, its parts are on their way.
  if (isBeingReversed(whole)) return
  for (const name of ['authorized_amount', 'captured_amount', 'refunded_amount'] as const) {
    same(
      name,
      total(instruments, (instrument) => instrument[name]),
      row[name],
    )
  }
  for (const instrument of instruments) {
    const at = `instrument ${instrument.position} `
    const refunded = (status: string) =>
      total(
        refunds.filter((refund) => refund.instrument === instrument.position && refund.status === status),
        ({ amount }) => amount,
      )
    same(`${at}refunded_amount`, refunded('succeeded'), instrument.refunded_amount)
    same(`${at}refunding_amount`, refunded('processing'), instrument.refunding_amount)
    const promised = instrument.captured_amount + instrument.capturing_amount
    const limit = instrument.capture_limit
    holds(`${at}capture_limit`, promised <= limit, `at least ${promised}`, limit)
    const { authorized_amount: authorized, amount } = instrument
    holds(`${at}authorized_amount`, authorized <= amount, `at most ${amount}`, authorized)
    const given = instrument.refunded_amount + instrument.refunding_amount
    const taken = instrument.captured_amount
    holds(`${at}refunds`, given <= taken, `at most ${taken}`, given)
  }
  checkCaptures({ same, holds }, whole)
  for (const { id, currency } of captures) same(`capture ${id} currency`, row.currency, currency)
  for (const { id, currency } of refunds) same(`refund ${id} currency`, row.currency, currency)
}

/** What was captured against the captures: each is of all instruments together. */
function checkCaptures({ same }: Checks, { row, instruments, captures }: WholeTransaction): void {
  // Sold at once, and gift cards are still to pay: there is no capture before all have.
  if (row.status === 'processing' && captures.length === 0) return
  const captured = (status: string) =>
    total(
      captures.filter((capture) => capture.status === status),
      ({ amount }) => amount,
    )
  same(
    'captured by captures',
    captured('succeeded'),
    total(instruments, ({ captured_amount }) => captured_amount),
  )
  same(
    'capturing by captures',
    captured('pending'),
    total(instruments, ({ capturing_amount }) => capturing_amount),
  )
}

const isBeingReversed = ({ attempts }: WholeTransaction) =>
  attempts.some((attempt) => attempt.action === 'reverse' && isOpen(attempt))

/** The main method has paid its part, and gift cards are paying theirs. */
const isPartlyPaid = ({ row, redemptions }: WholeTransaction) => row.status === 'processing' && redemptions.length > 0

interface Shape {
  authorized: boolean
  /** Undefined: either. */
  captured: boolean | undefined
  outcome: 'pending' | 'failed' | undefined
  capturable: boolean | undefined
}
const nothing: Shape = { authorized: false, captured: false, outcome: 'pending', capturable: false }
const shapes: Record<TransactionStatus, Shape> = {
  processing: nothing,
  buyer_approval_pending: nothing,
  authorization_declined: { ...nothing, outcome: 'failed' },
  authorization_failed: { ...nothing, outcome: 'failed' },
  authorization_succeeded: { authorized: true, captured: false, outcome: undefined, capturable: undefined },
  capture_pending: { authorized: true, captured: undefined, outcome: undefined, capturable: undefined },
  capture_succeeded: { authorized: true, captured: true, outcome: undefined, capturable: undefined },
  authorization_void_pending: { authorized: true, captured: false, outcome: undefined, capturable: true },
  authorization_voided: { authorized: true, captured: false, outcome: undefined, capturable: false },
}

/** The status against the amounts and moments. */
export function checkStatus({ same, holds }: Checks, whole: WholeTransaction): void {
  const { row, instruments } = whole
  same('intent_outcome when processing', row.status === 'processing' && row.intent_outcome !== 'pending', false)
  if (isPartlyPaid(whole) || isBeingReversed(whole)) return
  const { authorized, captured, outcome, capturable } = shapes[row.status]
  const when = `when ${row.status}`
  // A card can be checked with an amount of 0.
  same(`authorized ${when}`, authorized && row.amount > 0, row.authorized_amount > 0)
  if (captured !== undefined) same(`captured ${when}`, captured, row.captured_amount > 0)
  if (outcome !== undefined) same(`intent_outcome ${when}`, outcome, row.intent_outcome)
  holds(
    `intent_outcome ${when}`,
    outcome === 'pending' || row.intent_outcome !== 'pending' || row.status === 'capture_pending',
    'not pending',
    row.intent_outcome,
  )
  if (capturable !== undefined) {
    same(
      `capturable ${when}`,
      capturable,
      instruments.some((instrument) => instrument.capturable),
    )
  }
  same('captured_at is set', row.captured_amount > 0, row.captured_at !== null)
  same('voided_at is set', row.status === 'authorization_voided', row.voided_at !== null)
  const isReviewed = row.anti_fraud_decision === 'review' && row.authorized_at !== null
  holds('pending_review', isReviewed || !row.pending_review, false, row.pending_review)
  same('authorized_at is set', authorized, row.authorized_at !== null)
}

/** Where a transaction may be while a call is open. A refund changes no status. */
const statusesWhile: Record<Exclude<Action, 'refund' | 'gift-card-refund'>, readonly TransactionStatus[]> = {
  authorize: ['processing', 'buyer_approval_pending', 'capture_pending'],
  // While processing: the charge that ends a payment with gift cards.
  capture: ['capture_pending', 'processing'],
  void: ['authorization_void_pending'],
  redeem: ['processing'],
  reverse: ['processing', 'authorization_void_pending'],
}
const actionsOf: Partial<Record<TransactionStatus, readonly Action[]>> = {
  processing: ['authorize', 'redeem', 'capture', 'reverse'],
  capture_pending: ['authorize', 'capture'],
  authorization_void_pending: ['void', 'reverse'],
}

/** What is under way against the calls that are open. */
export function checkAttempts({ same, holds }: Checks, { row, captures, refunds, attempts }: WholeTransaction): void {
  const open = attempts.filter(isOpen)
  for (const { id, action, subject_id: subject } of open) {
    const what = `open attempt ${id} (${action})`
    if (action === 'refund' || action === 'gift-card-refund') {
      same(`${what}: refund`, 'processing', refunds.find((refund) => refund.id === subject)?.status ?? null)
      continue
    }
    const fitting = statusesWhile[action]
    holds(`${what}: status`, fitting.includes(row.status), fitting.join(' or '), row.status)
    if (action === 'capture') {
      same(`${what}: capture`, 'pending', captures.find((capture) => capture.id === subject)?.status ?? null)
    }
  }
  const awaited = actionsOf[row.status]
  const moving = open.filter(({ action }) => awaited?.includes(action))
  if (awaited) same(`open attempts when ${row.status}`, 1, moving.length)
  const isAwaited = (id: string) => open.some(({ subject_id }) => subject_id === id)
  for (const { id } of captures.filter(({ status }) => status === 'pending')) {
    same(`pending capture ${id} has an open attempt`, true, isAwaited(id))
  }
  for (const { id } of refunds.filter(({ status }) => status === 'processing')) {
    same(`processing refund ${id} has an open attempt`, true, isAwaited(id))
  }
  const approvals = attempts.filter(({ action, result }) => action === 'authorize' && result === 'approved')
  holds('approved authorizations', approvals.length <= 1, 'at most 1', approvals.length)
}

/** What was settled and disputed against the lines of the statements. */
export function checkLines({ same }: Checks, { row, refunds, lines }: WholeTransaction): void {
  const totals = totalsOf(lines)
  for (const name of Object.keys(totals) as (keyof Totals)[]) same(name, totals[name], row[name])
  for (const refund of refunds) {
    const own = lines.filter(({ refund_id }) => refund_id === refund.id)
    same(`refund ${refund.id} settled`, own.length > 0, refund.settled)
    same(
      `refund ${refund.id} settled_amount`,
      total(own, ({ amount }) => amount),
      refund.settled_amount,
    )
  }
}
