import { nextCheckMs } from '../../../asking.ts'
import { accountOf, type Context } from '../../../context.ts'
import { ValidationFailure } from '../../../errors.ts'
import { findAnswer, newKey, repeatAnswer } from '../../../idempotency/keys.ts'
import type { KeyRow } from '../../../idempotency/store.ts'
import { timeOfId } from '../../../ids.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { Rendered } from '../../../rendered.ts'
import { auditEntry } from '../../audit-logs/operations.ts'
import { findBuyerByReference } from '../../buyers/operations.ts'
import { forgetCard, takeSecurityCode } from '../../checkout/operations/pay.ts'
import { replaceDeclined } from '../../payment-methods/operations/replace.ts'
import { beginStoring } from '../../payment-methods/operations/store-with-payment.ts'
import { findUsableServices, type UsableService } from '../../payment-services/operations/routing.ts'
import {
  cardsOfRequest,
  forgetWaiting,
  keepWaiting,
  ownerProblems,
  planGiftCards,
} from '../redemptions/operations/plan.ts'
import { redeem } from '../redemptions/operations/redeem.ts'
import { isRefused, isUndecided } from '../rules.ts'
import type { NewTransaction } from '../schema/create.ts'
import { findTransaction } from '../store/transactions.ts'
import { planApproval } from './approval.ts'
import { authorize } from './authorize.ts'
import { ofBuyer, payer } from './buyer.ts'
import { auditedAs } from './capture.ts'
import { type Instrument, instrumentOf, instrumentProblems, providerMethod } from './instrument.ts'
import { countryOf, findingsOf, newRow, requestProblems } from './new-row.ts'
import { firstStatementAt } from '../statements/operations/ingest.ts'
import { recordIntent } from './record.ts'
import { renderTransaction } from './render.ts'
import { finishKey } from './resolve.ts'
import { claimProblem, openPayment, sessionConflict, usedSession } from './session.ts'

/** Charges a card, or reserves the money on it. */
export async function createTransaction(
  ctx: Context,
  request: NewTransaction,
  idempotencyKey: string | undefined,
): Promise<Rendered> {
  const merchantAccountId = accountOf(ctx)
  const finish = (row: KeyRow) => finishKey(ctx, row, { operation: ctx.operation, key: idempotencyKey ?? '' }, 201)
  const keyOf = (fingerprint: string | null, giftCards: readonly (string | null)[]) =>
    idempotencyKey === undefined
      ? null
      : newKey(ctx, idempotencyKey, fingerprinted(ctx, request, { fingerprint, giftCards }))
  const opened = await openPayment(ctx, request)
  // A session is not what it was when this was asked for first, not least because it was: the answer comes before any refusal.
  const paysBySession = request.payment_method?.method === 'checkout-session'
  const sessionKey = paysBySession ? keyOf(null, []) : null
  const repeated = sessionKey && (await findAnswer(ctx, sessionKey, finish))
  if (repeated) return repeated
  if (opened.refusal) throw opened.refusal
  const { payment: input, session } = opened
  const serviceId = input.payment_service_id ?? undefined
  const wanted = { method: providerMethod(input), currency: input.currency, country: countryOf(input), serviceId }
  const [found, named, instrument, giftCards] = await Promise.all([
    input.payment_method ? findUsableServices(ctx, wanted) : [],
    payer(ctx, input),
    instrumentOf(ctx, input),
    planGiftCards(ctx, input),
  ])
  const services = instrument.enrolment ? await findEnrolled(ctx, wanted, instrument) : found
  // A stored card that somebody owns is paid with by its owner.
  const owner =
    named.snapshot || !instrument.buyerId ? undefined : await findBuyerByReference(ctx, { id: instrument.buyerId })
  const buyer = owner ? { ...ofBuyer(owner), problems: named.problems } : named
  const problems = [
    ...opened.problems,
    ...requestProblems(input, {
      isServiceKnown: serviceId === undefined || services.length > 0,
      now: ctx.now(),
    }),
    ...buyer.problems,
    ...instrumentProblems(input, instrument, buyer.stored),
    ...giftCards.problems,
    ...ownerProblems(giftCards, buyer.stored),
  ]

  // Before the problems: what was done may have made the same request impossible.
  const key = keyOf(instrument.fingerprint, giftCards.fingerprints)
  const answered = key && !sessionKey && (await findAnswer(ctx, key, finish))
  if (answered) return answered
  if (problems.length > 0) throw new ValidationFailure(problems.map((problem) => ({ location: 'body', ...problem })))
  await failpoint('create: checked')

  const card = input.payment_method?.method === 'card' ? input.payment_method : undefined
  const [service] = services
  const storing = input.store && card && service ? await beginStoring(ctx, card, buyer.stored?.id ?? null) : undefined
  const id = ctx.newId()
  const methodId = storing?.id ?? instrument.id
  const approval = instrument.enrolment ? undefined : planApproval(input, services, ctx.now())
  const row = newRow(ctx, {
    id,
    input,
    buyer,
    instrument,
    service,
    methodId,
    sessionId: session?.id ?? null,
    approval,
    giftCards,
  })
  const { redemptions } = giftCards
  const hasGiftCards = redemptions.length > 0
  const mainAmount = input.amount - giftCards.amount
  // What can be let go again is only reserved until the gift cards have paid.
  const isSplit =
    hasGiftCards && services.every(({ connector }) => connector.definition.supported_features.delayed_capture)
  const next_check_at = new Date(timeOfId(id).getTime() + nextCheckMs(0))
  const first = { id: ctx.newId(), next_check_at }
  const attempt = service
    ? {
        ...first,
        action: 'authorize' as const,
        subject_id: input.intent === 'capture' && !isSplit ? ctx.newId() : null,
        payment_service_id: service.id,
        amount: mainAmount,
      }
    : instrument.snapshot
      ? undefined
      : { ...first, action: 'redeem' as const, subject_id: null, payment_service_id: null, amount: giftCards.amount }
  if (approval && hasGiftCards) await keepWaiting(ctx, giftCards, approval.expiresAt)
  await failpoint('create: intent not yet recorded')
  const recording = {
    intention: {
      transaction: row,
      findings: findingsOf(instrument, buyer),
      attempt: attempt ?? null,
      mainAmount,
      key,
      usedMethodId: methodId,
      statementAt: firstStatementAt(row, services),
    },
    entry: auditEntry(ctx, 'created', auditedAs(row)),
  }
  const recorded = await recordIntent(ctx, recording, { storing, session, approval, redemptions })
  if (recorded === 'key taken' && key) return repeatAnswer(ctx, key, finish)
  if (recorded === 'session used') {
    throw paysBySession ? sessionConflict(usedSession) : new ValidationFailure([claimProblem(usedSession)])
  }

  if (!attempt) return new Rendered(renderTransaction(row))
  const cards = { cardOf: cardsOfRequest(ctx, giftCards), key }
  if (attempt.action === 'redeem') {
    return new Rendered(renderTransaction(await redeem(ctx, { row, attemptId: attempt.id, ...cards })))
  }
  const decided = await authorize(ctx, {
    row,
    attempt,
    services,
    request: {
      amount: mainAmount,
      currency: input.currency,
      country: row.country,
      intent: isSplit ? 'authorize' : row.intent,
      asyncCapture: (input.async_capture ?? false) && instrument.card !== null && !hasGiftCards,
      // Not before the session is this payment's own: another one would go without its code.
      card:
        session && paysBySession && instrument.card
          ? { ...instrument.card, securityCode: await takeSecurityCode(ctx, session.id) }
          : instrument.card,
      buyer: { ...buyer.contact, postalCode: buyer.contact.postalCode ?? session?.postalCode ?? null },
      externalIdentifier: row.external_identifier,
      enrolment: instrument.enrolment?.reference ?? null,
      paymentSource: row.payment_source,
      merchantInitiated: row.merchant_initiated,
      isSubsequentPayment: row.is_subsequent_payment,
      previousSchemeTransactionId: input.previous_scheme_transaction_id ?? instrument.schemeTransactionId,
      statementDescriptor: input.statement_descriptor ?? null,
    },
    approval,
    options: input.connection_options ?? {},
    storedMethodId: storing?.id ?? null,
    key,
  })
  const after = decided?.redeem
    ? await redeem(ctx, { row: decided.row, attemptId: decided.redeem.id, ...cards })
    : (decided?.row ?? (await findTransaction(ctx.db, ctx.accounts, id)) ?? row)
  if (approval && hasGiftCards && !isUndecided(after.status)) await forgetWaiting(ctx, giftCards)
  if (session && !isRefused(after.status)) await forgetCard(ctx, { merchantAccountId, id: session.id })
  if (!decided) return new Rendered(renderTransaction(after))
  if (instrument.id) await replaceDeclined(ctx, merchantAccountId, instrument.id, after.error_code)
  await failpoint('create: not yet answered')
  return new Rendered(renderTransaction(after))
}

/** A method that its buyer approved is good with the provider it was approved for, and no other. */
async function findEnrolled(
  ctx: Context,
  wanted: Parameters<typeof findUsableServices>[1],
  { snapshot, enrolment }: Instrument,
): Promise<UsableService[]> {
  if (wanted.serviceId !== undefined && wanted.serviceId !== enrolment?.serviceId) return []
  return findUsableServices(ctx, {
    ...wanted,
    method: snapshot?.method ?? wanted.method,
    serviceId: enrolment?.serviceId,
  })
}

/**
 * The request without what must not be kept: numbers by their fingerprints, which have a key, and no security code or PIN. In another checkout
 * session it is another request.
 */
function fingerprinted(
  { caller }: Context,
  input: NewTransaction,
  { fingerprint, giftCards }: { fingerprint: string | null; giftCards: readonly (string | null)[] },
): unknown {
  const { payment_method: method, gift_cards: cards, ...rest } = input
  const session = caller.checkoutSessionId === null ? {} : { checkout_session_id: caller.checkoutSessionId }
  const gift_cards = cards?.map(({ id, amount }, index) => ({ id, amount, number: giftCards[index] }))
  if (!method) return { ...rest, ...session, gift_cards }
  const { security_code: _code, ...kept } = { security_code: undefined, ...method }
  const payment_method = 'number' in kept ? { ...kept, number: fingerprint } : kept
  return { ...rest, ...session, gift_cards, payment_method }
}
