import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import type { SecretReference } from './protocol.ts'
import type { SealedSecret } from './secret-store.ts'

/** Secrets that wait for a later request. They are taken once, and live a day at most. */

/** As `upsertSecrets`: nothing is stored when the key is not the active one any more. */
export async function upsertWaiting(
  db: Db,
  keyVersion: number,
  secrets: readonly SealedSecret[],
  expiresAt: Date,
): Promise<boolean> {
  const stored = await db.run(sql`
    insert into vault.waiting (expires_at, key_version, id, merchant_account_id, field, sealed)
    select least(${expiresAt}::timestamptz, now() + interval '1 day'), ${keyVersion}::integer, id, merchant_account_id, field, sealed
    from unnest(
      ${secrets.map(({ id }) => id)}::uuid[],
      ${secrets.map(({ merchantAccountId }) => merchantAccountId)}::text[],
      ${secrets.map(({ field }) => field)}::text[],
      ${secrets.map(({ sealed }) => sealed)}::bytea[]
    ) as stored (id, merchant_account_id, field, sealed)
    where exists (select from vault.keys where purpose = 'data' and version = ${keyVersion}::integer and state = 'active')
    order by merchant_account_id, id, field
    on conflict (merchant_account_id, id, field) do update
    set expires_at = excluded.expires_at, key_version = excluded.key_version, sealed = excluded.sealed
    returning 1`)
  return stored.length > 0
}

export interface TakenSecret {
  field: string
  key_version: number
  sealed: Buffer
}

/** One statement: of any number who ask at once, one gets it. What has expired is deleted too, and handed to nobody. */
export async function takeWaiting(
  db: Db,
  { merchantAccountId, id }: SecretReference,
  fields: readonly string[],
): Promise<TakenSecret[]> {
  const taken = await db.run<TakenSecret & { is_fresh: boolean }>(sql`
    delete from vault.waiting
    where merchant_account_id = ${merchantAccountId} and id = ${id} and field = any(${fields}::text[])
    returning field, key_version, sealed, expires_at > now() as is_fresh`)
  return taken.filter(({ is_fresh }) => is_fresh)
}

/** Some of those that have expired; how many. Several vaults may do it at once. */
export async function deleteExpired(db: Db, limit: number): Promise<number> {
  const deleted = await db.run(sql`
    delete from vault.waiting
    where (merchant_account_id, id, field) in (
      select merchant_account_id, id, field from vault.waiting
      where expires_at <= now() order by expires_at limit ${limit} for update skip locked)
    returning 1`)
  return deleted.length
}

export const hasWaiting = async (db: Db, keyVersion: number) =>
  (await db.run(sql`select from vault.waiting where key_version = ${keyVersion} limit 1`)).length > 0
