import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { orKept, sql } from '../../platform/sql.ts'

export interface AntiFraudServiceRow {
  merchant_account_id: string
  id: string
  definition_id: string
  display_name: string
  active: boolean
  reviews_enabled: boolean
  created_at: Date
  updated_at: Date
}

const columns = sql`
  merchant_account_id, id, definition_id, display_name, active, reviews_enabled, created_at, updated_at`

export async function findAntiFraudService(
  db: Db,
  accounts: Accounts,
  id: string,
): Promise<AntiFraudServiceRow | undefined> {
  const [row] = await read<AntiFraudServiceRow>(
    db,
    accounts,
    (visible) =>
      sql`select ${columns} from anti_fraud_services where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

export function listAntiFraudServiceRows(
  db: Db,
  accounts: Accounts,
  page: PageRequest,
): Promise<PageRows<AntiFraudServiceRow>> {
  return readPage(db, accounts, page, {
    columns,
    from: sql`anti_fraud_services`,
    where: (visible) => visible(sql`merchant_account_id`),
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

/** A second active one violates `anti_fraud_services_one_active`. */
export async function insertAntiFraudService(
  db: Db,
  row: Omit<AntiFraudServiceRow, 'updated_at'>,
): Promise<AntiFraudServiceRow | undefined> {
  const [inserted] = await db.run<AntiFraudServiceRow>(sql`
    insert into anti_fraud_services (merchant_account_id, id, definition_id, display_name, active, reviews_enabled, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.definition_id}, ${row.display_name}, ${row.active}, ${row.reviews_enabled},
      ${row.created_at}, ${row.created_at})
    returning ${columns}`)
  return inserted
}

/** Changes what is named. A second active one violates `anti_fraud_services_one_active`. */
export async function updateAntiFraudServiceRow(
  db: Db,
  accounts: Accounts,
  id: string,
  change: {
    display_name?: string | undefined
    active?: boolean | undefined
    reviews_enabled?: boolean | undefined
  },
  now: Date,
): Promise<AntiFraudServiceRow | undefined> {
  const [updated] = await db.run<AntiFraudServiceRow>(sql`
    update anti_fraud_services
    set display_name = ${orKept(change.display_name, sql`display_name`)}, active = ${orKept(change.active, sql`active`)},
      reviews_enabled = ${orKept(change.reviews_enabled, sql`reviews_enabled`)}, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return updated
}

export async function deleteAntiFraudServiceRow(
  db: Db,
  accounts: Accounts,
  id: string,
): Promise<AntiFraudServiceRow | undefined> {
  const [deleted] = await db.run<AntiFraudServiceRow>(sql`
    delete from anti_fraud_services where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return deleted
}
