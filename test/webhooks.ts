import { firstIdOf, laterBy, newId, timeOfId } from '../src/ids.ts'
import type { TestDatabase } from './database.ts'

/** Rows of webhooks, past the api: what the worker writes, and what takes days to come about. */

type Database = Pick<TestDatabase, 'query'>

export async function insertSubscription(
  database: Database,
  {
    account = 'default',
    active = true,
    eventNames = null,
  }: { account?: string; active?: boolean; eventNames?: readonly string[] | null } = {},
): Promise<string> {
  const id = newId()
  await database.query(
    `insert into webhook_subscriptions (merchant_account_id, id, url, active, event_names, creator_name, created_at, updated_at)
     values ($1, $2, 'https://shop.example.com/webhooks', $3, $4, 'x', $5, $5)`,
    [account, id, active, eventNames, timeOfId(id)],
  )
  return id
}

/** Events that nobody has been told of, a millisecond apart; their ids, oldest first. `account` null: of the whole instance. */
export async function insertEvents(
  database: Database,
  count: number,
  {
    account = 'default',
    name = 'buyer.created',
    from = new Date(Date.now() - 3_600_000),
  }: { account?: string | null; name?: string; from?: Date } = {},
): Promise<string[]> {
  const lateMs = Date.now() - from.getTime()
  const ids = Array.from({ length: count }, (_none, index) => laterBy(newId(), index - lateMs)).toSorted()
  await database.query(
    `insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
     select id, $3, $4, split_part($4, '.', 1), id::text, 1, '{}', moment from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
    [ids, ids.map(timeOfId), account, name],
  )
  return ids
}

export interface DeliveryFacts {
  account?: string
  id?: string
  subscriptionId: string
  eventId?: string
  status?: 'pending' | 'succeeded' | 'failed'
  /** From now. */
  nextAttemptInMs?: number
  expiresInMs?: number
}

export async function insertDelivery(database: Database, facts: DeliveryFacts): Promise<string> {
  const { account = 'default', id = newId(), status = 'pending', nextAttemptInMs = 0, expiresInMs = 86_400_000 } = facts
  const inMs = (ms: number) => new Date(Date.now() + ms)
  await database.query(
    `insert into webhook_deliveries (merchant_account_id, id, subscription_id, event_id, origin, status, next_attempt_at, expires_at,
       created_at, updated_at)
     values ($1, $2, $3, $4, 'event', $5, $6, $7, $8, $8)`,
    [
      account,
      id,
      facts.subscriptionId,
      facts.eventId ?? newId(),
      status,
      status === 'pending' ? inMs(nextAttemptInMs) : null,
      inMs(expiresInMs),
      timeOfId(id),
    ],
  )
  return id
}

export async function insertAttempt(
  database: Database,
  { account = 'default', deliveryId, number = 1 }: { account?: string; deliveryId: string; number?: number },
): Promise<string> {
  const id = newId()
  await database.query(
    `insert into webhook_attempts (merchant_account_id, delivery_id, id, number, status_code, error, duration_ms, created_at)
     values ($1, $2, $3, $4, 500, 'status', 12, $5)`,
    [account, deliveryId, id, number, timeOfId(id)],
  )
  return id
}

/** All that there is of webhooks in an account: one row of each table. */
export async function fillWebhooks(database: Database, account: string): Promise<void> {
  const subscriptionId = await insertSubscription(database, { account })
  const [eventId] = await insertEvents(database, 1, { account })
  const deliveryId = await insertDelivery(database, { account, subscriptionId, ...(eventId && { eventId }) })
  await insertAttempt(database, { account, deliveryId })
  await database.query(
    `insert into webhook_replays (merchant_account_id, id, subscription_id, from_id, to_id, undelivered_only, created_at, updated_at)
     values ($1, $2, $3, $4, $4, false, now(), now())`,
    [account, newId(), subscriptionId, firstIdOf(Date.now())],
  )
}
