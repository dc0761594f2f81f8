import { Crash, type FaultName } from './faults.ts'
import type { Model } from './model.ts'
import { type Attempt, isUndecided, type Movement, type Transaction } from './records.ts'
import type { Outcome, Payment } from './provider.ts'

/** What a request for an existing transaction does to the model. */

/** Why a request is refused: where, and how the contract calls it. */
export type Refused = `${string}: ${string}`
const wrongState: Refused = 'transaction_id: value_error.conflict'
const tooMuch: Refused = '/amount: value_error.range'

/** What the caller is told of the action, beside the transaction. */
export interface ActionResult {
  status: 'succeeded' | 'pending' | 'declined' | 'failed'
  code: string | null
}

export interface Begun {
  transaction: Transaction
  attempt: Attempt
  perform: (payment: Payment) => Outcome
}

export const captureLimit = ({ authorized, profile: { overCapture } }: Transaction) =>
  authorized + Math.max(overCapture.amount, Math.floor((authorized * overCapture.percentage) / 100))

export const leftToRefund = ({ captured, refunded, refunding }: Transaction) => captured - refunded - refunding

export function beginCapture(
  model: Model,
  transaction: Transaction,
  { amount: wanted, final }: { amount: number | undefined; final: boolean },
): Begun | Refused {
  const { status, authorized, captured, capturing } = transaction
  const amount = wanted ?? authorized - captured
  const isOpen = status === 'authorization_succeeded' || status === 'capture_succeeded'
  if (!transaction.isCapturable || !isOpen || amount <= 0) return wrongState
  const limit = captureLimit(transaction)
  if (captured + capturing + amount > limit) return tooMuch
  const movement: Movement = { amount, status: 'pending', final, error: null }
  transaction.captures.push(movement)
  Object.assign(transaction, { status: 'capture_pending', limit, capturing: capturing + amount })
  return begin(model, transaction, 'capture', movement, amount)
}

export function beginVoid(model: Model, transaction: Transaction): Begun | Refused {
  const { status, authorized, captured, isCapturable } = transaction
  const isVoidable = status === 'authorization_succeeded' && authorized > 0 && captured === 0 && isCapturable
  if (!isVoidable) return wrongState
  transaction.status = 'authorization_void_pending'
  return begin(model, transaction, 'void', undefined, authorized)
}

export function beginRefund(model: Model, transaction: Transaction, wanted: number | undefined): Begun | Refused {
  const left = leftToRefund(transaction)
  const amount = wanted ?? left
  if (transaction.captured === 0 || amount === 0) return wrongState
  if (amount > left) return tooMuch
  const movement: Movement = { amount, status: 'processing', final: true, error: null }
  transaction.refunds.push(movement)
  transaction.refunding += amount
  return begin(model, transaction, 'refund', movement, amount)
}

function begin(
  model: Model,
  transaction: Transaction,
  action: 'capture' | 'void' | 'refund',
  movement: Movement | undefined,
  amount: number,
): Begun {
  const attempt = model.open(transaction, action, { amount, service: transaction.service, movement })
  const closes = action === 'capture' && (movement?.final ?? false)
  const call = { amount: action === 'void' ? undefined : amount, closes }
  return {
    transaction,
    attempt,
    perform: (payment) => model.provider.followUp(attempt.reference, action, { ...call, payment }, model.now),
  }
}

/** From the recorded intent to the recorded outcome. Throws when the process dies. */
export function finish(
  model: Model,
  { transaction, attempt, perform }: Begun,
  fault: FaultName | undefined,
  onSettled: (result: ActionResult) => void,
): void {
  const payment = model.paymentOf(transaction)
  if (!payment) throw new Error('the model has begun something with a payment that was never approved')
  const outcome = model.converse(transaction, fault, () => perform(payment))
  model.settleFollowUp(transaction, attempt, outcome)
  onSettled(resultOf(outcome))
  if (fault === 'crash after outcome') throw new Crash()
}

function resultOf(outcome: Outcome): ActionResult {
  switch (outcome.result) {
    case 'approved':
      return { status: 'succeeded', code: null }
    case 'declined':
    case 'failed':
      return { status: outcome.result, code: outcome.code }
    case 'never_arrived':
      return { status: 'failed', code: 'service_network_error' }
    case 'pending':
    case 'unknown':
    case 'redirect':
      return { status: 'pending', code: null }
  }
}

/** Takes back what is not decided. */
export function cancel(model: Model, transaction: Transaction, fault: FaultName | undefined): ActionResult | Refused {
  const attempt = transaction.attempts.find(({ state }) => state !== 'done')
  if (!isUndecided(transaction) || !attempt) return wrongState
  const isOpen = !model.resolve(transaction, attempt, fault) && attempt.isKnown
  if (isOpen && model.takeBack(attempt, fault).result === 'approved') {
    model.settleAuthorization(transaction, attempt, { result: 'canceled' }, { hasNext: false })
  }
  if (isUndecided(transaction)) return { status: 'pending', code: null }
  return { status: transaction.status === 'authorization_failed' ? 'succeeded' : 'failed', code: null }
}
