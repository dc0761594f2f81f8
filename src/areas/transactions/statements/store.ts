import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read, writeAtOnce } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import { columns as transactionColumns, type TransactionRow } from '../store/rows.ts'
import type { LineKind, Totals } from './rules.ts'

export interface LineRow {
  merchant_account_id: string
  transaction_id: string
  id: string
  kind: LineKind
  payment_service_id: string
  provider_line_id: string
  payment_service_report_id: string
  refund_id: string | null
  posted_at: Date
  currency: string
  amount: number
  exchange_rate: number | null
  commission: number
  interchange: number | null
  markup: number | null
  scheme_fee: number | null
  created_at: Date
}

const columns = sql`
  line.merchant_account_id, line.transaction_id, line.id, line.kind, line.payment_service_id, line.provider_line_id,
  line.payment_service_report_id, line.refund_id, line.posted_at, line.currency, line.amount, line.exchange_rate, line.commission,
  line.interchange, line.markup, line.scheme_fee, line.created_at`

/** Oldest first; undefined when there is no such transaction within reach. */
export async function listLineRows(db: Db, accounts: Accounts, transactionId: string): Promise<LineRow[] | undefined> {
  const found = await read<LineRow | { id: null }>(
    db,
    accounts,
    (visible) => sql`
      select ${columns}
      from transactions
        left join statement_lines as line
          on line.merchant_account_id = transactions.merchant_account_id and line.transaction_id = transactions.id
      where ${visible(sql`transactions.merchant_account_id`)} and transactions.id = ${transactionId}
      order by line.posted_at, line.id`,
  )
  // A transaction without any is one row of nulls.
  return found.length === 0 ? undefined : found.filter((row) => row.id !== null)
}

/** Those that are new. */
export function insertLines(db: Db, lines: readonly LineRow[]): Promise<LineRow[]> {
  return db.run(sql`
    insert into statement_lines as line (merchant_account_id, transaction_id, id, kind, payment_service_id, provider_line_id, payment_service_report_id,
      refund_id, posted_at, currency, amount, exchange_rate, commission, interchange, markup, scheme_fee, created_at)
    select * from json_to_recordset(${JSON.stringify(lines)}::json) as record (
      merchant_account_id text, transaction_id uuid, id uuid, kind text, payment_service_id uuid, provider_line_id text,
      payment_service_report_id uuid, refund_id uuid, posted_at timestamptz, currency text, amount bigint, exchange_rate double precision,
      commission bigint, interchange bigint, markup bigint, scheme_fee bigint, created_at timestamptz
    )
    on conflict (merchant_account_id, payment_service_id, provider_line_id) do nothing
    returning ${columns}`)
}

/** Our refund behind each call that a provider was asked by. */
export async function findRefundsOf(
  db: Db,
  accounts: Accounts,
  transactionId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.run<{ id: string; subject_id: string }>(sql`
    select id, subject_id from attempts
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and action = 'refund'`)
  return new Map(rows.map(({ id, subject_id }) => [id, subject_id]))
}

export async function settleTotals(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  totals: Totals,
  now: Date,
): Promise<TransactionRow | undefined> {
  const [row] = await db.run<TransactionRow>(sql`
    update transactions
    set settled = ${totals.settled}, settled_amount = ${totals.settled_amount}::bigint, settled_currency = ${totals.settled_currency},
      disputed = ${totals.disputed}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${transactionId}
    returning ${transactionColumns}`)
  return row
}

/** What the lines say of each refund that they are about. */
export async function settleRefunds(db: Db, accounts: Accounts, transactionId: string, now: Date): Promise<void> {
  await db.run(sql`
    update refunds
    set settled = true, settled_amount = line.amount, settled_currency = line.currency, version = version + 1, updated_at = ${now}
    from (
      select refund_id, sum(amount)::bigint as amount, min(currency) as currency from statement_lines
      where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and refund_id is not null group by refund_id
    ) as line
    where ${within(accounts, sql`refunds.merchant_account_id`)} and refunds.id = line.refund_id
      and (not settled or settled_amount <> line.amount)`)
}

export interface CheckRow {
  merchant_account_id: string
  transaction_id: string
}

/** Payments whose time has come. Whoever is told has until the given time to ask. */
export function claimChecks(
  db: Db,
  accounts: Accounts,
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<CheckRow[]> {
  return writeAtOnce(
    db,
    accounts,
    sql`
      update statement_checks set next_check_at = ${until.toISOString()}
      where (merchant_account_id, transaction_id) in (
        select merchant_account_id, transaction_id from statement_checks
        where ${within(accounts, sql`merchant_account_id`)} and next_check_at <= ${now.toISOString()}
        order by next_check_at limit ${limit} for update skip locked)
      returning merchant_account_id, transaction_id`,
  )
}

/** Null: no more. */
export async function scheduleCheck(db: Db, accounts: Accounts, transactionId: string, at: Date | null): Promise<void> {
  const own = sql`${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId}`
  await db.run(
    at
      ? sql`update statement_checks set next_check_at = ${at} where ${own}`
      : sql`delete from statement_checks where ${own}`,
  )
}

/** Asks earlier, or once more. */
export async function checkSoon(db: Db, merchantAccountId: string, transactionId: string, at: Date): Promise<void> {
  await db.run(sql`
    insert into statement_checks (merchant_account_id, transaction_id, next_check_at)
    values (${merchantAccountId}, ${transactionId}, ${at})
    on conflict (merchant_account_id, transaction_id) do update
      set next_check_at = least(statement_checks.next_check_at, excluded.next_check_at)`)
}
