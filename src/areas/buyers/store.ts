import { type PageRequest, type PageRows, pageClauses, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { orKept, sql } from '../../platform/sql.ts'
import { mostMatches, searchKey } from './rules.ts'
import type { BillingDetailsInput } from './schema.ts'

export interface BuyerRow {
  merchant_account_id: string
  id: string
  display_name: string | null
  external_identifier: string | null
  account_number: string | null
  billing_details: BillingDetailsInput | null
  version: number
  created_at: Date
  updated_at: Date
}

type BuyerFields = Pick<BuyerRow, 'display_name' | 'external_identifier' | 'account_number' | 'billing_details'>

const columns = sql`
  merchant_account_id, id, display_name, external_identifier, account_number, billing_details, version, created_at,
  updated_at`

export async function findBuyer(db: Db, accounts: Accounts, id: string): Promise<BuyerRow | undefined> {
  const [row] = await read<BuyerRow>(
    db,
    accounts,
    (visible) => sql`select ${columns} from buyers where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

/** Of one account there is at most one; of several, each may have its own. */
export function findBuyersByExternalIdentifier(
  db: Db,
  accounts: Accounts,
  externalIdentifier: string,
): Promise<BuyerRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from buyers
      where ${visible(sql`merchant_account_id`)} and external_identifier = ${externalIdentifier}`,
  )
}

export function findBuyers(db: Db, accounts: Accounts, ids: readonly string[]): Promise<BuyerRow[]> {
  return read(
    db,
    accounts,
    (visible) =>
      sql`select ${columns} from buyers where ${visible(sql`merchant_account_id`)} and id = any(${ids}::uuid[])`,
  )
}

/** In a transaction. */
export async function lockBuyerRow(db: Db, accounts: Accounts, id: string): Promise<boolean> {
  const rows = await db.run(sql`
    select from buyers where ${within(accounts, sql`merchant_account_id`)} and id = ${id} for no key update`)
  return rows.length > 0
}

export function listBuyerRows(
  db: Db,
  accounts: Accounts,
  externalIdentifier: string | undefined,
  page: PageRequest,
): Promise<PageRows<BuyerRow>> {
  const matches = externalIdentifier === undefined ? sql`true` : sql`external_identifier = ${externalIdentifier}`
  return readPage(db, accounts, page, {
    columns,
    from: sql`buyers`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and ${matches}`,
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

/**
 * A page of those whose name or identifier begins with a text; undefined when too many do. The matches come from the two
 * indexes alone and are limited before they are put in order: what a search may cost does not depend on what is in the table.
 */
export async function searchBuyerRows(
  db: Db,
  accounts: Accounts,
  search: string,
  externalIdentifier: string | undefined,
  page: PageRequest,
): Promise<PageRows<BuyerRow> | undefined> {
  const key = searchKey(search)
  const clauses = pageClauses(page, sql`id`)
  const also = externalIdentifier === undefined ? sql`true` : sql`external_identifier = ${externalIdentifier}`
  const found = await read<BuyerRow & { page_id: string | null; count: number; has_behind: boolean }>(
    db,
    accounts,
    (visible) => {
      const within = sql`${visible(sql`merchant_account_id`)} and ${also}`
      const limit = sql`limit ${mostMatches + 1}`
      return sql`
        with matches as materialized (
          (select id from buyers where ${within} and display_name_key ^@ ${key} ${limit})
          union
          (select id from buyers where ${within} and external_identifier_key ^@ ${key} ${limit})
        )
        select counted.count, counted.has_behind, item.*
        from (select count(*), coalesce(bool_or(${clauses.behind}), false) as has_behind from matches) as counted
          left join lateral (
            select id as page_id, ${columns} from buyers
            where ${visible(sql`merchant_account_id`)}
              and id in (select id from matches where ${clauses.ahead} ${clauses.order} ${clauses.limit})
            ${clauses.order}
          ) as item on counted.count <= ${mostMatches}`
    },
  )
  const { count = 0, has_behind: hasBehind = false } = found[0] ?? {}
  return count > mostMatches ? undefined : { rows: found.filter((row) => row.page_id !== null), hasBehind }
}

/** Undefined when the external identifier is taken. */
export async function insertBuyer(db: Db, row: Omit<BuyerRow, 'version'>): Promise<BuyerRow | undefined> {
  const keys = searchKeys(row)
  const [inserted] = await db.run<BuyerRow>(sql`
    insert into buyers (merchant_account_id, id, display_name, external_identifier, account_number, billing_details,
      display_name_key, external_identifier_key, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.display_name}, ${row.external_identifier}, ${row.account_number},
      ${toJson(row.billing_details)}, ${keys.display_name}, ${keys.external_identifier}, ${row.created_at}, ${row.updated_at})
    on conflict on constraint buyers_external_identifier_unique do nothing
    returning ${columns}`)
  return inserted
}

/**
 * Changes the fields that are named. Undefined when there is no such buyer within reach; an external identifier that is taken
 * violates `buyers_external_identifier_unique`.
 */
export async function updateBuyerRow(
  db: Db,
  accounts: Accounts,
  id: string,
  change: { [Name in keyof BuyerFields]?: BuyerFields[Name] | undefined },
  updatedAt: Date,
): Promise<BuyerRow | undefined> {
  const keys = searchKeys(change)
  const [updated] = await db.run<BuyerRow>(sql`
    update buyers
    set display_name = ${orKept(change.display_name, sql`display_name`)},
      external_identifier = ${orKept(change.external_identifier, sql`external_identifier`)},
      account_number = ${orKept(change.account_number, sql`account_number`)},
      billing_details = ${orKept(toJson(change.billing_details), sql`billing_details`)},
      display_name_key = ${orKept(keys.display_name, sql`display_name_key`)},
      external_identifier_key = ${orKept(keys.external_identifier, sql`external_identifier_key`)},
      version = version + 1,
      updated_at = ${updatedAt}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return updated
}

/** The buyer as it was; undefined when there is none within reach. */
export async function deleteBuyerRow(db: Db, accounts: Accounts, id: string): Promise<BuyerRow | undefined> {
  const [deleted] = await db.run<BuyerRow>(sql`
    delete from buyers where ${within(accounts, sql`merchant_account_id`)} and id = ${id} returning ${columns}`)
  return deleted
}

const toJson = (value: object | null | undefined) => (value ? JSON.stringify(value) : value)

function searchKeys(row: {
  display_name?: string | null | undefined
  external_identifier?: string | null | undefined
}) {
  const key = (text: string | null | undefined) => (typeof text === 'string' ? searchKey(text) : text)
  return { display_name: key(row.display_name), external_identifier: key(row.external_identifier) }
}
