import { type Accounts, within } from '../platform/accounts.ts'
import { type Db, read, writeAtOnce } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

/** The key of a request that must not happen twice. */
export interface NewKey {
  operation: string
  key: string
  fingerprint: string
  lease_until: Date
  /** Keys older than this may be used again. */
  forgotten_before: Date
}

export interface KeyRow {
  fingerprint: string
  /** Null where the request was for no payment. */
  transaction_id: string | null
  resource_id: string | null
  lease_until: Date
  status: number | null
  body: string | null
  created_at: Date
}

/** What the request made. */
export interface KeyOwner {
  transactionId: string | null
  resourceId: string | null
}

type KeyName = Pick<NewKey, 'operation' | 'key'>

export async function findKey(db: Db, accounts: Accounts, { operation, key }: KeyName): Promise<KeyRow | undefined> {
  const [row] = await read<KeyRow>(
    db,
    accounts,
    (visible) => sql`
      select fingerprint, transaction_id, resource_id, lease_until, status, body, created_at from idempotency_keys
      where ${visible(sql`merchant_account_id`)} and operation = ${operation} and key = ${key}`,
  )
  return row
}

/** False when the key is taken. In the transaction of the intent. */
export async function insertKey(
  db: Db,
  merchantAccountId: string,
  key: NewKey,
  owner: KeyOwner,
  now: Date,
): Promise<boolean> {
  const held = await db.run(sql`
    insert into idempotency_keys as known (merchant_account_id, operation, key, fingerprint, transaction_id, resource_id, lease_until, created_at)
    values (${merchantAccountId}, ${key.operation}, ${key.key}, ${key.fingerprint}, ${owner.transactionId}, ${owner.resourceId},
      ${key.lease_until}, ${now})
    on conflict (merchant_account_id, operation, key) do update
      set fingerprint = excluded.fingerprint, transaction_id = excluded.transaction_id, resource_id = excluded.resource_id,
        lease_until = excluded.lease_until, status = null, body = null, created_at = excluded.created_at
      where known.created_at < ${key.forgotten_before}
    returning key`)
  return held.length > 0
}

/** Whoever gets it finishes what a request began that has died. */
export async function takeOverKey(db: Db, accounts: Accounts, key: NewKey, now: Date): Promise<boolean> {
  const taken = await writeAtOnce(
    db,
    accounts,
    sql`
      update idempotency_keys set lease_until = ${key.lease_until.toISOString()}
      where ${within(accounts, sql`merchant_account_id`)} and operation = ${key.operation}
        and key = ${key.key} and status is null and lease_until <= ${now.toISOString()}
      returning key`,
  )
  return taken.length > 0
}

/** Who asks again need not wait until the lease is over: nobody is at work any more. */
export async function releaseKey(db: Db, accounts: Accounts, { operation, key }: KeyName, now: Date): Promise<void> {
  await writeAtOnce(
    db,
    accounts,
    sql`
      update idempotency_keys set lease_until = ${now.toISOString()}
      where ${within(accounts, sql`merchant_account_id`)} and operation = ${operation} and key = ${key} and status is null`,
  )
}

/** The first answer stays. In the transaction of the outcome. */
export async function storeAnswer(
  db: Db,
  accounts: Accounts,
  { operation, key }: KeyName,
  answer: { status: number; body: string },
): Promise<void> {
  await db.run(sql`
    update idempotency_keys set status = ${answer.status}, body = ${answer.body}
    where ${within(accounts, sql`merchant_account_id`)} and operation = ${operation} and key = ${key} and status is null`)
}

export async function deleteOldKeys(db: Db, accounts: Accounts, before: Date, limit: number): Promise<number> {
  const deleted = await writeAtOnce(
    db,
    accounts,
    sql`
      delete from idempotency_keys
      where (merchant_account_id, operation, key) in (
        select merchant_account_id, operation, key from idempotency_keys
        where ${within(accounts, sql`merchant_account_id`)} and created_at < ${before.toISOString()} order by created_at limit ${limit})
      returning key`,
  )
  return deleted.length
}
