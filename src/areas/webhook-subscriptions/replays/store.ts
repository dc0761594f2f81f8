import { wholeInstance } from '../../../context.ts'
import { type PageRequest, type PageRows, readPage } from '../../../page.ts'
import type { Accounts } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { type Sql, sql } from '../../../platform/sql.ts'
import type { WebhookReplay } from './schema.ts'

/** Which events, and to whom. */
export interface ReplayTerms {
  /** Of the subscription; `*` for the whole instance. */
  merchant_account_id: string
  subscription_id: string
  from_id: string
  to_id: string
  /** Null: all. */
  event_names: string[] | null
  undelivered_only: boolean
}

export interface ReplayRow extends ReplayTerms {
  id: string
  /** Null: those of the subscription. */
  event_names: WebhookReplay['event_names']
  /** The last event that was looked at. */
  position: string | null
  deliveries: number
  finished_at: Date | null
  created_at: Date
}

const columns = sql`
  merchant_account_id, id, subscription_id, from_id, to_id, event_names, undelivered_only, position, deliveries, finished_at, created_at`

export async function insertReplay(db: Db, row: ReplayTerms & { id: string; created_at: Date }): Promise<ReplayRow> {
  const [inserted] = await db.run<ReplayRow>(sql`
    insert into webhook_replays (merchant_account_id, id, subscription_id, from_id, to_id, event_names, undelivered_only, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.subscription_id}, ${row.from_id}, ${row.to_id}, ${row.event_names},
      ${row.undelivered_only}, ${row.created_at}, ${row.created_at})
    returning ${columns}`)
  if (!inserted) throw new Error('a replay was not inserted')
  return inserted
}

interface Owner {
  merchant_account_id: string
  id: string
}
const ofSubscription = ({ merchant_account_id, id }: Owner) =>
  sql`merchant_account_id = ${merchant_account_id} and subscription_id = ${id}`

export function listReplayRows(
  db: Db,
  accounts: Accounts,
  subscription: Owner,
  page: PageRequest,
): Promise<PageRows<ReplayRow>> {
  return readPage(db, accounts, page, {
    columns,
    from: sql`webhook_replays`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and ${ofSubscription(subscription)}`,
    id: sql`id`,
  })
}

export async function findReplay(
  db: Db,
  accounts: Accounts,
  subscription: Owner,
  id: string,
): Promise<ReplayRow | undefined> {
  const [row] = await read<ReplayRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from webhook_replays
      where ${visible(sql`merchant_account_id`)} and ${ofSubscription(subscription)} and id = ${id}`,
  )
  return row
}

/** Those that have something to do, oldest first. What is not active is sent nothing, and waits. */
export function findOpenReplays(db: Db): Promise<Owner[]> {
  return read(
    db,
    'all',
    (visible) => sql`
      select merchant_account_id, id from webhook_replays
      where ${visible(sql`merchant_account_id`)} and finished_at is null
        and (merchant_account_id, subscription_id) in (select merchant_account_id, id from webhook_subscriptions where active)
      order by id`,
  )
}

/** In a transaction: nobody else goes on with it until then. Undefined when somebody does, or it is finished. */
export async function lockOpenReplay(
  db: Db,
  { merchant_account_id, id }: Owner,
): Promise<(ReplayRow & { subscribed_names: string[] | null }) | undefined> {
  const [row] = await db.run<ReplayRow & { subscribed_names: string[] | null }>(sql`
    select ${columns}, (
        select event_names from webhook_subscriptions as subscription
        where subscription.merchant_account_id = replay.merchant_account_id and subscription.id = replay.subscription_id
      ) as subscribed_names
    from (
      select ${columns} from webhook_replays
      where merchant_account_id = ${merchant_account_id} and id = ${id} and finished_at is null for update skip locked
    ) as replay`)
  return row
}

/** Deliveries that wait to be sent, counted up to a limit. */
export async function countPending(db: Db, subscriptionId: string, limit: number): Promise<number> {
  const [row] = await db.run<{ count: number }>(sql`
    select count(*) from (
      select from webhook_deliveries where subscription_id = ${subscriptionId} and status = 'pending' limit ${limit}
    ) as pending`)
  return row?.count ?? 0
}

export interface LookedAt {
  id: string
  is_wanted: boolean
}

/** The next events in the order of their ids, wanted or not: a batch is so many to look at, however rare the wanted ones are. */
export function lookAtEvents(
  db: Db,
  terms: ReplayTerms,
  { upTo, limit, position }: { upTo: string; limit: number; position: string | null },
): Promise<LookedAt[]> {
  const after = position === null ? sql`id >= ${terms.from_id}::uuid` : sql`id > ${position}::uuid`
  return db.run(sql`
    select id, ${isNamed(terms)} and ${isMissing(terms)} as is_wanted
    from (
      select id, name, resource_type from events
      where ${ofAccount(terms)} and ${after} and id <= ${upTo}::uuid
      order by id limit ${limit}
    ) as event
    order by id`)
}

/**
 * How many events would be replayed, as far as `limit` of them tell: of those with the right names where an index has names, which it has by
 * account, and of all of them otherwise.
 */
export async function countWanted(
  db: Db,
  accounts: Accounts,
  terms: ReplayTerms,
  limit: number,
): Promise<{ looked: number; wanted: number }> {
  const [row] = await read<{ looked: number; wanted: number }>(
    db,
    accounts,
    (visible) => sql`
      select count(*) as looked, count(*) filter (where ${isNamed(terms)} and ${isMissing(terms)}) as wanted
      from (
        select id, name, resource_type from events
        where ${visible(sql`merchant_account_id`)} and ${ofAccount(terms)} and id between ${terms.from_id} and ${terms.to_id}
          and ${terms.merchant_account_id === wholeInstance ? sql`true` : isNamed(terms)}
        limit ${limit}
      ) as event`,
  )
  return row ?? { looked: 0, wanted: 0 }
}

const ofAccount = ({ merchant_account_id }: ReplayTerms): Sql =>
  merchant_account_id === wholeInstance ? sql`true` : sql`merchant_account_id = ${merchant_account_id}`

/** Tests of a subscription concern nobody else, and are over. */
const isNamed = ({ event_names }: ReplayTerms): Sql => sql`
  resource_type <> 'webhook-subscription' and ${event_names === null ? sql`true` : sql`name = any(${event_names}::text[])`}`

/** Whether the subscription has to be told, if only what it has not received is asked for. */
const isMissing = ({ merchant_account_id, subscription_id, undelivered_only }: ReplayTerms): Sql =>
  undelivered_only
    ? sql`not exists (
        select from webhook_deliveries as delivery
        where delivery.merchant_account_id = ${merchant_account_id} and delivery.event_id = event.id
          and delivery.subscription_id = ${subscription_id} and delivery.status <> 'failed')`
    : sql`true`

/** In the transaction of the deliveries. */
export async function moveReplay(
  db: Db,
  { merchant_account_id, id }: Owner,
  {
    position,
    deliveries,
    finishedAt,
    now,
  }: { position: string | null; deliveries: number; finishedAt: Date | null; now: Date },
): Promise<void> {
  await db.run(sql`
    update webhook_replays
    set position = ${position}, deliveries = deliveries + ${deliveries}, finished_at = ${finishedAt}, updated_at = ${now}
    where merchant_account_id = ${merchant_account_id} and id = ${id}`)
}
