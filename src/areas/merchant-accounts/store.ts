import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'
import type { AccountSettings, TokenScheme } from './rules.ts'

export interface MerchantAccountRow extends Omit<AccountSettings, 'requestors'> {
  id: string
  list_id: string
  requestors: Partial<Record<TokenScheme, { requestor_id: string; app_id: string }>>
  version: number
  created_at: Date
  updated_at: Date
}

const columns = sql`
  id, list_id, display_name, account_updater_enabled, account_updater_request_encryption_key,
  account_updater_request_encryption_key_id, account_updater_response_decryption_key,
  account_updater_response_decryption_key_id, over_capture_amount, over_capture_percentage, loon_client_key,
  loon_secret_key, loon_accepted_schemes, loon_merchant_account_id, async_network_tokens_enabled, version, created_at, updated_at,
  coalesce((
    select jsonb_object_agg(scheme, jsonb_build_object('requestor_id', requestor_id, 'app_id', app_id))
    from network_token_requestors where merchant_account_id = merchant_accounts.id
  ), '{}') as requestors`

export async function findMerchantAccount(
  db: Db,
  accounts: Accounts,
  id: string,
): Promise<MerchantAccountRow | undefined> {
  const [row] = await read<MerchantAccountRow>(
    db,
    accounts,
    (visible) => sql`select ${columns} from merchant_accounts where ${visible(sql`id`)} and id = ${id}`,
  )
  return row
}

export function findMerchantAccounts(
  db: Db,
  accounts: Accounts,
  ids: readonly string[],
): Promise<MerchantAccountRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`select ${columns} from merchant_accounts where ${visible(sql`id`)} and id = any(${ids}::text[])`,
  )
}

/** Waits for whoever changes the account at this moment. */
export async function lockMerchantAccount(
  db: Db,
  accounts: Accounts,
  id: string,
): Promise<MerchantAccountRow | undefined> {
  const [row] = await db.run<MerchantAccountRow>(sql`
    select ${columns} from merchant_accounts where ${within(accounts, sql`id`)} and id = ${id} for update`)
  return row
}

export async function findOldestMerchantAccountId(db: Db): Promise<string | undefined> {
  const [row] = await read<{ id: string }>(
    db,
    'all',
    (visible) => sql`select id from merchant_accounts where ${visible(sql`id`)} order by list_id limit 1`,
  )
  return row?.id
}

export function listMerchantAccountRows(
  db: Db,
  accounts: Accounts,
  search: string | undefined,
  page: PageRequest,
): Promise<PageRows<MerchantAccountRow>> {
  const matches = search
    ? sql`(strpos(lower(id), lower(${search})) > 0 or strpos(lower(display_name), lower(${search})) > 0)`
    : sql`true`
  return readPage(db, accounts, page, {
    columns,
    from: sql`merchant_accounts`,
    where: (visible) => sql`${visible(sql`id`)} and ${matches}`,
    id: sql`list_id`,
  })
}

/** False when the id is taken. */
export async function insertMerchantAccount(
  db: Db,
  row: Omit<MerchantAccountRow, 'requestors' | 'version'>,
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into merchant_accounts (id, list_id, display_name, account_updater_enabled, account_updater_request_encryption_key,
      account_updater_request_encryption_key_id, account_updater_response_decryption_key,
      account_updater_response_decryption_key_id, over_capture_amount, over_capture_percentage, loon_client_key,
      loon_secret_key, loon_accepted_schemes, loon_merchant_account_id, async_network_tokens_enabled, created_at, updated_at)
    values (${row.id}, ${row.list_id}, ${row.display_name}, ${row.account_updater_enabled}, ${row.account_updater_request_encryption_key},
      ${row.account_updater_request_encryption_key_id}, ${row.account_updater_response_decryption_key},
      ${row.account_updater_response_decryption_key_id}, ${row.over_capture_amount}, ${row.over_capture_percentage}, ${row.loon_client_key},
      ${row.loon_secret_key}, ${row.loon_accepted_schemes}, ${row.loon_merchant_account_id}, ${row.async_network_tokens_enabled},
      ${row.created_at}, ${row.updated_at})
    on conflict on constraint merchant_accounts_pkey do nothing
    returning id`)
  return inserted.length > 0
}

export async function updateMerchantAccountRow(
  db: Db,
  accounts: Accounts,
  row: Omit<AccountSettings, 'requestors'> & { id: string; updated_at: Date },
): Promise<void> {
  await db.run(sql`
    update merchant_accounts
    set display_name = ${row.display_name},
      account_updater_enabled = ${row.account_updater_enabled},
      account_updater_request_encryption_key = ${row.account_updater_request_encryption_key},
      account_updater_request_encryption_key_id = ${row.account_updater_request_encryption_key_id},
      account_updater_response_decryption_key = ${row.account_updater_response_decryption_key},
      account_updater_response_decryption_key_id = ${row.account_updater_response_decryption_key_id},
      over_capture_amount = ${row.over_capture_amount},
      over_capture_percentage = ${row.over_capture_percentage},
      loon_client_key = ${row.loon_client_key},
      loon_secret_key = ${row.loon_secret_key},
      loon_accepted_schemes = ${row.loon_accepted_schemes},
      loon_merchant_account_id = ${row.loon_merchant_account_id},
      async_network_tokens_enabled = ${row.async_network_tokens_enabled},
      version = version + 1,
      updated_at = ${row.updated_at}
    where ${within(accounts, sql`id`)} and id = ${row.id}`)
}

/** Replaces the network token credentials of an account. A pair that is taken violates `network_token_requestors_unique`. */
export async function replaceRequestors(
  db: Db,
  merchantAccountId: string,
  requestors: AccountSettings['requestors'],
): Promise<void> {
  const wanted = Object.entries(requestors).filter(
    ([, { requestor_id, app_id }]) => requestor_id !== null && app_id !== null,
  )
  await db.run(sql`delete from network_token_requestors where merchant_account_id = ${merchantAccountId}`)
  if (wanted.length === 0) return
  await db.run(sql`
    insert into network_token_requestors (merchant_account_id, scheme, requestor_id, app_id)
    select ${merchantAccountId}, scheme, requestor_id, app_id
    from unnest(${wanted.map(([scheme]) => scheme)}::text[], ${wanted.map(([, { requestor_id }]) => requestor_id)}::text[],
      ${wanted.map(([, { app_id }]) => app_id)}::text[]) as wanted (scheme, requestor_id, app_id)`)
}
