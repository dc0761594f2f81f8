import { accountOf, type Context } from '../../../context.ts'
import { ApiError, ValidationFailure } from '../../../errors.ts'
import { gathering } from '../../../gathering.ts'
import { newId, timeOfId } from '../../../ids.ts'
import { emit } from '../../../events/outbox.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { transact } from '../../../platform/postgres.ts'
import { Rendered } from '../../../rendered.ts'
import { type AuditEntry, auditEntry, auditing } from '../../audit-logs/operations.ts'
import { findBuyerByReference } from '../../buyers/operations.ts'
import { forgetNumber } from '../../payment-methods/operations/change.ts'
import { beginStoring, insertStoring, type Storing } from '../../payment-methods/operations/store-with-payment.ts'
import { replaceDeclined } from '../../payment-methods/operations/replace.ts'
import { findUsableServices } from '../../payment-services/operations/routing.ts'
import { nextCheckMs } from '../rules.ts'
import type { NewTransaction } from '../schema/create.ts'
import { type Intention, type NewKey, recordPayments } from '../store/record.ts'
import { findKey, type KeyRow, storeAnswer } from '../store/keys.ts'
import { findTransaction, insertTimeline } from '../store/transactions.ts'
import { authorize } from './authorize.ts'
import { auditedAs } from './capture.ts'
import { ofBuyer, payer } from './buyer.ts'
import { findAnswer, newKey, repeatAnswer } from './idempotency.ts'
import { instrumentOf, instrumentProblems } from './instrument.ts'
import { newRow, requestProblems } from './new-row.ts'
import { finishKey } from './resolve.ts'
import { renderTransaction } from './render.ts'
import { timelineEntry, transactionTarget } from './report.ts'

interface Recording {
  intention: Intention
  entry: AuditEntry
}

/** Payments that arrive together are written down together. False when the key is taken. */
const record = gathering<Recording, boolean>(
  async (db, accounts, recordings) => {
    const recorded = await recordPayments(
      db,
      accounts,
      recordings.map(({ intention }) => intention),
      auditing(recordings.map(({ entry }) => entry)),
    )
    return recordings.map(({ intention }) => recorded.has(intention.transaction.id))
  },
  { keyOf: ({ intention: { key, transaction } }) => key?.key ?? transaction.id },
)

/** Charges a card, or reserves the money on it. */
export async function createTransaction(
  ctx: Context,
  input: NewTransaction,
  idempotencyKey: string | undefined,
): Promise<Rendered> {
  const merchantAccountId = accountOf(ctx)
  const serviceId = input.payment_service_id ?? undefined
  const [services, named, instrument] = await Promise.all([
    findUsableServices(ctx, { method: 'card', currency: input.currency, country: input.country ?? null, serviceId }),
    payer(ctx, input),
    instrumentOf(ctx, input),
  ])
  // A stored card that somebody owns is paid with by its owner.
  const owner =
    named.snapshot || !instrument.buyerId ? undefined : await findBuyerByReference(ctx, { id: instrument.buyerId })
  const buyer = owner ? { ...ofBuyer(owner), problems: named.problems } : named
  const problems = [
    ...requestProblems(input, { isServiceKnown: serviceId === undefined || services.length > 0 }),
    ...buyer.problems,
    ...instrumentProblems(input, instrument, buyer.stored),
  ]

  const finish = (row: KeyRow) => finishKey(ctx, row, { operation: ctx.operation, key: idempotencyKey ?? '' }, 201)
  const key =
    idempotencyKey === undefined ? null : newKey(ctx, idempotencyKey, fingerprinted(input, instrument.fingerprint))
  const answered = key && (await findAnswer(ctx, key, finish))
  // Before the problems: what was done may have made the same request impossible.
  if (answered) return answered
  if (problems.length > 0) throw new ValidationFailure(problems.map((problem) => ({ location: 'body', ...problem })))
  await failpoint('create: checked')

  const card = input.payment_method.method === 'card' ? input.payment_method : undefined
  const [service] = services
  const storing = input.store && card && service ? await beginStoring(ctx, card, buyer.stored?.id ?? null) : undefined
  const id = newId()
  const row = newRow(ctx, { id, input, buyer, instrument, service, methodId: storing?.id ?? instrument.id })
  const attempt = service && {
    id: newId(),
    subject_id: input.intent === 'capture' ? newId() : null,
    payment_service_id: service.id,
    next_check_at: new Date(timeOfId(id).getTime() + nextCheckMs(0)),
  }
  await failpoint('create: intent not yet recorded')
  const recording = {
    intention: { transaction: row, attempt: attempt ?? null, key, usedMethodId: storing?.id ?? instrument.id },
    entry: auditEntry(ctx, 'created', auditedAs(row)),
  }
  const isRecorded = await (storing
    ? recordStoring(ctx, recording, storing)
    : attempt
      ? record(ctx.db, ctx.accounts, recording)
      : recordFailed(ctx, recording))
  if (!isRecorded && key) return repeatAnswer(ctx, key, finish)

  if (!attempt) return new Rendered(renderTransaction(row))
  const decided = await authorize(ctx, {
    row,
    attempt,
    services,
    request: {
      amount: input.amount,
      currency: input.currency,
      country: input.country ?? null,
      intent: row.intent,
      asyncCapture: input.async_capture ?? false,
      card: instrument.card,
      buyer: { emailAddress: buyer.emailAddress, postalCode: buyer.postalCode },
      paymentSource: row.payment_source,
      merchantInitiated: row.merchant_initiated,
      isSubsequentPayment: row.is_subsequent_payment,
      previousSchemeTransactionId: input.previous_scheme_transaction_id ?? instrument.schemeTransactionId,
      statementDescriptor: input.statement_descriptor ?? null,
    },
    options: input.connection_options ?? {},
    storedMethodId: storing?.id ?? null,
    key,
  })
  if (!decided) return new Rendered(renderTransaction((await findTransaction(ctx.db, ctx.accounts, id)) ?? row))
  if (instrument.id) await replaceDeclined(ctx, merchantAccountId, instrument.id, decided.row.error_code)
  await failpoint('create: not yet answered')
  return new Rendered(renderTransaction(decided.row))
}

class KeyTaken extends Error {}

/** With the card that is kept should it succeed: both are written down, or neither. */
async function recordStoring(ctx: Context, recording: Recording, storing: Storing): Promise<boolean> {
  try {
    return await transact(ctx, async (ctx) => {
      await insertStoring(ctx, storing)
      if (!(await record(ctx.db, ctx.accounts, recording))) throw new KeyTaken()
      await failpoint('create: intent not yet committed')
      return true
    })
  } catch (error) {
    // Not of a commit that nobody knows the end of: what it needs must not go, and what it does not need is swept.
    if (!(error instanceof KeyTaken || error instanceof ApiError)) throw error
    await forgetNumber(ctx, storing.merchant_account_id, storing.id)
    if (error instanceof KeyTaken || (await isKeyHeld(ctx, recording.intention.key))) return false
    throw error
  }
}

/** The card that is there already may be the one of the first request with this key. */
async function isKeyHeld(ctx: Context, key: NewKey | null): Promise<boolean> {
  const row = key && (await findKey(ctx.db, ctx.accounts, key))
  return !!row && row.created_at >= key.forgotten_before
}

/** Nobody takes this payment: it is over before it began. */
async function recordFailed(ctx: Context, recording: Recording): Promise<boolean> {
  const { transaction: row, key } = recording.intention
  return await transact(ctx, async (ctx) => {
    if (!(await record(ctx.db, ctx.accounts, recording))) return false
    await insertTimeline(ctx.db, row.merchant_account_id, [
      timelineEntry(row.id, 'transaction-updated-status', { to: row.status, error_code: row.error_code }),
    ])
    await emit(ctx, 'transaction.failed', {
      target: transactionTarget(row),
      merchantAccountId: row.merchant_account_id,
      sequence: row.version,
    })
    if (key) await storeAnswer(ctx.db, ctx.accounts, key, { status: 201, body: renderTransaction(row) })
    return true
  })
}

/** The request without what must not be kept: the number by its fingerprint, which has a key, and no security code. */
function fingerprinted(input: NewTransaction, fingerprint: string | null): unknown {
  const { payment_method: method, ...rest } = input
  const { security_code: _code, ...kept } = method
  return { ...rest, payment_method: 'number' in kept ? { ...kept, number: fingerprint } : kept }
}
