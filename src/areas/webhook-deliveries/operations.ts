import { realTime } from '../../clocks.ts'
import { accountOrNull, type Context, onBehalfOf, withInstance } from '../../context.ts'
import { ApiError, notFound } from '../../errors.ts'
import { newId, timeOfId } from '../../ids.ts'
import { type PageRequest, toCollection } from '../../page.ts'
import { type Db, transact } from '../../platform/postgres.ts'
import type { Collection } from '../../schema.ts'
import { audit } from '../audit-logs/operations.ts'
import { type DeliveryOrigin, expiryFrom, leaseEndsBy, statusesWanted, surelyExpired } from './rules.ts'
import type { ListWebhookDeliveriesQuery, WebhookAttempt, WebhookDelivery, WebhookDeliveryDetails } from './schema.ts'
import {
  type AttemptRow,
  type DeliveryRow,
  failExpired,
  findDelivery,
  findSubscriptionState,
  insertDeliveries,
  listAttempts,
  listDeliveryRows,
  makeDue,
  type SubscriptionState,
} from './store.ts'

export { expiryFrom }

const mostAttempts = 100

export async function listWebhookDeliveries(
  ctx: Context,
  query: ListWebhookDeliveriesQuery,
  page: PageRequest,
): Promise<Collection<WebhookDelivery>> {
  const filter = { subscriptionId: query.subscription_id, eventId: query.event_id, statuses: statusesWanted(query) }
  return toCollection(page, await listDeliveryRows(ctx.db, ctx.accounts, filter, page), ({ id }) => id, present)
}

export async function getWebhookDelivery(ctx: Context, id: string): Promise<WebhookDeliveryDetails> {
  const { db, accounts } = await onBehalfOfOwner(ctx, id)
  const row = found(await findDelivery(db, accounts, id))
  const attempts = await listAttempts(db, accounts, row, mostAttempts)
  return { ...present(row), attempts: attempts.map(presentAttempt) }
}

/** Has it sent at once, whatever became of it. */
export async function retryWebhookDelivery(ctx: Context, id: string): Promise<WebhookDelivery> {
  return await transact(await onBehalfOfOwner(ctx, id), async (ctx) => {
    const { subscription_id: subscriptionId } = found(await findDelivery(ctx.db, ctx.accounts, id))
    const subscription = await findSubscriptionState(ctx.db, ctx.accounts, subscriptionId)
    if (!subscription?.active) throw notSending('delivery_id', subscription)
    const now = realTime.now()
    const due = { now, leaseEnd: leaseEndsBy(now), expiresAt: expiryFrom(now) }
    const delivery = present(found(await makeDue(ctx.db, ctx.accounts, id, due)))
    await auditDelivery(ctx, 'updated', delivery)
    return delivery
  })
}

/** Whoever does not reach the whole instance has none of its deliveries. */
async function onBehalfOfOwner(ctx: Context, id: string): Promise<Context> {
  if (ctx.caller.reach !== 'all') return ctx
  const { merchant_account_id: owner } = found(await findDelivery(ctx.db, withInstance(ctx).accounts, id))
  return onBehalfOf(ctx, owner)
}

/** The subscription, if it is there and is sent anything at all. */
export async function requireActiveSubscription(
  ctx: Pick<Context, 'db' | 'accounts' | 'caller'>,
  id: string,
): Promise<SubscriptionState> {
  const subscription = await findSubscription(ctx, id)
  if (!subscription.active) throw notSending('subscription_id', subscription)
  return subscription
}

export async function findSubscription(
  ctx: Pick<Context, 'db' | 'accounts' | 'caller'>,
  id: string,
): Promise<SubscriptionState> {
  const subscription = await findSubscriptionState(ctx.db, withInstance(ctx).accounts, id)
  if (!subscription) throw notFound()
  return subscription
}

function notSending(pointer: string, subscription: SubscriptionState | undefined): ApiError {
  const message = subscription
    ? 'The webhook subscription is not active; set `active` to true first'
    : 'The webhook subscription was deleted; replay the event to another one'
  return new ApiError('bad_request', {
    message,
    details: [{ location: 'path', pointer, message, type: 'value_error.conflict' }],
  })
}

/** Deliveries of events of the past to a subscription, in the transaction of whoever asks for them. */
export async function addDeliveries(
  db: Db,
  { merchant_account_id, id: subscription_id }: Pick<SubscriptionState, 'merchant_account_id' | 'id'>,
  { origin, eventIds }: { origin: DeliveryOrigin; eventIds: readonly string[] },
): Promise<WebhookDelivery[]> {
  const expires_at = expiryFrom(realTime.now())
  const rows = eventIds.map((event_id) => {
    const id = newId()
    return { merchant_account_id, id, subscription_id, event_id, origin, expires_at, created_at: timeOfId(id) }
  })
  return (await insertDeliveries(db, rows)).map(present)
}

export async function auditDelivery(
  ctx: Pick<Context, 'db' | 'caller' | 'operation' | 'requestId'>,
  what: 'created' | 'updated',
  delivery: WebhookDelivery,
): Promise<void> {
  await audit(ctx, what, {
    type: delivery.type,
    id: delivery.id,
    name: delivery.event_name ?? delivery.event_id,
    merchantAccountId: delivery.merchant_account_id,
  })
}

/** Few enough that whoever sends does not wait for their locks. */
const batchSize = 1_000

/** Deliveries whose time is over have failed. Nobody sends those of an endpoint that was gone all along. */
export async function expireDeliveries({ db, now }: Pick<Context, 'db' | 'now'>, signal: AbortSignal): Promise<number> {
  let count = 0
  while (!signal.aborted) {
    const failed = await failExpired(db, surelyExpired(now()), batchSize)
    count += failed
    if (failed < batchSize) break
  }
  return count
}

function found(row: DeliveryRow | undefined): DeliveryRow {
  if (!row) throw notFound()
  return row
}

const present = (row: DeliveryRow): WebhookDelivery => ({
  type: 'webhook-delivery',
  id: row.id,
  merchant_account_id: accountOrNull(row.merchant_account_id),
  subscription_id: row.subscription_id,
  event_id: row.event_id,
  event_name: row.event_name,
  origin: row.origin,
  status: row.status,
  attempt_count: row.attempts,
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  status_code: row.status_code,
  error: row.error,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

const presentAttempt = (row: AttemptRow): WebhookAttempt => ({
  type: 'webhook-attempt',
  id: row.id,
  number: row.number,
  status_code: row.status_code,
  error: row.error,
  duration_ms: row.duration_ms,
  created_at: row.created_at.toISOString(),
})
