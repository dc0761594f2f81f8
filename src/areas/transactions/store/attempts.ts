import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read, writeAtOnce } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import { type Action, type AttemptRow, attemptColumns } from './rows.ts'

export interface NewAttempt {
  merchant_account_id: string
  transaction_id: string
  id: string
  action: Action
  subject_id: string | null
  payment_service_id: string | null
  amount: number
  idempotency_key: string | null
  next_check_at: Date
  created_at: Date
}

/** Before the provider hears of it. */
export async function insertAttempt(db: Db, attempt: NewAttempt): Promise<void> {
  await db.run(sql`
    insert into attempts (merchant_account_id, transaction_id, id, action, subject_id, payment_service_id, amount, state, idempotency_key,
      next_check_at, created_at, updated_at)
    values (${attempt.merchant_account_id}, ${attempt.transaction_id}, ${attempt.id}, ${attempt.action}, ${attempt.subject_id},
      ${attempt.payment_service_id}, ${attempt.amount}, 'open', ${attempt.idempotency_key}, ${attempt.next_check_at}, ${attempt.created_at},
      ${attempt.created_at})`)
}

/** False when somebody else has closed it: then what became of it is decided already. */
export async function closeAttempt(
  db: Db,
  accounts: Accounts,
  { transaction_id, id }: Pick<AttemptRow, 'transaction_id' | 'id'>,
  change: {
    state: 'open' | 'pending' | 'done'
    result: 'approved' | 'declined' | 'failed' | null
    error_code: string | null
    provider_reference: string | null
    next_check_at: Date | null
  },
  now: Date,
): Promise<boolean> {
  const closed = await db.run(sql`
    update attempts
    set state = ${change.state}, result = ${change.result}, error_code = ${change.error_code},
      provider_reference = coalesce(${change.provider_reference}, provider_reference), next_check_at = ${change.next_check_at}, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transaction_id} and id = ${id} and state <> 'done'
    returning id`)
  return closed.length > 0
}

/** Whether what became of it is still to be said. Under the lock of its transaction. */
export async function isAttemptOpen(
  db: Db,
  accounts: Accounts,
  { transaction_id, id }: Pick<AttemptRow, 'transaction_id' | 'id'>,
): Promise<boolean> {
  const open = await db.run(sql`
    select from attempts
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transaction_id} and id = ${id} and state <> 'done'`)
  return open.length > 0
}

/** What the calls of one request were for, oldest first. Its key may have been used before: a day ago, or for something else. */
export async function findSubjects(
  db: Db,
  accounts: Accounts,
  { transaction_id, idempotency_key, since }: Pick<AttemptRow, 'transaction_id' | 'idempotency_key'> & { since: Date },
): Promise<string[]> {
  const rows = await read<{ subject_id: string }>(
    db,
    accounts,
    (visible) => sql`
      select subject_id from attempts
      where ${visible(sql`merchant_account_id`)} and transaction_id = ${transaction_id} and idempotency_key = ${idempotency_key}
        and created_at >= ${since} and action in ('refund', 'gift-card-refund') order by id`,
  )
  return rows.map(({ subject_id }) => subject_id)
}

export function findOpenAttempts(db: Db, accounts: Accounts, transactionId: string): Promise<AttemptRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${attemptColumns} from attempts
      where ${visible(sql`merchant_account_id`)} and transaction_id = ${transactionId} and state <> 'done' order by id`,
  )
}

/** Attempts of these accounts whose time has come; asking for them puts the next time off, so that two workers do not ask together. */
export function claimDueAttempts(db: Db, accounts: Accounts, now: Date, limit: number): Promise<AttemptRow[]> {
  const at = now.toISOString()
  return writeAtOnce(
    db,
    accounts,
    sql`
      update attempts
      set checks = checks + 1, updated_at = ${at}::timestamptz,
        next_check_at = ${at}::timestamptz + (array['1 minute', '5 minutes', '1 hour', '1 day'])[least(checks + 2, 4)]::interval
      where (merchant_account_id, transaction_id, id) in (
        select merchant_account_id, transaction_id, id from attempts
        where ${within(accounts, sql`merchant_account_id`)} and state <> 'done' and next_check_at <= ${at}::timestamptz
        order by next_check_at limit ${limit} for update skip locked)
      returning ${attemptColumns}`,
  )
}

/** For how many seconds the oldest has been due; 0 when none is. */
export async function readOldestDue(db: Db, accounts: Accounts): Promise<number> {
  const [row] = await read<{ seconds: number | null }>(
    db,
    accounts,
    (visible) => sql`
      select extract(epoch from now() - min(next_check_at))::float8 as seconds from attempts
      where ${visible(sql`merchant_account_id`)} and state <> 'done' and next_check_at <= now()`,
  )
  return row?.seconds ?? 0
}
