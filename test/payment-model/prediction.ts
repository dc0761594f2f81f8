import { timeOfId } from '../../src/ids.ts'
import { type ActionResult, beginCapture, beginRefund, beginVoid, finish } from './follow-ups.ts'
import { Crash, type Fault } from './faults.ts'
import type { Key, Keys } from './keys.ts'
import type { Model } from './model.ts'
import type { Movement, Transaction } from './records.ts'
import { accountOf, operationOf, type Request } from './requests.ts'

/** What the API must answer to a request, by the model. */

export type Prediction =
  | { is: 'answer'; view: unknown; replayOf?: Key }
  | { is: 'refusal'; why: string }
  | { is: 'crash' }

/** The fields of an answer that the model knows. */
export const viewOf = ({ id, ...transaction }: Transaction) => ({
  type: 'transaction',
  id,
  status: transaction.status,
  amount: transaction.amount,
  authorized_amount: transaction.authorized,
  captured_amount: transaction.captured,
  refunded_amount: transaction.refunded,
  error_code: transaction.error,
  intent_outcome: transaction.intentOutcome,
  external_identifier: transaction.externalIdentifier,
  // Where to send the buyer, as long as one is needed.
  payment_method: { approval_target: transaction.status === 'buyer_approval_pending' ? 'any' : null },
})

export const actionView = (type: string, { status, code }: ActionResult, transaction: Transaction) => ({
  type: `transaction-${type}`,
  status,
  code,
  transaction: viewOf(transaction),
})

function refundView({ id }: Transaction, { status, amount, error }: Movement) {
  return { type: 'refund', transaction_id: id, status, amount, error_code: error }
}

/** Moves the model. `createdId`: of the transaction that the API made of it, if it did. */
export function predict(
  { model, keys }: { model: Model; keys: Keys },
  request: Request,
  fault: Fault | undefined,
  createdId: string | undefined,
): Prediction {
  const name = request.key && `${accountOf(request)} ${operationOf(request)} ${request.key}`
  const fingerprint = fingerprintOf(request)
  const held = name ? keys.look(name, fingerprint, model.now) : undefined
  switch (held?.state) {
    case 'other':
      return { is: 'refusal', why: 'Idempotency-Key: value_error.conflict' }
    case 'running':
      return { is: 'refusal', why: 'concurrent_request' }
    case 'answered':
      return { is: 'answer', view: held.key.answer?.view, replayOf: held.key }
    case 'abandoned':
      return takeOver(model, request, held.key)
    case 'new':
    case undefined:
      break
  }
  const hold = (transaction: Transaction, movement: Movement | undefined, createdAt: number) =>
    name ? keys.hold(name, { fingerprint, transaction, movement, createdAt }, model.now) : undefined
  try {
    return request.kind === 'create'
      ? create(model, request, fault, createdId, hold)
      : followUp(model, request, fault, hold)
  } catch (error) {
    if (error instanceof Crash) return { is: 'crash' }
    throw error
  }
}

type Hold = (transaction: Transaction, movement: Movement | undefined, createdAt: number) => Key | undefined

function create(
  model: Model,
  { input }: Extract<Request, { kind: 'create' }>,
  fault: Fault | undefined,
  id: string | undefined,
  hold: Hold,
): Prediction {
  if (id === undefined) throw new Error('the API made no transaction where the model did')
  const createdAt = timeOfId(id).getTime()
  const place = { id, createdAt, fault }
  let key: Key | undefined
  const transaction = model.create(
    input,
    place,
    (made) => (key = hold(made, undefined, createdAt)),
    (made) => {
      if (key) key.answer = { view: viewOf(made), text: undefined }
    },
  )
  return { is: 'answer', view: viewOf(transaction) }
}

function followUp(
  model: Model,
  request: Exclude<Request, { kind: 'create' }>,
  fault: Fault | undefined,
  hold: Hold,
): Prediction {
  const transaction = request.on
  const begun =
    request.kind === 'capture'
      ? beginCapture(model, transaction, request)
      : request.kind === 'void'
        ? beginVoid(model, transaction)
        : beginRefund(model, transaction, request.isAll ? undefined : request.amount)
  if (typeof begun === 'string') return { is: 'refusal', why: begun }
  const { movement } = begun.attempt
  const key = hold(transaction, movement, model.now)
  let view: unknown
  // The outcome is what this request heard, also when somebody else was faster.
  finish(model, begun, fault?.name, (result) => {
    view = answerView(request, transaction, movement, result)
    if (key) key.answer = { view, text: undefined }
  })
  return { is: 'answer', view }
}

function answerView(
  request: Request,
  transaction: Transaction,
  movement: Movement | undefined,
  result: ActionResult,
): unknown {
  if (request.kind === 'refund' && movement) {
    const refund = refundView(transaction, movement)
    return request.isAll ? { items: [refund] } : refund
  }
  return request.isPreferred && request.kind !== 'create'
    ? actionView(request.kind, result, transaction)
    : viewOf(transaction)
}

/** Whoever asks again after the first has died gets things done, and an answer that is kept once nothing is open. */
function takeOver(model: Model, request: Request, key: Key): Prediction {
  const { transaction, movement } = key
  model.sync(transaction)
  const view = answerView(request, transaction, movement, finished(request, transaction, movement))
  if (transaction.attempts.every(({ state }) => state === 'done')) key.answer = { view, text: undefined }
  return { is: 'answer', view, replayOf: key }
}

function finished(request: Request, { status }: Transaction, movement: Movement | undefined): ActionResult {
  if (request.kind === 'capture' && movement && movement.status !== 'processing') {
    return { status: movement.status, code: movement.error }
  }
  const isPending = status === 'authorization_void_pending'
  return { status: status === 'authorization_voided' ? 'succeeded' : isPending ? 'pending' : 'failed', code: null }
}

/** What makes two requests the same. */
function fingerprintOf(request: Request): string {
  const { key: _key, isPreferred: _isPreferred, ...rest } = request
  return JSON.stringify({ ...rest, ...('on' in rest && { on: rest.on.id }) })
}
