import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { CaptureStatus } from './schema.ts'

export interface CaptureRow {
  merchant_account_id: string
  transaction_id: string
  id: string
  amount: number
  currency: string
  status: CaptureStatus
  final: boolean
  external_identifier: string | null
  payment_service_capture_id: string | null
  error_code: string | null
  raw_response_code: string | null
  raw_response_description: string | null
  cart_items: string | null
  captured_at: Date | null
  version: number
  created_at: Date
  updated_at: Date
}

const columns = sql`
  merchant_account_id, transaction_id, id, amount, currency, status, final, external_identifier, payment_service_capture_id, error_code,
  raw_response_code, raw_response_description, cart_items, captured_at, version, created_at, updated_at`

export async function insertCapture(
  db: Db,
  row: Pick<
    CaptureRow,
    | 'merchant_account_id'
    | 'transaction_id'
    | 'id'
    | 'amount'
    | 'currency'
    | 'final'
    | 'external_identifier'
    | 'cart_items'
    | 'created_at'
  >,
): Promise<void> {
  await db.run(sql`
    insert into captures (merchant_account_id, transaction_id, id, amount, currency, status, final, external_identifier, cart_items, version,
      created_at, updated_at)
    values (${row.merchant_account_id}, ${row.transaction_id}, ${row.id}, ${row.amount}, ${row.currency}, 'pending', ${row.final},
      ${row.external_identifier}, ${row.cart_items}, 1, ${row.created_at}, ${row.created_at})`)
}

export async function updateCapture(
  db: Db,
  accounts: Accounts,
  { transactionId, id }: { transactionId: string; id: string },
  change: Pick<
    CaptureRow,
    | 'status'
    | 'payment_service_capture_id'
    | 'error_code'
    | 'raw_response_code'
    | 'raw_response_description'
    | 'captured_at'
  >,
  now: Date,
): Promise<CaptureRow | undefined> {
  const [row] = await db.run<CaptureRow>(sql`
    update captures
    set status = ${change.status}, payment_service_capture_id = coalesce(${change.payment_service_capture_id}, payment_service_capture_id),
      error_code = ${change.error_code}, raw_response_code = ${change.raw_response_code},
      raw_response_description = ${change.raw_response_description}, captured_at = ${change.captured_at}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and id = ${id} and status = 'pending'
    returning ${columns}`)
  return row
}

export async function findCapture(
  db: Db,
  accounts: Accounts,
  { transactionId, id }: { transactionId: string; id: string },
): Promise<CaptureRow | undefined> {
  const [row] = await read<CaptureRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from captures
      where ${visible(sql`merchant_account_id`)} and transaction_id = ${transactionId} and id = ${id}`,
  )
  return row
}

/** Newest first. A transaction has few. */
export function listCaptureRows(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  limit: number,
): Promise<CaptureRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from captures
      where ${visible(sql`merchant_account_id`)} and transaction_id = ${transactionId} order by id desc limit ${limit}`,
  )
}
