import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read, writeAtOnce } from '../../platform/postgres.ts'
import { all, sql } from '../../platform/sql.ts'
import type { DeliveryOrigin, DeliveryStatus } from './rules.ts'

export interface DeliveryRow {
  merchant_account_id: string
  id: string
  subscription_id: string
  event_id: string
  /** Null when the event is no longer kept. */
  event_name: string | null
  origin: DeliveryOrigin
  status: DeliveryStatus
  attempts: number
  next_attempt_at: Date | null
  status_code: number | null
  error: string | null
  created_at: Date
  updated_at: Date
}

export interface AttemptRow {
  id: string
  number: number
  status_code: number | null
  error: string | null
  duration_ms: number
  created_at: Date
}

const columns = sql`
  merchant_account_id, id, subscription_id, event_id,
  (select name from events where events.id = webhook_deliveries.event_id) as event_name, origin, status, attempts, next_attempt_at,
  status_code, error, created_at, updated_at`

export interface DeliveryFilter {
  subscriptionId?: string | undefined
  eventId?: string | undefined
  statuses?: readonly DeliveryStatus[] | undefined
}

export function listDeliveryRows(
  db: Db,
  accounts: Accounts,
  { subscriptionId, eventId, statuses }: DeliveryFilter,
  page: PageRequest,
): Promise<PageRows<DeliveryRow>> {
  const conditions = [
    ...(subscriptionId === undefined ? [] : [sql`subscription_id = ${subscriptionId}`]),
    ...(eventId === undefined ? [] : [sql`event_id = ${eventId}`]),
    ...(statuses === undefined ? [] : [sql`status = any(${statuses}::text[])`]),
    // Said again for the index that has only these.
    ...(statuses && !statuses.includes('succeeded') ? [sql`status <> 'succeeded'`] : []),
  ]
  return readPage(db, accounts, page, {
    columns,
    from: sql`webhook_deliveries`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and ${all(conditions)}`,
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

export async function findDelivery(db: Db, accounts: Accounts, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await read<DeliveryRow>(
    db,
    accounts,
    (visible) =>
      sql`select ${columns} from webhook_deliveries where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

/** Newest first. */
export function listAttempts(
  db: Db,
  accounts: Accounts,
  delivery: Pick<DeliveryRow, 'merchant_account_id' | 'id'>,
  limit: number,
): Promise<AttemptRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select id, number, status_code, error, duration_ms, created_at from webhook_attempts
      where ${visible(sql`merchant_account_id`)} and merchant_account_id = ${delivery.merchant_account_id}
        and delivery_id = ${delivery.id}
      order by id desc limit ${limit}`,
  )
}

export interface SubscriptionState {
  merchant_account_id: string
  id: string
  active: boolean
  /** Null: all. */
  event_names: string[] | null
}

export async function findSubscriptionState(
  db: Db,
  accounts: Accounts,
  id: string,
): Promise<SubscriptionState | undefined> {
  const [row] = await read<SubscriptionState>(
    db,
    accounts,
    (visible) => sql`
      select merchant_account_id, id, active, event_names from webhook_subscriptions
      where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

/** What is due before `leaseEnd` is left alone: it may be on its way, and would be sent twice. */
export async function makeDue(
  db: Db,
  accounts: Accounts,
  id: string,
  { now, leaseEnd, expiresAt }: { now: Date; leaseEnd: Date; expiresAt: Date },
): Promise<DeliveryRow | undefined> {
  const [row] = await db.run<DeliveryRow>(sql`
    update webhook_deliveries
    set status = 'pending', updated_at = ${now},
      next_attempt_at = case when status = 'pending' and next_attempt_at <= ${leaseEnd} then next_attempt_at else ${now}::timestamptz end,
      expires_at = case when status = 'pending' then expires_at else ${expiresAt}::timestamptz end
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return row
}

export interface NewDelivery {
  merchant_account_id: string
  id: string
  subscription_id: string
  event_id: string
  origin: DeliveryOrigin
  expires_at: Date
  created_at: Date
}

/** Due at once. */
export function insertDeliveries(db: Db, rows: readonly NewDelivery[]): Promise<DeliveryRow[]> {
  return db.run(sql`
    insert into webhook_deliveries (merchant_account_id, id, subscription_id, event_id, origin, status, next_attempt_at, expires_at,
      created_at, updated_at)
    select merchant_account_id, id, subscription_id, event_id, origin, 'pending', created_at, expires_at, created_at, created_at
    from json_to_recordset(${JSON.stringify(rows)}::json) as row (
      merchant_account_id text, id uuid, subscription_id uuid, event_id uuid, origin text, expires_at timestamptz, created_at timestamptz
    )
    returning ${columns}`)
}

/** Ends the oldest of those whose time was over before. Returns how many. */
export async function failExpired(db: Db, expiredBefore: Date, limit: number): Promise<number> {
  const failed = await writeAtOnce(
    db,
    'all',
    sql`
      update webhook_deliveries
      set status = 'failed', next_attempt_at = null, error = coalesce(error, 'expired'), updated_at = now()
      where (merchant_account_id, id) in (
        select merchant_account_id, id from webhook_deliveries
        where status = 'pending' and expires_at < ${expiredBefore.toISOString()}::timestamptz
        order by expires_at limit ${limit} for update skip locked)
      returning id`,
  )
  return failed.length
}
