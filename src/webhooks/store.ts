import type { SubscriptionRow } from '../areas/webhook-subscriptions/operations/endpoints.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

/*
 * Nobody can tell PostgreSQL how few rows are looked for among how many: a plain join would read a million deliveries of a dead endpoint to find one. An
 * array makes it look up each by its id, and so does a lateral part that `offset 0` keeps apart.
 */

/** What is to be sent. In transactions that see all accounts, as everything here. */
export interface Due {
  merchant_account_id: string
  id: string
  subscription_id: string
  attempts: number
  expires_at: Date
  event: EventRow
}

export interface EventRow {
  id: string
  merchant_account_id: string | null
  name: string
  target: unknown
  created_at: Date
}

/** An event of the queue and a subscription that wants to hear of it; none where nobody does. */
export interface Match extends EventRow {
  subscription_id: string | null
  owner: string | null
}

/**
 * Takes events from the queue. They are back there unless the transaction that makes their deliveries commits. Where other systems read the stream
 * of events, they go on to its queue.
 */
export function takeEvents(db: Db, { limit, forStream }: { limit: number; forStream: boolean }): Promise<Match[]> {
  return db.run(sql`
    with taken as (
        delete from event_queue
        where event_id in (select event_id from event_queue order by event_id limit ${limit} for update skip locked)
        returning event_id
      ),
      streamed as (
        insert into event_stream_queue (event_id) select event_id from taken where ${forStream}::boolean on conflict do nothing
      )
    select event.id, event.merchant_account_id, event.name, event.target, event.created_at,
      subscription.id as subscription_id, subscription.merchant_account_id as owner
    from taken
      cross join lateral (select * from events where events.id = taken.event_id offset 0) as event
      left join webhook_subscriptions as subscription
        on (subscription.merchant_account_id = event.merchant_account_id or subscription.merchant_account_id = '*')
          and subscription.active and (subscription.event_names is null or event.name = any(subscription.event_names))
    order by event.id`)
}

export interface NewDelivery {
  merchant_account_id: string
  id: string
  subscription_id: string
  event_id: string
  next_attempt_at: Date
  expires_at: Date
  created_at: Date
}

export async function insertDeliveries(db: Db, rows: readonly NewDelivery[]): Promise<void> {
  if (rows.length === 0) return
  await db.run(sql`
    insert into webhook_deliveries (merchant_account_id, id, subscription_id, event_id, origin, status, next_attempt_at, expires_at, created_at,
      updated_at)
    select merchant_account_id, id, subscription_id, event_id, 'event', 'pending', next_attempt_at, expires_at, created_at, created_at
    from json_to_recordset(${JSON.stringify(rows)}::json) as row (
      merchant_account_id text, id uuid, subscription_id uuid, event_id uuid, next_attempt_at timestamptz, expires_at timestamptz,
      created_at timestamptz
    )`)
}

/** What endpoints are to be sent, the longest due first, no more of each than it has room for. Nobody else gets it before the lease is over. */
export async function claimDue(
  db: Db,
  wanted: readonly { subscriptionId: string; room: number }[],
  { now, leaseUntil }: { now: Date; leaseUntil: Date },
): Promise<Due[]> {
  type Claimed = Omit<Due, 'event'> & { event_id: string; event: Omit<EventRow, 'created_at'> & { created_at: string } }
  const rows = await db.run<Claimed>(sql`
    with due as (
        select found.id
        from unnest(${wanted.map(({ subscriptionId }) => subscriptionId)}::uuid[], ${wanted.map(({ room }) => room)}::integer[]) as wanted (id, room),
          lateral (
            select id from webhook_deliveries
            where subscription_id = wanted.id and status = 'pending' and next_attempt_at <= ${now}::timestamptz
            order by next_attempt_at limit wanted.room for update skip locked
          ) as found
      ),
      claimed as (
        update webhook_deliveries set next_attempt_at = ${leaseUntil}::timestamptz
        where id = any(array(select id from due))
        returning merchant_account_id, id, subscription_id, event_id, attempts, expires_at
      )
    select claimed.merchant_account_id, claimed.id, subscription_id, event_id, attempts, expires_at,
      json_build_object('id', event.id, 'merchant_account_id', event.merchant_account_id, 'name', event.name, 'target', event.target,
        'created_at', event.created_at) as event
    from claimed cross join lateral (select * from events where events.id = event_id offset 0) as event
    order by claimed.id`)
  return rows.map((row) => ({ ...row, event: { ...row.event, created_at: new Date(row.event.created_at) } }))
}

/** Ends leases before their time, so that whoever has room claims the deliveries at once. Not those that somebody else has by now. */
export async function endLeases(
  db: Db,
  leases: readonly { id: string; leaseUntil: number }[],
  now: Date,
): Promise<void> {
  await db.run(sql`
    update webhook_deliveries as delivery set next_attempt_at = ${now}::timestamptz
    from unnest(${leases.map(({ id }) => id)}::uuid[], ${leases.map(({ leaseUntil }) => new Date(leaseUntil))}::timestamptz[]) as lease (id, ends_at)
    where delivery.id = any(${leases.map(({ id }) => id)}::uuid[]) and delivery.id = lease.id and delivery.status = 'pending'
      and delivery.next_attempt_at = lease.ends_at`)
}

export interface Result {
  merchant_account_id: string
  delivery_id: string
  /** Of the attempt. */
  id: string
  number: number
  status: 'pending' | 'succeeded' | 'failed'
  next_attempt_at: Date | null
  status_code: number | null
  error: string | null
  duration_ms: number
  created_at: Date
}

/**
 * What became of attempts, with what follows for their deliveries, in one statement. What has succeeded once has. May be written again by
 * somebody whose commit was not answered.
 */
export async function writeResults(db: Db, results: readonly Result[], now: Date): Promise<void> {
  await db.run(sql`
    with input as materialized (
        select * from json_to_recordset(${JSON.stringify(results)}::json) as row (
          merchant_account_id text, delivery_id uuid, id uuid, number integer, status text, next_attempt_at timestamptz, status_code integer, error text,
          duration_ms integer, created_at timestamptz
        )
      ),
      attempted as (
        insert into webhook_attempts (merchant_account_id, delivery_id, id, number, status_code, error, duration_ms, created_at)
        select merchant_account_id, delivery_id, id, number, status_code, error, duration_ms, created_at from input
        on conflict do nothing
      )
    update webhook_deliveries as delivery
    set status = input.status, attempts = greatest(attempts, input.number), next_attempt_at = input.next_attempt_at, status_code = input.status_code,
      error = input.error, updated_at = ${now}::timestamptz
    from input
    where delivery.id = any(array(select delivery_id from input)) and delivery.merchant_account_id = input.merchant_account_id and delivery.id = input.delivery_id and delivery.status <> 'succeeded'`)
}

export type EndpointRow = Pick<
  SubscriptionRow,
  | 'merchant_account_id'
  | 'id'
  | 'url'
  | 'authentication'
  | 'secret_name'
  | 'previous_secret_name'
  | 'rotating_until'
  | 'version'
>

/** All that are to be sent anything. */
export const listEndpoints = (db: Db): Promise<EndpointRow[]> =>
  db.run(sql`
    select merchant_account_id, id, url, authentication, secret_name, previous_secret_name, rotating_until, version
    from webhook_subscriptions where active`)

/** How long the oldest waits: an event for its deliveries, and a delivery that is due for its attempt. */
export async function readAges(db: Db): Promise<{ queued: string | null; overdue: Date | null }> {
  const [ages] = await db.run<{ queued: string | null; overdue: Date | null }>(sql`
    select (select event_id::text from event_queue order by event_id limit 1) as queued,
      (
        select min(oldest.next_attempt_at) from webhook_subscriptions as subscription, lateral (
          select next_attempt_at from webhook_deliveries
          where subscription_id = subscription.id and status = 'pending' and next_attempt_at <= now() order by next_attempt_at limit 1
        ) as oldest where subscription.active
      ) as overdue`)
  return ages ?? { queued: null, overdue: null }
}

/** Its owner said that it is gone. False when somebody was quicker. */
export async function deactivate(
  db: Db,
  endpoint: Pick<EndpointRow, 'merchant_account_id' | 'id'>,
  now: Date,
): Promise<boolean> {
  const changed = await db.run(sql`
    update webhook_subscriptions set active = false, version = version + 1, updated_at = ${now}
    where merchant_account_id = ${endpoint.merchant_account_id} and id = ${endpoint.id} and active
    returning id`)
  return changed.length > 0
}
