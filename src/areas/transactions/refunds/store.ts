import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { RefundStatus } from './schema.ts'

export interface RefundRow {
  merchant_account_id: string
  transaction_id: string
  id: string
  instrument: number
  /** Null: the main method. */
  gift_card_redemption_id: string | null
  amount: number
  currency: string
  status: RefundStatus
  reason: string | null
  external_identifier: string | null
  payment_service_refund_id: string | null
  error_code: string | null
  raw_response_code: string | null
  raw_response_description: string | null
  creator_id: string | null
  creator_name: string
  creator_thumbprint: string | null
  settled: boolean
  settled_amount: number
  settled_currency: string | null
  version: number
  created_at: Date
  updated_at: Date
}

const columns = sql`
  merchant_account_id, transaction_id, id, instrument, gift_card_redemption_id, amount, currency, status, reason, external_identifier, payment_service_refund_id, error_code,
  raw_response_code, raw_response_description, creator_id, creator_name, creator_thumbprint, settled, settled_amount,
  settled_currency, version, created_at, updated_at`

/** Promises an amount to a refund; false when more would be given back than was taken. */
export async function reserveRefund(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  position: number,
  amount: number,
): Promise<boolean> {
  const reserved = await db.run(sql`
    update transaction_instruments set refunding_amount = refunding_amount + ${amount}::bigint
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and position = ${position}
      and refunded_amount + refunding_amount + ${amount}::bigint <= captured_amount
    returning position`)
  return reserved.length > 0
}

/** The end of a refund: what was promised is given back, or can be again. */
export async function settleRefundAmounts(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  { position, amount, refunded, now }: { position: number; amount: number; refunded: boolean; now: Date },
): Promise<void> {
  await db.run(sql`
    update transaction_instruments
    set refunding_amount = refunding_amount - ${amount}::bigint, refunded_amount = refunded_amount + ${refunded ? amount : 0}::bigint
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and position = ${position}`)
  if (!refunded) return
  await db.run(sql`
    update transactions set refunded_amount = refunded_amount + ${amount}::bigint, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${transactionId}`)
}

export async function insertRefund(
  db: Db,
  row: Omit<
    RefundRow,
    | 'status'
    | 'payment_service_refund_id'
    | 'error_code'
    | 'raw_response_code'
    | 'raw_response_description'
    | 'settled'
    | 'settled_amount'
    | 'settled_currency'
    | 'version'
    | 'updated_at'
  >,
): Promise<RefundRow> {
  const [inserted] = await db.run<RefundRow>(sql`
    insert into refunds (merchant_account_id, transaction_id, id, instrument, gift_card_redemption_id, amount, currency, status, reason,
      external_identifier, creator_id,
      creator_name, creator_thumbprint, version, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.transaction_id}, ${row.id}, ${row.instrument}, ${row.gift_card_redemption_id}, ${row.amount}, ${row.currency}, 'processing',
      ${row.reason}, ${row.external_identifier}, ${row.creator_id}, ${row.creator_name}, ${row.creator_thumbprint}, 1, ${row.created_at},
      ${row.created_at})
    returning ${columns}`)
  if (!inserted) throw new Error('a refund was not inserted')
  return inserted
}

export async function updateRefund(
  db: Db,
  accounts: Accounts,
  id: string,
  change: Pick<
    RefundRow,
    'status' | 'payment_service_refund_id' | 'error_code' | 'raw_response_code' | 'raw_response_description'
  >,
  now: Date,
): Promise<RefundRow | undefined> {
  const [row] = await db.run<RefundRow>(sql`
    update refunds
    set status = ${change.status}, payment_service_refund_id = coalesce(${change.payment_service_refund_id}, payment_service_refund_id),
      error_code = ${change.error_code}, raw_response_code = ${change.raw_response_code},
      raw_response_description = ${change.raw_response_description}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and status = 'processing'
    returning ${columns}`)
  return row
}

export async function findRefund(db: Db, accounts: Accounts, id: string): Promise<RefundRow | undefined> {
  const [row] = await read<RefundRow>(
    db,
    accounts,
    (visible) => sql`select ${columns} from refunds where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

/** Newest first. */
export function listRefundRows(db: Db, accounts: Accounts, transactionId: string, limit: number): Promise<RefundRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from refunds
      where ${visible(sql`merchant_account_id`)} and transaction_id = ${transactionId} order by id desc limit ${limit}`,
  )
}
