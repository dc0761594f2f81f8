import type { Outcome, Redirect } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { type KeyRow, storeAnswer } from '../../../idempotency/store.ts'
import { Rendered } from '../../../rendered.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { transact } from '../../../platform/postgres.ts'
import { findStoredMethod } from '../../payment-methods/operations/cards.ts'
import { replaceDeclined } from '../../payment-methods/operations/replace.ts'
import { ask } from '../../payment-services/operations/ask.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import { settleRest } from '../redemptions/operations/capture-rest.ts'
import { cardsFromVault, giveUp, proceed, redeem } from '../redemptions/operations/redeem.ts'
import { reversePayment } from '../redemptions/operations/reverse.ts'
import { resolveGiftCardRefund } from '../refunds/operations/gift-card.ts'
import { settleRefund } from '../refunds/operations/settle.ts'
import { claimDueAttempts, findOpenAttempts, readOldestDue } from '../store/attempts.ts'
import type { AttemptRow, TransactionRow } from '../store/rows.ts'
import { findTransaction } from '../store/transactions.ts'
import { settle } from './authorize.ts'
import { settleCapture } from './capture.ts'
import { closeFollowUp, type FollowUpOutcome, nobodyToAsk, type System } from './follow-up.ts'
import { serviceOf } from './providers.ts'
import { renderTransaction } from './render.ts'
import { type AuthorizationOutcome, buyersMs, settlementOf } from './settlement.ts'
import { settleVoid } from './void.ts'

/** Finding out what became of calls that were left open: by a crash, a silent provider, or one that needs time. */

/** Asks about every attempt in these accounts whose time has come. Returns how many became known. */
export async function resolveDue(
  ctx: System & Pick<Context, 'accounts'>,
  signal: AbortSignal,
): Promise<{ asked: number; known: number }> {
  let asked = 0
  let known = 0
  while (!signal.aborted) {
    const due = await claimDueAttempts(ctx.db, ctx.accounts, ctx.now(), 50)
    for (const attempt of due) {
      asked += 1
      try {
        if (await resolveAttempt(ctx, attempt, true)) known += 1
      } catch (error) {
        ctx.log.error('an attempt could not be resolved', { resource_id: attempt.transaction_id, error })
      }
    }
    if (due.length < 50) break
  }
  return { asked, known }
}

/** For how many seconds the oldest question that is due has not been asked. */
export const oldestOpenOutcome = ({ db, accounts }: Pick<Context, 'db' | 'accounts'>) => readOldestDue(db, accounts)

/** Asks the provider what became of a call, and writes it down. True when it is known now. */
export async function resolveAttempt(
  ctx: System,
  attempt: AttemptRow,
  // Who takes a call that is due puts its next time off, and may have died since.
  isDue = attempt.checks > 0 || attempt.next_check_at === null || attempt.next_check_at <= ctx.now(),
): Promise<boolean> {
  if (isOfGiftCards(attempt)) return resolveGiftCards(ctx, attempt, isDue)
  if (attempt.payment_service_id === null) {
    await settleAttempt(ctx, attempt as PaymentAttempt, nobodyToAsk)
    return true
  }
  const service = await serviceOf(ctx, attempt)
  // Its provider is gone from this instance: nobody is left to ask, and nothing may be made up.
  if (!service) return false
  const outcome: FollowUpOutcome = await ask(ctx, service, (connector, signal) =>
    connector.sync({ service: service.access, reference: attempt.id, signal }),
  )
  await failpoint('resolve: provider answered')
  if (outcome.result === 'redirect') return waitForBuyer(ctx, attempt, service, outcome)
  if (outcome.result === 'unknown' || outcome.result === 'pending') {
    const accounts = [attempt.merchant_account_id]
    await transact({ ...ctx, accounts }, (ctx) => closeFollowUp(ctx, attempt, outcome))
    return false
  }
  await settleAttempt(ctx, attempt as PaymentAttempt, outcome)
  return true
}

/** The buyer has not decided. After the time for it the payment is taken back, and only then it is over. */
async function waitForBuyer(
  ctx: System,
  attempt: AttemptRow,
  service: UsableService,
  outcome: Redirect,
): Promise<boolean> {
  const accounts = [attempt.merchant_account_id]
  const row = await findOwner(ctx, attempt)
  if (row.status === 'processing') {
    await settleAuthorization(ctx, attempt, outcome)
    return false
  }
  const now = ctx.now()
  if (row.approval_expires_at && row.approval_expires_at <= now) {
    const taken = await cancelAt(ctx, service, attempt, row)
    if (taken.result === 'approved') {
      await settleAuthorization(ctx, attempt, { result: 'expired' })
      return true
    }
  }
  const waiting = { ...outcome, result: 'pending', askAfterMs: buyersMs(row, attempt.checks, now) } as const
  await transact({ ...ctx, accounts }, (ctx) => closeFollowUp(ctx, attempt, waiting))
  return false
}

async function findOwner(ctx: System, attempt: AttemptRow): Promise<TransactionRow> {
  const row = await findTransaction(ctx.db, [attempt.merchant_account_id], attempt.transaction_id)
  if (!row) throw new Error('an attempt without a transaction')
  return row
}

/** Takes back a payment that is not decided. */
export function cancelAt(
  ctx: System,
  service: UsableService,
  attempt: Pick<AttemptRow, 'id' | 'provider_reference'>,
  { currency }: Pick<TransactionRow, 'currency'>,
): Promise<Outcome> {
  return ask(ctx, service, (connector, signal) =>
    connector.cancel({
      service: service.access,
      reference: `${attempt.id}-cancel`,
      signal,
      paymentReference: attempt.provider_reference ?? '',
      currency,
    }),
  )
}

type PaymentAttempt = AttemptRow & { action: 'authorize' | 'capture' | 'void' | 'refund' }

async function settleAttempt(ctx: System, attempt: PaymentAttempt, outcome: FollowUpOutcome): Promise<void> {
  switch (attempt.action) {
    case 'authorize':
      return settleAuthorization(ctx, attempt, outcome)
    case 'capture':
      return settleAnyCapture(ctx, attempt, outcome)
    case 'void':
      return void (await settleVoid(ctx, attempt, outcome, null))
    case 'refund':
      return void (await settleRefund(ctx, attempt, outcome, null))
  }
}

/** The charge that ends a payment with gift cards is one of its steps. */
async function settleAnyCapture(ctx: System, attempt: AttemptRow, outcome: FollowUpOutcome): Promise<void> {
  const row = await findOwner(ctx, attempt)
  if (row.status !== 'processing') return void (await settleCapture(ctx, attempt, outcome, null))
  await proceed(ctx, await settleRest(ctx, row, attempt, outcome, null), null)
}

type GiftCardAttempt = AttemptRow & { action: 'redeem' | 'reverse' | 'gift-card-refund' }
const isOfGiftCards = (attempt: AttemptRow): attempt is GiftCardAttempt =>
  attempt.action === 'redeem' || attempt.action === 'reverse' || attempt.action === 'gift-card-refund'

/** Nobody is asked what became of a gift card's call: what has to be done is asked for again, and what may have been paid is given back. */
async function resolveGiftCards(ctx: System, attempt: GiftCardAttempt, isDue: boolean): Promise<boolean> {
  if (attempt.action === 'gift-card-refund') return resolveGiftCardRefund(ctx, attempt)
  const row = await findOwner(ctx, attempt)
  // The request that charges them may be alive until then.
  if (attempt.action === 'redeem' && !isDue) return false
  const after = await (attempt.action === 'redeem'
    ? giveUp(ctx, row, attempt.id)
    : reversePayment(ctx, row, attempt, null))
  return after.status !== row.status
}

/** An authorization that ended elsewhere than in its own request. No other provider is tried: the card is known no more. */
export async function settleAuthorization(
  ctx: System,
  attempt: AttemptRow,
  outcome: AuthorizationOutcome,
): Promise<void> {
  const accounts = [attempt.merchant_account_id]
  const row = await findOwner(ctx, attempt)
  const stored = row.payment_method_id ? await findStoredMethod({ ...ctx, accounts }, row.payment_method_id) : undefined
  const settlement = settlementOf({
    row,
    attempt,
    outcome,
    next: undefined,
    storedMethodId: stored?.status === 'processing' ? stored.id : null,
    now: ctx.now(),
    newId: ctx.newId,
    key: null,
  })
  const after = await settle({ ...ctx, accounts }, settlement)
  const { nextAttempt: redeeming } = settlement
  if (after && redeeming)
    await redeem(ctx, { row: after, attemptId: redeeming.id, cardOf: cardsFromVault(ctx), key: null })
  if (after?.payment_method_id) {
    await replaceDeclined(ctx, row.merchant_account_id, after.payment_method_id, after.error_code)
  }
}

/** Asks about everything that is open in one transaction, now. */
export async function resolveTransaction(ctx: System & Pick<Context, 'accounts'>, id: string): Promise<TransactionRow> {
  for (const attempt of await findOpenAttempts(ctx.db, ctx.accounts, id)) await resolveAttempt(ctx, attempt)
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return row
}

/** Ends what a request began that has died, and gives its answer. The answer is kept once nothing is open any more. */
export async function finishKey(
  ctx: Context,
  { transaction_id: id }: KeyRow,
  key: { operation: string; key: string },
  status: number,
  render: (row: TransactionRow) => Promise<string> = async (row) => renderTransaction(row),
): Promise<Rendered> {
  if (id === null) throw new Error('the key of a payment names no payment')
  const body = await render(await resolveTransaction(ctx, id))
  if ((await findOpenAttempts(ctx.db, ctx.accounts, id)).length === 0) {
    await transact(ctx, (ctx) => storeAnswer(ctx.db, ctx.accounts, key, { status, body }))
  }
  return new Rendered(body, { status, headers: { 'idempotency-replayed': 'true' } })
}
