import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { orKept, type Sql, sql } from '../../../platform/sql.ts'
import type { AddressInput } from '../schema.ts'

export interface ShippingDetailsRow {
  merchant_account_id: string
  id: string
  buyer_id: string
  first_name: string | null
  last_name: string | null
  email_address: string | null
  phone_number: string | null
  address: AddressInput | null
  version: number
  created_at: Date
  updated_at: Date
}

type ShippingFields = Pick<
  ShippingDetailsRow,
  'first_name' | 'last_name' | 'email_address' | 'phone_number' | 'address'
>

/** One buyer's shipping details: those of another buyer are not found. */
export interface ShippingDetailsKey {
  buyer_id: string
  shipping_details_id: string
}

const columns = sql`
  shipping_details.merchant_account_id, shipping_details.id, buyer_id, first_name, last_name, email_address,
  phone_number, address, shipping_details.version, shipping_details.created_at, shipping_details.updated_at`

const named = (key: ShippingDetailsKey): Sql => sql`buyer_id = ${key.buyer_id} and id = ${key.shipping_details_id}`

export async function findShippingDetails(
  db: Db,
  accounts: Accounts,
  key: ShippingDetailsKey,
): Promise<ShippingDetailsRow | undefined> {
  const [row] = await read<ShippingDetailsRow>(
    db,
    accounts,
    (visible) =>
      sql`select ${columns} from shipping_details where ${visible(sql`merchant_account_id`)} and ${named(key)}`,
  )
  return row
}

/** All of a buyer, newest first; undefined when there is no such buyer within reach. */
export async function listShippingDetailsRows(
  db: Db,
  accounts: Accounts,
  buyerId: string,
): Promise<ShippingDetailsRow[] | undefined> {
  const found = await read<ShippingDetailsRow | { id: null }>(
    db,
    accounts,
    (visible) => sql`
      select ${columns}
      from buyers
        left join shipping_details
          on shipping_details.merchant_account_id = buyers.merchant_account_id and buyer_id = buyers.id
      where ${visible(sql`buyers.merchant_account_id`)} and buyers.id = ${buyerId}
      order by shipping_details.id desc`,
  )
  // A buyer without any is one row of nulls.
  return found.length === 0 ? undefined : found.filter((row) => row.id !== null)
}

/** A buyer that does not exist in this account violates `shipping_details_buyer`. */
export async function insertShippingDetails(
  db: Db,
  row: Omit<ShippingDetailsRow, 'version'>,
): Promise<ShippingDetailsRow | undefined> {
  const [inserted] = await db.run<ShippingDetailsRow>(sql`
    insert into shipping_details (merchant_account_id, id, buyer_id, first_name, last_name, email_address, phone_number,
      address, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.buyer_id}, ${row.first_name}, ${row.last_name}, ${row.email_address},
      ${row.phone_number}, ${toJson(row.address)}, ${row.created_at}, ${row.updated_at})
    returning ${columns}`)
  return inserted
}

/** Changes the fields that are named. Undefined when there are no such shipping details within reach. */
export async function updateShippingDetailsRow(
  db: Db,
  accounts: Accounts,
  key: ShippingDetailsKey,
  change: { [Name in keyof ShippingFields]?: ShippingFields[Name] | undefined },
  updatedAt: Date,
): Promise<ShippingDetailsRow | undefined> {
  const [updated] = await db.run<ShippingDetailsRow>(sql`
    update shipping_details
    set first_name = ${orKept(change.first_name, sql`first_name`)},
      last_name = ${orKept(change.last_name, sql`last_name`)},
      email_address = ${orKept(change.email_address, sql`email_address`)},
      phone_number = ${orKept(change.phone_number, sql`phone_number`)},
      address = ${orKept(toJson(change.address), sql`address`)},
      version = version + 1,
      updated_at = ${updatedAt}
    where ${within(accounts, sql`merchant_account_id`)} and ${named(key)}
    returning ${columns}`)
  return updated
}

/** The shipping details as they were; undefined when there are none within reach. */
export async function deleteShippingDetailsRow(
  db: Db,
  accounts: Accounts,
  key: ShippingDetailsKey,
): Promise<ShippingDetailsRow | undefined> {
  const [deleted] = await db.run<ShippingDetailsRow>(sql`
    delete from shipping_details where ${within(accounts, sql`merchant_account_id`)} and ${named(key)}
    returning ${columns}`)
  return deleted
}

const toJson = (value: object | null | undefined) => (value ? JSON.stringify(value) : value)
