import type { AuthorizeCall, Outcome } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import { gathering } from '../../../gathering.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { forgetNumber } from '../../payment-methods/operations/change.ts'
import { ask } from '../../payment-services/operations/ask.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import type { AttemptRow, TransactionRow } from '../store/rows.ts'
import { type NextAttempt, settleAuthorizations, type Settlement } from '../store/settle.ts'
import { approvalFor, type PlannedApproval } from './approval.ts'
import { orStillOpen } from './providers.ts'
import { screen } from './screen.ts'
import { settlementOf } from './settlement.ts'

/**
 * Outcomes that arrive together share a statement and its commit, but for two about the same payment: which of them is written must be for
 * the attempt to say, and a statement meets a row only once. Undefined when somebody else has closed the attempt.
 */
const gather = gathering<Settlement, TransactionRow | undefined>(
  async (db, accounts, settlements) => {
    const settled = await settleAuthorizations(db, accounts, settlements)
    return settlements.map(({ after }) => (settled.has(after.id) ? after : undefined))
  },
  { keyOf: ({ after }) => after.id },
)

export async function settle(
  ctx: Pick<Context, 'db' | 'accounts' | 'vault' | 'log'>,
  settlement: Settlement,
): Promise<TransactionRow | undefined> {
  const after = await gather(ctx.db, ctx.accounts, settlement)
  if (after && settlement.method?.status === 'failed') {
    await failpoint('authorize: number not yet forgotten')
    await forgetNumber(ctx, after.merchant_account_id, settlement.method.id)
  }
  return after
}

/** What a provider is told of a payment, but for who it is and what the call is called. */
export type AuthorizeRequest = Omit<AuthorizeCall, 'service' | 'reference' | 'signal' | 'options' | 'approval'>

export interface Authorization {
  row: TransactionRow
  attempt: Pick<AttemptRow, 'id' | 'subject_id'>
  services: readonly UsableService[]
  request: AuthorizeRequest
  approval: PlannedApproval | undefined
  options: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  storedMethodId: string | null
  key: { operation: string; key: string } | null
}

export interface Decided {
  row: TransactionRow
  outcome: Outcome
  /** The step that follows, where gift cards pay too. */
  redeem: NextAttempt | undefined
}

/** A provider that sends a buyer away who cannot come back has not understood the call. */
const nowhereToReturn: Outcome = {
  result: 'failed',
  errorCode: 'invalid_service_response',
  retriable: false,
  providerReference: null,
  rawCode: null,
  rawDescription: null,
}

/**
 * Asks the providers one after the other until one has an answer that is not worth another try. Every attempt is on record before its
 * provider hears of it. Returns the transaction as it is afterwards, or undefined when it was decided elsewhere.
 */
export async function authorize(
  ctx: Context,
  { row: first, attempt: firstAttempt, services, request, approval, options, storedMethodId, key }: Authorization,
): Promise<Decided | undefined> {
  const { row: screened, rejection } = await screen(ctx, first, services[0]?.antiFraud ?? null, request)
  let row = screened
  let attempt = firstAttempt
  for (const [index, service] of services.entries()) {
    await failpoint('authorize: intent recorded')
    const asked = approvalFor(ctx, approval, service)
    const answer =
      rejection?.outcome ??
      (await ask(ctx, service, (connector, signal) =>
        connector.authorize({
          ...request,
          service: service.access,
          reference: attempt.id,
          signal,
          approval: asked,
          options: options[service.definitionId] ?? {},
        }),
      ))
    await failpoint('authorize: provider answered')
    const outcome = answer.result === 'redirect' && !asked ? nowhereToReturn : answer
    const mayRetry = (outcome.result === 'declined' || outcome.result === 'failed') && outcome.retriable
    const settlement = settlementOf({
      row,
      attempt: { ...attempt, checks: 0 },
      outcome,
      next: mayRetry ? services[index + 1] : undefined,
      storedMethodId,
      now: ctx.now(),
      newId: ctx.newId,
      rejected: rejection?.timeline,
      key,
    })
    const after = await orStillOpen(ctx, row, () => settle(ctx, settlement))
    await failpoint('authorize: outcome recorded')
    if (!after) return undefined
    const { nextAttempt } = settlement
    if (nextAttempt?.action !== 'authorize' || after === row)
      return { row: after, outcome, redeem: nextAttempt?.action === 'redeem' ? nextAttempt : undefined }
    row = after
    attempt = { id: nextAttempt.id, subject_id: attempt.subject_id }
  }
  throw new Error('a payment without a provider was authorized')
}
