import { captureTransaction } from '../../src/areas/transactions/operations/capture.ts'
import { createTransaction } from '../../src/areas/transactions/operations/create.ts'
import { syncTransaction } from '../../src/areas/transactions/operations/update.ts'
import { voidTransaction } from '../../src/areas/transactions/operations/void.ts'
import { createRefund, refundAll } from '../../src/areas/transactions/refunds/operations/refund.ts'
import { ApiError } from '../../src/errors.ts'
import type { Rendered } from '../../src/rendered.ts'
import { Crash, type Fault } from './faults.ts'
import type { NewTransaction, Transaction } from './records.ts'
import { cards } from './provider.ts'
import type { World } from './world.ts'

/** Requests that call a provider, and what the API answers to them. */

export type Request = { key: string | undefined; isPreferred: boolean } & (
  | { kind: 'create'; input: NewTransaction }
  | { kind: 'capture'; on: Transaction; amount: number | undefined; final: boolean }
  | { kind: 'void'; on: Transaction }
  | { kind: 'refund'; on: Transaction; amount: number | undefined; reason: string | undefined; isAll: boolean }
)

export type Answer =
  | { is: 'answer'; text: string; isReplay: boolean }
  | { is: 'refusal'; why: string }
  | { is: 'crash' }

/** Anything but an answer, a refusal and a planned crash is thrown on: it would be a 500. */
export async function answerOf(work: () => Promise<Rendered>): Promise<Answer> {
  try {
    const { text, headers } = await work()
    return { is: 'answer', text, isReplay: headers['idempotency-replayed'] === 'true' }
  } catch (error) {
    if (error instanceof Crash) return { is: 'crash' }
    if (!(error instanceof ApiError)) throw error
    const why = error.details.map(({ pointer, type }) => `${pointer}: ${type}`).join(', ')
    return { is: 'refusal', why: why === '' ? error.code : why }
  }
}

export const operations = { create: 'createTransaction', capture: 'captureTransaction', void: 'voidTransaction' }
export const operationOf = (request: Request) =>
  request.kind === 'refund' ? (request.isAll ? 'refundAll' : 'createRefund') : operations[request.kind]

export const accountOf = (request: Request) =>
  request.kind === 'create' ? request.input.profile.account : request.on.profile.account

/** Sends it to the real operations. */
export function send(world: World, request: Request, fault: Fault | undefined): Promise<Answer> {
  const ctx = world.context(accountOf(request), operationOf(request))
  const options = { idempotencyKey: request.key, isPreferred: request.isPreferred }
  const ask = async (): Promise<Rendered> => {
    switch (request.kind) {
      case 'create':
        return createTransaction(ctx, bodyOf(request.input), request.key)
      case 'capture':
        return captureTransaction(ctx, request.on.id, { amount: request.amount ?? null, final: request.final }, options)
      case 'void':
        return voidTransaction(ctx, request.on.id, options)
      case 'refund': {
        const body = { amount: request.amount ?? null, reason: request.reason ?? null }
        return request.isAll
          ? refundAll(ctx, request.on.id, { reason: body.reason }, request.key)
          : createRefund(ctx, request.on.id, body, request.key)
      }
    }
  }
  const onMeanwhile = async () => {
    const id = request.kind === 'create' ? await newestId(world) : request.on.id
    if (id) await syncTransaction(ctx, id)
  }
  return world.withFault({ fault, onMeanwhile }, () => answerOf(ask))
}

/** Of the transaction that a request has made, also when it died before it could say so. */
export async function newestId({ admin }: World): Promise<string | undefined> {
  const { rows } = await admin.query<{ id: string }>('select id from transactions order by id desc limit 1')
  return rows[0]?.id
}

/** Of the page that asks the buyer of a transaction. */
export async function questionId({ admin }: World, transactionId: string): Promise<string> {
  const { rows } = await admin.query<{ id: string }>(
    'select q.id from sandbox_approvals q join attempts a on a.id::text = q.reference where a.transaction_id = $1',
    [transactionId],
  )
  return rows[0]?.id ?? ''
}

/** Of the way back to it. */
export async function returnId({ admin }: World, transactionId: string): Promise<string> {
  const { rows } = await admin.query<{ id: string }>('select id from transaction_approvals where transaction_id = $1', [
    transactionId,
  ])
  return rows[0]?.id ?? ''
}

/** Where buyers come back to. */
export const shop = 'https://shop.example.com/'

const bodyOf = ({ name, amount, intent, asyncCapture, card, canReturn }: NewTransaction) => ({
  amount,
  currency: 'EUR',
  country: 'DE',
  intent,
  async_capture: asyncCapture,
  external_identifier: name,
  payment_method: {
    method: 'card' as const,
    number: cards[card].number,
    expiration_date: '12/49',
    security_code: '123',
    ...(canReturn && { redirect_url: shop }),
  },
})
