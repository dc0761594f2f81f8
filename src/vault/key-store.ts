import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import type { KeyPurpose } from './key-provider.ts'

export type KeyState = 'active' | 'decrypt-only' | 'retired' | 'destroyed'

export interface KeyRow {
  id: string
  purpose: KeyPurpose
  version: number
  state: KeyState
  provider: string
  wrapped: Buffer | null
  encryptions: number
  created_at: Date
  changed_at: Date
}

export type NewKey = Pick<KeyRow, 'id' | 'purpose' | 'version' | 'provider'> & { wrapped: Buffer }

export function listKeys(db: Db): Promise<KeyRow[]> {
  return db.run<KeyRow>(sql`
    select id, purpose, version, state, provider, wrapped, encryptions, created_at, changed_at
    from vault.keys order by purpose, version`)
}

/** The very first key of a purpose; nothing happens when another vault was faster. Keys that are lost are not replaced. */
export async function insertFirstKey(db: Db, key: NewKey): Promise<void> {
  await db.run(sql`
    insert into vault.keys (id, purpose, version, state, provider, wrapped, created_at, changed_at)
    select ${key.id}::uuid, ${key.purpose}, ${key.version}::integer, 'active', ${key.provider}, ${key.wrapped}::bytea, now(), now()
    where not exists (select from vault.keys where purpose = ${key.purpose})
      and not exists (select from vault.secrets)
    on conflict do nothing`)
}

/** The new key takes over from the active one in one statement; false when that one is not active any more. */
export async function replaceActiveKey(db: Db, before: number, key: NewKey): Promise<boolean> {
  const inserted = await db.run(sql`
    with demoted as (
      update vault.keys set state = 'decrypt-only', changed_at = now()
      where purpose = ${key.purpose} and version = ${before} and state = 'active'
      returning version
    )
    insert into vault.keys (id, purpose, version, state, provider, wrapped, created_at, changed_at)
    select ${key.id}::uuid, ${key.purpose}, ${key.version}::integer, 'active', ${key.provider}, ${key.wrapped}::bytea, now(), now()
    from demoted
    on conflict do nothing
    returning version`)
  return inserted.length > 0
}

/**
 * Whether a statement may still run that saw the key active. A store checks the key's state in its own statement, so after
 * this no row can come to be on the key.
 */
export async function mayStillBeWritten(db: Db, version: number): Promise<boolean> {
  const [found] = await db.run(sql`
    select from vault.keys
    where purpose = 'data' and version = ${version}
      and (
        changed_at >= clock_timestamp() - interval '10 seconds'
        or exists (
          select from pg_stat_activity
          where usename = current_user and pid <> pg_backend_pid() and xact_start < changed_at + interval '10 seconds'
        )
      )`)
  return found !== undefined
}

/** Ask `mayStillBeWritten` first, in a statement of its own: this one must see what those statements have left behind. */
export async function retireKey(db: Db, version: number): Promise<boolean> {
  const retired = await db.run(sql`
    update vault.keys set state = 'retired', changed_at = now()
    where purpose = 'data' and version = ${version} and state = 'decrypt-only'
      and not exists (select from vault.secrets where key_version = ${version})
    returning version`)
  return retired.length > 0
}

/**
 * What waits is not rewrapped: it is gone within a day. A retired key still opens it, so all there is to do is to keep the key until then. Like
 * secrets, nothing that waits can come to be on a key that is not active, so what this statement sees is all there will be.
 */
export async function destroyKey(db: Db, version: number): Promise<boolean> {
  const destroyed = await db.run(sql`
    update vault.keys set state = 'destroyed', wrapped = null, changed_at = now()
    where purpose = 'data' and version = ${version} and state = 'retired'
      and not exists (select from vault.secrets where key_version = ${version})
      and not exists (select from vault.waiting where key_version = ${version})
    returning version`)
  return destroyed.length > 0
}

export async function addEncryptions(db: Db, version: number, count: number): Promise<void> {
  await db.run(sql`
    update vault.keys set encryptions = encryptions + ${count} where purpose = 'data' and version = ${version}`)
}
