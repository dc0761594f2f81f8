import type { Db } from '../platform/postgres.ts'
import { type Sql, sql } from '../platform/sql.ts'
import { cardFields, giftCardNumberField, type SecretReference } from './protocol.ts'

export interface SealedSecret extends SecretReference {
  field: string
  sealed: Buffer
}

interface SealedRow {
  merchant_account_id: string
  id: string
  field: string
  sealed: Buffer
}

const columns = (secrets: readonly SealedSecret[]) => ({
  ids: secrets.map(({ id }) => id),
  accounts: secrets.map(({ merchantAccountId }) => merchantAccountId),
  fields: secrets.map(({ field }) => field),
  sealed: secrets.map(({ sealed }) => sealed),
})

const toSecret = ({ merchant_account_id, ...rest }: SealedRow): SealedSecret => ({
  merchantAccountId: merchant_account_id,
  ...rest,
})

/**
 * Stores or replaces. False, and nothing stored, when the key is not the active one any more: the statement itself looks, so
 * a vault that missed a rotation cannot add a row to a key that is about to go. In key order, so that two vaults cannot lock
 * each other out.
 */
export async function upsertSecrets(db: Db, keyVersion: number, secrets: readonly SealedSecret[]): Promise<boolean> {
  const { ids, accounts, fields, sealed } = columns(secrets)
  const stored = await db.run(sql`
    insert into vault.secrets (created_at, key_version, id, merchant_account_id, field, sealed)
    select now(), ${keyVersion}::integer, id, merchant_account_id, field, sealed
    from unnest(${ids}::uuid[], ${accounts}::text[], ${fields}::text[], ${sealed}::bytea[])
      as stored (id, merchant_account_id, field, sealed)
    where exists (select from vault.keys where purpose = 'data' and version = ${keyVersion}::integer and state = 'active')
    order by merchant_account_id, id, field
    on conflict (merchant_account_id, id, field) do update
    set created_at = excluded.created_at, key_version = excluded.key_version, sealed = excluded.sealed
    returning 1`)
  return stored.length > 0
}

export interface FoundSecret {
  key_version: number
  sealed: Buffer
}

/** In the order of the question; undefined where there is none. */
export async function findSecrets(
  db: Db,
  wanted: readonly (SecretReference & { field: string })[],
): Promise<(FoundSecret | undefined)[]> {
  const rows = await db.run<FoundSecret & { position: number }>(sql`
    select wanted.position, secrets.key_version, secrets.sealed
    from unnest(
      ${wanted.map(({ merchantAccountId }) => merchantAccountId)}::text[],
      ${wanted.map(({ id }) => id)}::uuid[],
      ${wanted.map(({ field }) => field)}::text[]
    ) with ordinality as wanted (merchant_account_id, id, field, position)
    join vault.secrets using (merchant_account_id, id, field)`)
  const found: (FoundSecret | undefined)[] = wanted.map(() => undefined)
  for (const { position, key_version, sealed } of rows) found[position - 1] = { key_version, sealed }
  return found
}

/** Turns one field into another if it is still as it was read. Nothing happens when the key is not the active one any more. */
export async function moveSecret(
  db: Db,
  move: SecretReference & { from: { field: string; sealed: Buffer }; to: { field: string; sealed: Buffer } },
  keyVersion: number,
): Promise<boolean> {
  const { merchantAccountId, id, from, to } = move
  const moved = await db.run(sql`
    with taken as (
      delete from vault.secrets
      where merchant_account_id = ${merchantAccountId} and id = ${id} and field = ${from.field} and sealed = ${from.sealed}
        and exists (select from vault.keys where purpose = 'data' and version = ${keyVersion}::integer and state = 'active')
      returning merchant_account_id, id
    )
    insert into vault.secrets (created_at, key_version, id, merchant_account_id, field, sealed)
    select now(), ${keyVersion}::integer, id, merchant_account_id, ${to.field}, ${to.sealed}::bytea from taken
    on conflict (merchant_account_id, id, field) do update
    set created_at = excluded.created_at, key_version = excluded.key_version, sealed = excluded.sealed
    returning 1`)
  return moved.length > 0
}

/** Those that stay, and those that wait. */
type SealedTable = 'vault.secrets' | 'vault.waiting'
const tables: Record<SealedTable, Sql> = { 'vault.secrets': sql`vault.secrets`, 'vault.waiting': sql`vault.waiting` }

/** Everything under the references, or these fields only. Locked in the same order as a store does it, so that the two cannot lock each other out. */
export async function deleteSealed(
  db: Db,
  table: SealedTable,
  references: readonly SecretReference[],
  fields?: readonly string[],
): Promise<void> {
  await db.run(sql`
    with doomed as materialized (
      select merchant_account_id, id, field
      from ${tables[table]} as kept
      join unnest(
        ${references.map(({ merchantAccountId }) => merchantAccountId)}::text[],
        ${references.map(({ id }) => id)}::uuid[]
      ) as removed (merchant_account_id, id) using (merchant_account_id, id)
      where ${fields ? sql`field = any(${fields}::text[])` : sql`true`}
      order by merchant_account_id, id, field
      for update of kept
    )
    delete from ${tables[table]} as kept using doomed
    where kept.merchant_account_id = doomed.merchant_account_id and kept.id = doomed.id and kept.field = doomed.field`)
}

export async function listOwners(
  db: Db,
  { createdBefore, after, limit }: { createdBefore: Date; after?: SecretReference | undefined; limit: number },
): Promise<SecretReference[]> {
  const beyond = after ? sql`(merchant_account_id, id) > (${after.merchantAccountId}, ${after.id}::uuid)` : sql`true`
  const rows = await db.run<{ merchant_account_id: string; id: string }>(sql`
    select distinct merchant_account_id, id from vault.secrets
    where field = any(${[...cardFields, giftCardNumberField]}::text[]) and created_at < ${createdBefore} and ${beyond}
    order by merchant_account_id, id limit ${limit}`)
  return rows.map(({ merchant_account_id, id }) => ({ merchantAccountId: merchant_account_id, id }))
}

export const hasRows = async (db: Db, keyVersion: number) =>
  (await db.run(sql`select from vault.secrets where key_version = ${keyVersion} limit 1`)).length > 0

const mostCounted = 1_000_000

/** Counted up to a million; beyond that as many as the statistics say. */
export async function countRows(db: Db, keyVersion: number): Promise<{ rows: number; exact: boolean }> {
  const [counted] = await db.run<{ rows: number }>(sql`
    select count(*) as rows
    from (select from vault.secrets where key_version = ${keyVersion} limit ${mostCounted}) as counted`)
  const rows = counted?.rows ?? 0
  if (rows < mostCounted) return { rows, exact: true }
  const [estimated] = await db.run<{ rows: number | null }>(sql`
    select (reltuples * frequency)::bigint as rows
    from pg_class, pg_stats,
      unnest(most_common_vals::text::integer[], most_common_freqs) as common (key_version, frequency)
    where pg_class.oid = 'vault.secrets'::regclass
      and schemaname = 'vault' and tablename = 'secrets' and attname = 'key_version'
      and common.key_version = ${keyVersion}`)
  return { rows: Math.max(mostCounted, estimated?.rows ?? 0), exact: false }
}

/** Some rows of a key, locked; what others hold is left out, and so is what could not be opened before. */
export async function lockSecrets(
  db: Db,
  keyVersion: number,
  { limit, except }: { limit: number; except: readonly (SecretReference & { field: string })[] },
): Promise<SealedSecret[]> {
  // Without an index the front of the table, already done, would be read again and again.
  await db.run(sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`)
  const rows = await db.run<SealedRow>(sql`
    select merchant_account_id, id, field, sealed from vault.secrets
    where key_version = ${keyVersion}
      and (merchant_account_id, id, field) not in (
        select * from unnest(
          ${except.map(({ merchantAccountId }) => merchantAccountId)}::text[],
          ${except.map(({ id }) => id)}::uuid[],
          ${except.map(({ field }) => field)}::text[]
        )
      )
    limit ${limit} for update skip locked`)
  return rows.map(toSecret)
}

/** Rows that were opened with one key and sealed with another; as many as are still on the first. */
export async function updateSealed(
  db: Db,
  { from, to }: { from: number; to: number },
  secrets: readonly SealedSecret[],
): Promise<number> {
  const { ids, accounts, fields, sealed } = columns(secrets)
  const updated = await db.run(sql`
    update vault.secrets set key_version = ${to}::integer, sealed = resealed.sealed
    from unnest(${ids}::uuid[], ${accounts}::text[], ${fields}::text[], ${sealed}::bytea[])
      as resealed (id, merchant_account_id, field, sealed)
    where secrets.merchant_account_id = resealed.merchant_account_id
      and secrets.id = resealed.id
      and secrets.field = resealed.field
      and secrets.key_version = ${from}
      and exists (select from vault.keys where purpose = 'data' and version = ${to}::integer and state = 'active')
    returning 1`)
  return updated.length
}
