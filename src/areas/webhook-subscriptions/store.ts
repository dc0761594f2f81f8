import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'
import type { StoredAuthentication } from './rules.ts'

/** What a merchant sets. */
export interface SubscriptionSettings {
  url: string
  active: boolean
  /** Null: all. */
  event_names: readonly string[] | null
  authentication: StoredAuthentication | null
}

/** Which of the secrets in the vault sign. */
export interface SigningSecrets {
  secret_name: string | null
  previous_secret_name: string | null
  rotating_until: Date | null
}

export interface SubscriptionRow extends SubscriptionSettings, SigningSecrets {
  /** `*`: of the whole instance. */
  merchant_account_id: string
  id: string
  creator_id: string | null
  creator_name: string
  creator_thumbprint: string | null
  version: number
  created_at: Date
  updated_at: Date
}

const columns = sql`
  merchant_account_id, id, url, active, event_names, authentication, secret_name, previous_secret_name, rotating_until,
  creator_id, creator_name, creator_thumbprint, version, created_at, updated_at`

export async function findSubscription(db: Db, accounts: Accounts, id: string): Promise<SubscriptionRow | undefined> {
  const [row] = await read<SubscriptionRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from webhook_subscriptions where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

export function listSubscriptions(db: Db, accounts: Accounts, page: PageRequest): Promise<PageRows<SubscriptionRow>> {
  return readPage(db, accounts, page, {
    columns,
    from: sql`webhook_subscriptions`,
    where: (visible) => visible(sql`merchant_account_id`),
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

export async function insertSubscription(
  db: Db,
  row: Omit<SubscriptionRow, 'version' | 'updated_at' | 'previous_secret_name' | 'rotating_until'>,
): Promise<SubscriptionRow> {
  const [inserted] = await db.run<SubscriptionRow>(sql`
    insert into webhook_subscriptions (merchant_account_id, id, url, active, event_names, authentication, secret_name,
      creator_id, creator_name, creator_thumbprint, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.url}, ${row.active}, ${row.event_names}::text[],
      ${row.authentication && JSON.stringify(row.authentication)}::jsonb, ${row.secret_name}, ${row.creator_id},
      ${row.creator_name}, ${row.creator_thumbprint}, ${row.created_at}, ${row.created_at})
    returning ${columns}`)
  if (!inserted) throw new Error('a webhook subscription was not inserted')
  return inserted
}

/** Undefined when it is not there within reach, or not any more as it was read. */
export async function updateSubscription(
  db: Db,
  accounts: Accounts,
  { id, version }: Pick<SubscriptionRow, 'id' | 'version'>,
  change: SubscriptionSettings & SigningSecrets,
  now: Date,
): Promise<SubscriptionRow | undefined> {
  const [updated] = await db.run<SubscriptionRow>(sql`
    update webhook_subscriptions
    set url = ${change.url}, active = ${change.active}, event_names = ${change.event_names}::text[],
      authentication = ${change.authentication && JSON.stringify(change.authentication)}::jsonb,
      secret_name = ${change.secret_name}, previous_secret_name = ${change.previous_secret_name},
      rotating_until = ${change.rotating_until}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and version = ${version}
    returning ${columns}`)
  return updated
}

export async function deleteSubscription(db: Db, accounts: Accounts, id: string): Promise<SubscriptionRow | undefined> {
  const [deleted] = await db.run<SubscriptionRow>(sql`
    delete from webhook_subscriptions where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return deleted
}
