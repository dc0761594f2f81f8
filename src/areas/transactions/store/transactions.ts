import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { orKept, sql } from '../../../platform/sql.ts'
import { statusesBefore, type TransactionStatus } from '../rules.ts'
import { columns, type InstrumentRow, type TimelineEntry, type TransactionRow } from './rows.ts'

export async function findTransaction(db: Db, accounts: Accounts, id: string): Promise<TransactionRow | undefined> {
  const [row] = await read<TransactionRow>(
    db,
    accounts,
    (visible) => sql`select ${columns} from transactions where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

export interface LockedTransaction {
  row: TransactionRow
  instrument: InstrumentRow
}

/**
 * Waits for whoever moves the transaction at this moment. Everybody takes this lock before those of instruments and attempts: two who
 * take them the other way round wait for each other.
 */
export async function lockTransactionRow(db: Db, accounts: Accounts, id: string): Promise<TransactionRow | undefined> {
  const [row] = await db.run<TransactionRow>(sql`
    select ${columns} from transactions where ${within(accounts, sql`merchant_account_id`)} and id = ${id} for update`)
  return row
}

const instrumentColumns = sql`
  position, amount, authorized_amount, capture_limit, capturing_amount, captured_amount, refunding_amount, refunded_amount, capturable`

/** The main method. */
export async function findInstrument(db: Db, accounts: Accounts, id: string): Promise<InstrumentRow | undefined> {
  const [instrument] = await read<InstrumentRow>(
    db,
    accounts,
    (visible) => sql`
      select ${instrumentColumns} from transaction_instruments
      where ${visible(sql`merchant_account_id`)} and transaction_id = ${id} and position = 0`,
  )
  return instrument
}

/** The updates below have guards of their own. */
export async function lockTransaction(db: Db, accounts: Accounts, id: string): Promise<LockedTransaction | undefined> {
  const row = await lockTransactionRow(db, accounts, id)
  if (!row) return undefined
  const [instrument] = await db.run<InstrumentRow>(sql`
    select ${instrumentColumns} from transaction_instruments
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${id} and position = 0`)
  return instrument && { row, instrument }
}

/** Everything that pays. Under the lock of the transaction. */
export function lockInstruments(db: Db, accounts: Accounts, id: string): Promise<InstrumentRow[]> {
  return db.run(sql`
    select ${instrumentColumns} from transaction_instruments
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${id} order by position`)
}

/** Moves a transaction if its status still allows it; undefined means that somebody else moved it first. */
export async function moveTransaction(
  db: Db,
  accounts: Accounts,
  id: string,
  to: TransactionStatus,
  now: Date,
  change: { captured?: number; captured_at?: Date; voided_at?: Date } = {},
): Promise<TransactionRow | undefined> {
  const [row] = await db.run<TransactionRow>(sql`
    update transactions
    set status = ${to}, captured_amount = captured_amount + ${change.captured ?? 0}::bigint,
      captured_at = ${orKept(change.captured_at, sql`captured_at`)}, voided_at = ${orKept(change.voided_at, sql`voided_at`)},
      version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and status = any(${statusesBefore(to)})
    returning ${columns}`)
  return row
}

/** Promises an amount to a capture; false when that would be more than may be captured. */
export async function reserveCapture(
  db: Db,
  accounts: Accounts,
  id: string,
  { amount, limit }: { amount: number; limit: number },
): Promise<boolean> {
  const reserved = await db.run(sql`
    update transaction_instruments
    set capture_limit = ${limit}::bigint, capturing_amount = capturing_amount + ${amount}::bigint
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${id} and position = 0
      and capturable and captured_amount + capturing_amount + ${amount}::bigint <= ${limit}::bigint
    returning position`)
  return reserved.length > 0
}

/** The end of a capture: what was promised is captured, or free again. */
export async function settleCaptureAmounts(
  db: Db,
  accounts: Accounts,
  id: string,
  { amount, captured, final }: { amount: number; captured: boolean; final: boolean },
): Promise<void> {
  await db.run(sql`
    update transaction_instruments
    set capturing_amount = capturing_amount - ${amount}::bigint,
      captured_amount = captured_amount + ${captured ? amount : 0}::bigint,
      capturable = capturable and not ${captured && final}
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${id} and position = 0`)
}

export async function closeInstrument(db: Db, accounts: Accounts, id: string): Promise<void> {
  await db.run(sql`
    update transaction_instruments set capturable = false
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${id} and position = 0`)
}

export async function updateTransactionRow(
  db: Db,
  accounts: Accounts,
  id: string,
  change: { external_identifier?: string | null; metadata?: string | null; connection_options?: string | null },
  now: Date,
): Promise<TransactionRow | undefined> {
  const [row] = await db.run<TransactionRow>(sql`
    update transactions
    set external_identifier = ${orKept(change.external_identifier, sql`external_identifier`)},
      metadata = ${orKept(change.metadata, sql`metadata`)},
      connection_options = ${orKept(change.connection_options, sql`connection_options`)},
      version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return row
}

/** What a transaction is found by, after its metadata changed. */
export async function replaceMetadata(db: Db, accounts: Accounts, row: TransactionRow): Promise<void> {
  await db.run(sql`
    delete from transaction_metadata where ${within(accounts, sql`merchant_account_id`)} and id = ${row.id}`)
  await db.run(sql`
    insert into transaction_metadata (merchant_account_id, name, value, id)
    select ${row.merchant_account_id}, entry.key, entry.value, ${row.id} from json_each_text(${row.metadata}::json) as entry`)
}

export async function insertTimeline(
  db: Db,
  merchantAccountId: string,
  entries: readonly TimelineEntry[],
): Promise<void> {
  if (entries.length === 0) return
  await db.run(sql`
    insert into transaction_events (merchant_account_id, transaction_id, id, name, context, created_at)
    select ${merchantAccountId}, line.* from json_to_recordset(${JSON.stringify(entries)}::json) as line (
      transaction_id uuid, id uuid, name text, context text, created_at timestamptz
    )`)
}
