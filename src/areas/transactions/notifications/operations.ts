import type { InboundMessage, Notification } from '../../../connectors/payment.ts'
import { accountOf, actingUpon, type Context } from '../../../context.ts'
import { ApiError, notFound } from '../../../errors.ts'
import { isUuid } from '../../../ids.ts'
import { transact } from '../../../platform/postgres.ts'
import { resolveNamedEnrolment } from '../../payment-methods/enrolments/operations.ts'
import { findServiceByIdAlone } from '../../payment-services/operations/routing.ts'
import { timelineEntry } from '../operations/report.ts'
import { resolveAttempt } from '../operations/resolve.ts'
import { ingestStatement } from '../statements/operations/ingest.ts'
import type { AttemptRow } from '../store/rows.ts'
import { insertTimeline } from '../store/transactions.ts'
import { deleteOldNotifications, findAttempt, insertNotification, isNotificationKnown } from './store.ts'

/**
 * A message of a provider. It is believed to say that there is news and never what the news is: the provider is asked. Its id is written down
 * after that, so that a message whose effect was lost is welcome again; should it come twice before, whoever closes the attempt decides, as always.
 */
export async function receiveNotification(open: Context, serviceId: string, message: InboundMessage): Promise<void> {
  const service = await findServiceByIdAlone(open, serviceId)
  const notification = service && (await service.connector.notification(service.access, message))
  if (!notification || !isStorable(notification.id) || !isStorable(notification.reference)) throw notFound()

  const ctx = actingUpon(open, service.access.merchantAccountId)
  const [isKnown, attempt] = await Promise.all([
    isNotificationKnown(ctx.db, ctx.accounts, { serviceId, id: notification.id }),
    findNamedAttempt(ctx, serviceId, notification),
  ])
  if (isKnown) return
  if (!attempt && isUuid(notification.reference)) {
    await resolveNamedEnrolment(ctx, { serviceId, id: notification.reference })
  }
  // What is no news has no effect to be remembered; were it, a copy that comes late could keep the one with the news from the timeline.
  if (!attempt || (notification.kind === 'operation' && attempt.state === 'done')) return
  await (notification.kind === 'report' ? onReport(ctx, attempt) : onOperation(ctx, attempt))
  await transact(ctx, async (ctx) => {
    if (!(await insertNotification(ctx.db, accountOf(ctx), { ...notification, serviceId }, ctx.now()))) return
    const { transaction_id: transactionId, id } = attempt
    const context = { payment_service_id: serviceId, attempt_id: id, kind: notification.kind }
    await insertTimeline(ctx.db, accountOf(ctx), [
      timelineEntry(ctx, transactionId, 'payment-connector-transaction-webhook-processed', context),
    ])
  })
}

/** Asks what became of the call. */
async function onOperation(ctx: Context, attempt: AttemptRow): Promise<void> {
  if (await resolveAttempt(ctx, attempt)) return
  const after = await findAttempt(ctx.db, ctx.accounts, {
    serviceId: attempt.payment_service_id ?? '',
    id: attempt.id,
  })
  // It did not say. Whoever sent the message may send it again.
  if (after?.state === 'open') throw new ApiError('gateway_timeout', { reason: 'the provider did not answer' })
}

/** There is more in the statement of a payment. */
async function onReport(ctx: Context, { transaction_id }: AttemptRow): Promise<void> {
  if (await ingestStatement(ctx, transaction_id)) return
  throw new ApiError('gateway_timeout', { reason: 'the provider did not answer' })
}

const findNamedAttempt = async (ctx: Context, serviceId: string, { reference }: Notification) =>
  isUuid(reference) ? findAttempt(ctx.db, ctx.accounts, { serviceId, id: reference }) : undefined

/** What PostgreSQL takes, and no more than a name needs. */
const isStorable = (text: string) =>
  text.length >= 1 && text.length <= 255 && !text.includes('\0') && text.isWellFormed()

/** Far longer than any provider's messages are taken for new. */
const keptMs = 24 * 60 * 60 * 1000

export async function forgetOldNotifications(
  ctx: Pick<Context, 'db' | 'accounts' | 'now'>,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(ctx.now().getTime() - keptMs)
  while (!signal.aborted && (await deleteOldNotifications(ctx.db, ctx.accounts, before, 1_000)) === 1_000);
}
