import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'

/** What a merchant sets. */
export interface GiftCardServiceSettings {
  display_name: string
  active: boolean
  fields: Readonly<Record<string, string>>
  /** As the vault calls them. */
  secret_names: readonly string[]
}

export interface GiftCardServiceRow extends GiftCardServiceSettings {
  merchant_account_id: string
  id: string
  definition_id: string
  version: number
  created_at: Date
  updated_at: Date
}

const columns = sql`
  merchant_account_id, id, definition_id, display_name, active, fields, secret_names, version, created_at, updated_at`

export async function findService(
  db: Db,
  accounts: Accounts,
  id: string,
  { deletedToo = false }: { deletedToo?: boolean } = {},
): Promise<GiftCardServiceRow | undefined> {
  const [row] = await read<GiftCardServiceRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from gift_card_services
      where ${visible(sql`merchant_account_id`)} and id = ${id} and ${deletedToo ? sql`true` : sql`deleted_at is null`}`,
  )
  return row
}

/** What became of them does not matter: what they are called is shown with their cards. */
export function findServices(db: Db, accounts: Accounts, ids: readonly string[]): Promise<GiftCardServiceRow[]> {
  return read(
    db,
    accounts,
    (visible) =>
      sql`select ${columns} from gift_card_services where ${visible(sql`merchant_account_id`)} and id = any(${ids}::uuid[])`,
  )
}

export async function findActiveService(db: Db, account: string): Promise<GiftCardServiceRow | undefined> {
  const [row] = await read<GiftCardServiceRow>(
    db,
    [account],
    (visible) => sql`
      select ${columns} from gift_card_services
      where ${visible(sql`merchant_account_id`)} and merchant_account_id = ${account} and active and deleted_at is null`,
  )
  return row
}

export function listServices(db: Db, accounts: Accounts, page: PageRequest): Promise<PageRows<GiftCardServiceRow>> {
  return readPage(db, accounts, page, {
    columns,
    from: sql`gift_card_services`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and deleted_at is null`,
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

/** A second active one violates `gift_card_services_one_active`. */
export async function insertService(
  db: Db,
  row: Omit<GiftCardServiceRow, 'version' | 'updated_at'>,
): Promise<GiftCardServiceRow> {
  const [inserted] = await db.run<GiftCardServiceRow>(sql`
    insert into gift_card_services (merchant_account_id, id, definition_id, display_name, active, fields, secret_names, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.definition_id}, ${row.display_name}, ${row.active}, ${JSON.stringify(row.fields)},
      ${row.secret_names}, ${row.created_at}, ${row.created_at})
    returning ${columns}`)
  if (!inserted) throw new Error('a gift card service was not inserted')
  return inserted
}

/** Undefined when it is not there within reach, or not any more as it was read. A second active one violates `gift_card_services_one_active`. */
export async function updateService(
  db: Db,
  accounts: Accounts,
  { id, version }: { id: string; version: number },
  settings: GiftCardServiceSettings,
  now: Date,
): Promise<GiftCardServiceRow | undefined> {
  const [updated] = await db.run<GiftCardServiceRow>(sql`
    update gift_card_services
    set display_name = ${settings.display_name}, active = ${settings.active}, fields = ${JSON.stringify(settings.fields)},
      secret_names = ${settings.secret_names}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and version = ${version} and deleted_at is null
    returning ${columns}`)
  return updated
}

/** Marks it; undefined when there is none within reach, or it is deleted already. */
export async function markDeleted(
  db: Db,
  accounts: Accounts,
  id: string,
  now: Date,
): Promise<GiftCardServiceRow | undefined> {
  const [deleted] = await db.run<GiftCardServiceRow>(sql`
    update gift_card_services set deleted_at = ${now}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and deleted_at is null
    returning ${columns}`)
  return deleted
}
