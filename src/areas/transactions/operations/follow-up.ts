import { nextCheckMs } from '../../../asking.ts'
import type { Answered, Approved, FollowUpCall, Outcome } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import { ApiError } from '../../../errors.ts'
import type { NewKey } from '../../../idempotency/store.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import { closeAttempt, type NewAttempt } from '../store/attempts.ts'
import type { Action, AttemptRow, TransactionRow } from '../store/rows.ts'
import { findTransaction, lockTransactionRow } from '../store/transactions.ts'
import { serviceOf } from './providers.ts'
import type { ActionResult } from './render.ts'

/** What capture, void and refund have in common: a promise on record, the call, and what became of it. */

export type System = Pick<Context, 'db' | 'vault' | 'connectors' | 'giftCards' | 'now' | 'newId' | 'log'>
export type FollowUpOutcome = Outcome | { result: 'never_arrived' }

export async function lockOwner(ctx: Pick<Context, 'db' | 'accounts'>, id: string): Promise<TransactionRow> {
  const row = await lockTransactionRow(ctx.db, ctx.accounts, id)
  if (!row) throw new Error('an attempt without a transaction')
  return row
}

/** The provider that has the payment. Looked up before the transaction, because its secrets may come from the vault. */
export async function providerOf(ctx: Context, id: string): Promise<UsableService | undefined> {
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  return row && serviceOf(ctx, row)
}

/** An action whose promise is on record. */
export interface Begun<Attempt = NewAttempt> {
  row: TransactionRow
  attempt: Attempt
  service: UsableService
}

/** What a provider is told of every action that follows a payment. */
export const callOf = (
  { row, attempt, service }: Begun<Pick<NewAttempt, 'id'>>,
  signal: AbortSignal,
): FollowUpCall => ({
  service: service.access,
  reference: attempt.id,
  signal,
  paymentReference: row.payment_service_transaction_id ?? '',
  currency: row.currency,
})

export const newAttempt = (
  ctx: Pick<Context, 'newId'>,
  row: TransactionRow,
  action: Action,
  {
    service,
    amount,
    subjectId,
    key,
    now,
  }: { service: UsableService | undefined; amount: number; subjectId: string | null; key: NewKey | null; now: Date },
): NewAttempt => ({
  merchant_account_id: row.merchant_account_id,
  transaction_id: row.id,
  id: ctx.newId(),
  action,
  subject_id: subjectId,
  payment_service_id: service?.id ?? null,
  amount,
  idempotency_key: key?.key ?? null,
  next_check_at: new Date(now.getTime() + nextCheckMs(0)),
  created_at: now,
})

/** Gift cards alone pay, and have: there is nobody to ask. */
export const nobodyToAsk: Approved = {
  result: 'approved',
  amount: 0,
  authorizationCode: null,
  avs: null,
  cvv: null,
  schemeTransactionId: null,
  providerReference: null,
  rawCode: null,
  rawDescription: null,
}

/** How an outcome reads where the action is over, or not yet. */
export function resultOf(outcome: FollowUpOutcome): ActionResult {
  const answered: Partial<Answered> = 'rawCode' in outcome ? outcome : {}
  const raw = { rawCode: answered.rawCode ?? null, rawDescription: answered.rawDescription ?? null }
  switch (outcome.result) {
    case 'approved':
      return { status: 'succeeded', code: null, ...raw }
    case 'declined':
    case 'failed':
      return { status: outcome.result, code: outcome.errorCode, ...raw }
    case 'never_arrived':
      return { status: 'failed', code: 'service_network_error', ...raw }
    case 'pending':
    case 'unknown':
      return { status: 'pending', code: null, ...raw }
    case 'redirect':
      return { status: 'failed', code: 'invalid_service_response', ...raw }
  }
}

/** Writes the outcome to the attempt. False when it was decided elsewhere; then nothing else may follow. */
export function closeFollowUp(
  ctx: Pick<Context, 'db' | 'accounts' | 'now'>,
  attempt: Pick<AttemptRow, 'transaction_id' | 'id' | 'checks'>,
  outcome: FollowUpOutcome,
): Promise<boolean> {
  const { status, code } = resultOf(outcome)
  const now = ctx.now()
  const wait = (outcome.result === 'pending' ? outcome.askAfterMs : undefined) ?? nextCheckMs(attempt.checks)
  return closeAttempt(
    ctx.db,
    ctx.accounts,
    attempt,
    {
      state: status !== 'pending' ? 'done' : outcome.result === 'pending' ? 'pending' : 'open',
      result: status === 'pending' ? null : status === 'succeeded' ? 'approved' : status,
      error_code: code,
      provider_reference: 'providerReference' in outcome ? outcome.providerReference : null,
      next_check_at: status === 'pending' ? new Date(now.getTime() + wait) : null,
    },
    now,
  )
}

/** The transaction is not where this can be done. */
export const wrongState = (message: string) =>
  new ApiError('bad_request', {
    message,
    details: [{ location: 'path', pointer: 'transaction_id', message, type: 'value_error.conflict' }],
  })

export const unsupported = (pointer: string, message: string) =>
  new ApiError('bad_request', {
    message,
    details: [
      { location: pointer === 'transaction_id' ? 'path' : 'body', pointer, message, type: 'value_error.unsupported' },
    ],
  })
