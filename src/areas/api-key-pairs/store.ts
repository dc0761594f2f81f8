import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, whollyWithin } from '../../platform/accounts.ts'
import type { KeyAlgorithm } from '../../platform/key-pair.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'

export interface KeyPairRow {
  id: string
  thumbprint: string
  display_name: string
  algorithm: KeyAlgorithm
  public_key: string
  active: boolean
  merchant_account_ids: string[]
  role_ids: string[]
  creator_id: string | null
  creator_name: string | null
  creator_email_address: string | null
  creator_thumbprint: string | null
  last_used_at: Date | null
  version: number
  created_at: Date
  updated_at: Date
}

const columns = sql`
  id, thumbprint, display_name, algorithm, public_key, active, merchant_account_ids, creator_id, creator_name,
  creator_email_address, creator_thumbprint, last_used_at, version, created_at, updated_at,
  array(select role_id from api_key_pair_roles where api_key_pair_id = api_key_pairs.id order by role_id) as role_ids`

export function listKeyPairRows(db: Db, accounts: Accounts, page: PageRequest): Promise<PageRows<KeyPairRow>> {
  return readPage(db, accounts, page, {
    columns,
    from: sql`api_key_pairs`,
    where: (visible) => visible.wholly(sql`merchant_account_ids`),
    id: sql`id`,
  })
}

export async function findKeyPair(db: Db, accounts: Accounts, id: string): Promise<KeyPairRow | undefined> {
  const [row] = await read<KeyPairRow>(
    db,
    accounts,
    (visible) =>
      sql`select ${columns} from api_key_pairs where ${visible.wholly(sql`merchant_account_ids`)} and id = ${id}`,
  )
  return row
}

export async function findKeyPairByThumbprint(
  db: Db,
  accounts: Accounts,
  thumbprint: string,
): Promise<KeyPairRow | undefined> {
  const [row] = await read<KeyPairRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from api_key_pairs where ${visible.wholly(sql`merchant_account_ids`)} and thumbprint = ${thumbprint}`,
  )
  return row
}

/** False when the public key is known already. */
export async function insertKeyPair(
  db: Db,
  row: Omit<KeyPairRow, 'role_ids' | 'last_used_at' | 'version'>,
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into api_key_pairs (id, thumbprint, display_name, algorithm, public_key, active, merchant_account_ids,
      creator_id, creator_name, creator_email_address, creator_thumbprint, created_at, updated_at)
    values (${row.id}, ${row.thumbprint}, ${row.display_name}, ${row.algorithm}, ${row.public_key}, ${row.active},
      ${row.merchant_account_ids}, ${row.creator_id}, ${row.creator_name}, ${row.creator_email_address},
      ${row.creator_thumbprint}, ${row.created_at}, ${row.updated_at})
    on conflict on constraint api_key_pairs_thumbprint_unique do nothing
    returning id`)
  return inserted.length > 0
}

export async function replaceKeyPairRoles(db: Db, id: string, roleIds: readonly string[]): Promise<void> {
  await db.run(sql`delete from api_key_pair_roles where api_key_pair_id = ${id}`)
  await db.run(sql`insert into api_key_pair_roles (api_key_pair_id, role_id) select ${id}, unnest(${roleIds}::uuid[])`)
}

/** Null leaves a value as it is. Undefined when there is no such key pair within reach. */
export async function updateKeyPairRow(
  db: Db,
  accounts: Accounts,
  id: string,
  change: {
    display_name: string | null
    active: boolean | null
    merchant_account_ids: readonly string[] | null
    updated_at: Date
  },
): Promise<{ version: number } | undefined> {
  const [row] = await db.run<{ version: number }>(sql`
    update api_key_pairs
    set display_name = coalesce(${change.display_name}, display_name),
      active = coalesce(${change.active}::boolean, active),
      merchant_account_ids = coalesce(${change.merchant_account_ids}::text[], merchant_account_ids),
      version = version + 1,
      updated_at = ${change.updated_at}
    where ${whollyWithin(accounts, sql`merchant_account_ids`)} and id = ${id}
    returning version`)
  return row
}

export async function deleteKeyPairRow(db: Db, accounts: Accounts, id: string): Promise<boolean> {
  const deleted = await db.run(sql`
    delete from api_key_pairs where ${whollyWithin(accounts, sql`merchant_account_ids`)} and id = ${id} returning id`)
  return deleted.length > 0
}

export async function touchKeyPairRows(db: Db, ids: readonly string[], now: Date): Promise<void> {
  await db.run(sql`update api_key_pairs set last_used_at = ${now} where id = any(${ids}::uuid[])`)
}
