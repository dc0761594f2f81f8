import { randomUUID } from 'node:crypto'
import { redirectProblems, returnAddress, usualWindowMs } from '../../../approval.ts'
import { nextCheckMs } from '../../../asking.ts'
import type { Outcome } from '../../../connectors/payment.ts'
import type { Clock } from '../../../clocks.ts'
import { accountOf, actingUpon, type Context } from '../../../context.ts'
import { duplicateRecord, type ErrorDetail, ValidationFailure } from '../../../errors.ts'
import { timeOfId } from '../../../ids.ts'
import { transact } from '../../../platform/postgres.ts'
import { audit } from '../../audit-logs/operations.ts'
import type { Buyer } from '../../buyers/schema.ts'
import { ask } from '../../payment-services/operations/ask.ts'
import { findService, findUsableServices, type UsableService } from '../../payment-services/operations/routing.ts'
import { report } from '../operations/change.ts'
import { present } from '../operations/present.ts'
import type { NewRedirect, PaymentMethod } from '../schema.ts'
import { findIdByExternalIdentifier, findPaymentMethod, type PaymentMethodRow } from '../store.ts'
import {
  claimDueEnrolments,
  type EnrolmentRow,
  findEnrolment,
  insertEnrolment,
  insertRedirect,
  settleEnrolmentRow,
  updateApproval,
} from './store.ts'

/** Redirect methods that a buyer approves once, to be charged again and again. */

type System = Pick<Context, 'db' | 'vault' | 'connectors' | 'now' | 'log'>

/** Begins it: what is asked is on record before the provider hears of it. */
export async function enrolMethod(ctx: Context, input: NewRedirect, buyer: Buyer | null): Promise<PaymentMethod> {
  const { method, currency, country, redirect_url } = input
  const services = await findUsableServices(ctx, { method, currency, country })
  const service = services.find(({ connector }) => connector.enrol)
  const problems = [...redirectProblems(redirect_url, '/redirect_url'), ...(service ? [] : [nobodyTakesIt])]
  if (!service || problems.length > 0) {
    throw new ValidationFailure(problems.map((problem): ErrorDetail => ({ location: 'body', ...problem })))
  }
  const { row, enrolment } = await record(ctx, input, service, buyer)
  const outcome = await ask(ctx, service, (connector, signal) => {
    if (!connector.enrol) throw new Error('the provider cannot enrol')
    const returnUrl = `${ctx.baseUrl}/enrolments/${enrolment.id}`
    const approval = { returnUrl, expiresAt: enrolment.expires_at, threeDSecure: false }
    return connector.enrol({ service: service.access, reference: enrolment.id, signal, currency, country, approval })
  })
  return present((await settleEnrolment(ctx, enrolment, outcome)) ?? row, buyer)
}

const nobodyTakesIt = {
  pointer: '/method',
  type: 'value_error.unsupported',
  message: 'No active payment service stores this method in this currency and country',
}

async function record(ctx: Context, input: NewRedirect, service: UsableService, buyer: Buyer | null) {
  const merchantAccountId = accountOf(ctx)
  const id = ctx.newId()
  const createdAt = timeOfId(id)
  const now = ctx.now().getTime()
  const external_identifier = input.external_identifier ?? null
  const enrolment: EnrolmentRow = {
    merchant_account_id: merchantAccountId,
    payment_method_id: id,
    id: randomUUID(),
    payment_service_id: service.id,
    redirect_url: input.redirect_url,
    is_open: true,
    checks: 0,
    expires_at: new Date(now + usualWindowMs),
  }
  const row = await transact(ctx, async (ctx) => {
    const inserted = await insertRedirect(ctx.db, {
      merchant_account_id: merchantAccountId,
      id,
      buyer_id: buyer?.id ?? null,
      external_identifier,
      method: input.method,
      country: input.country,
      currency: input.currency,
      payment_service_id: service.id,
      created_at: createdAt,
    })
    if (!inserted) return undefined
    const next = new Date(now + nextCheckMs(0))
    await insertEnrolment(ctx.db, { ...enrolment, next_check_at: next, created_at: createdAt })
    await audit(ctx, 'created', { type: 'payment-method', id, name: input.method, merchantAccountId })
    return inserted
  })
  if (row) return { row, enrolment }
  const holder = external_identifier && (await findIdByExternalIdentifier(ctx.db, ctx.accounts, external_identifier))
  throw duplicateRecord('A payment method with this external identifier exists already', holder || null)
}

type EnrolmentOutcome = Outcome | { result: 'never_arrived' }

/** Undefined when nothing changed, or somebody else has closed it. */
async function settleEnrolment(
  ctx: Pick<Context, 'db' | 'now'>,
  enrolment: EnrolmentRow,
  outcome: EnrolmentOutcome,
): Promise<PaymentMethodRow | undefined> {
  const now = ctx.now()
  const accounts = [enrolment.merchant_account_id]
  const change = changeBy(outcome, enrolment.expires_at <= now)
  const isOpen = change === undefined || change.status === 'buyer_approval_required'
  const wait = Math.min(nextCheckMs(enrolment.checks), Math.max(enrolment.expires_at.getTime() - now.getTime(), 60_000))
  return await transact({ ...ctx, accounts }, async (ctx) => {
    const isOurs = await settleEnrolmentRow(ctx.db, ctx.accounts, enrolment.id, {
      provider_reference: 'providerReference' in outcome ? outcome.providerReference : null,
      next_check_at: isOpen ? new Date(now.getTime() + wait) : null,
    })
    const before = isOurs && (await findPaymentMethod(ctx.db, ctx.accounts, enrolment.payment_method_id))
    if (!before || !change || before.status === change.status) return undefined
    const row = await updateApproval(ctx.db, ctx.accounts, before.id, change, now)
    if (row) await report(ctx, 'payment-method.updated', row, row.version)
    return row
  })
}

type Change = Pick<PaymentMethodRow, 'status' | 'approval_url' | 'enrolment'>

/** Undefined while nobody knows. */
function changeBy(outcome: EnrolmentOutcome, isTooLate: boolean): Change | undefined {
  const nothing = { approval_url: null, enrolment: null }
  switch (outcome.result) {
    case 'approved':
      return { ...nothing, status: 'succeeded', enrolment: outcome.providerReference }
    case 'redirect':
      return isTooLate
        ? { ...nothing, status: 'failed' }
        : { ...nothing, status: 'buyer_approval_required', approval_url: outcome.url }
    case 'declined':
    case 'failed':
    case 'never_arrived':
      return { ...nothing, status: 'failed' }
    // The buyer has done their part, or will: nothing to show yet.
    case 'pending':
    case 'unknown':
      return undefined
  }
}

/** Asks the provider what became of it, and writes it down. */
async function resolveEnrolment(ctx: System, enrolment: EnrolmentRow): Promise<void> {
  const accounts = [enrolment.merchant_account_id]
  const service = await findService({ ...ctx, accounts }, enrolment.payment_service_id)
  if (!service) return
  const outcome = await ask(ctx, service, (connector, signal) =>
    connector.sync({ service: service.access, reference: enrolment.id, signal }),
  )
  await settleEnrolment(ctx, enrolment, outcome)
}

/** The provider of this service has news of it; of any other there is none to have. */
export async function resolveNamedEnrolment(
  ctx: System & Pick<Context, 'accounts'>,
  { serviceId, id }: { serviceId: string; id: string },
): Promise<void> {
  const enrolment = await findEnrolment(ctx.db, ctx.accounts, id)
  if (enrolment?.is_open && enrolment.payment_service_id === serviceId) await resolveEnrolment(ctx, enrolment)
}

/** A buyer is back from the page of a provider. Returns the merchant's address, told the method and how it stands. */
export async function returnFromEnrolment(
  open: Omit<System, keyof Clock> & Pick<Context, 'clocks'>,
  id: string,
): Promise<string | undefined> {
  const enrolment = await findEnrolment(open.db, 'all', id)
  if (!enrolment) return undefined
  const ctx = actingUpon(open, enrolment.merchant_account_id)
  if (enrolment.is_open) await resolveEnrolment(ctx, enrolment)
  const method = await findPaymentMethod(ctx.db, ctx.accounts, enrolment.payment_method_id)
  return (
    method &&
    returnAddress(enrolment.redirect_url, { payment_method_id: method.id, payment_method_status: method.status })
  )
}

/** Asks about every enrolment whose time has come. */
export async function resolveDueEnrolments(
  ctx: System & Pick<Context, 'accounts'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const due = await claimDueEnrolments(ctx.db, ctx.accounts, ctx.now(), 50)
    for (const enrolment of due) {
      await resolveEnrolment(ctx, enrolment).catch((error: unknown) =>
        ctx.log.error('an enrolment could not be resolved', { resource_id: enrolment.payment_method_id, error }),
      )
    }
    if (due.length < 50) break
  }
}
