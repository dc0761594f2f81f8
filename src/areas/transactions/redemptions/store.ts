import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { GiftCardErrorCode, RedemptionStatus } from './schema.ts'

export interface RedemptionRow {
  merchant_account_id: string
  transaction_id: string
  /** What the provider knows it by. */
  id: string
  position: number
  gift_card_service_id: string
  gift_card_id: string | null
  fingerprint: string
  bin: string
  sub_bin: string
  last4: string
  amount: number
  status: RedemptionStatus
  /** Given back whole, whatever had become of it. */
  reversed: boolean
  gift_card_service_redemption_id: string | null
  error_code: GiftCardErrorCode | null
  raw_error_code: string | null
  raw_error_message: string | null
  refunded_amount: number
}

const columns = sql`
  redemption.merchant_account_id, redemption.transaction_id, redemption.id, redemption.position, gift_card_service_id, gift_card_id, fingerprint, bin,
  sub_bin, last4, redemption.amount, redemption.status, reversed, gift_card_service_redemption_id, redemption.error_code, raw_error_code,
  raw_error_message, instrument.refunded_amount`
const source = sql`
  gift_card_redemptions as redemption join transaction_instruments as instrument using (merchant_account_id, transaction_id, position)`

/** With their instruments. In the transaction of the intent. */
export async function insertRedemptions(
  db: Db,
  rows: readonly Omit<RedemptionRow, 'refunded_amount'>[],
  now: Date,
): Promise<void> {
  await db.run(sql`
    with input as (
        select * from json_to_recordset(${JSON.stringify(rows)}::json) as record (
          merchant_account_id text, transaction_id uuid, id uuid, position integer, gift_card_service_id uuid, gift_card_id uuid, fingerprint text,
          bin text, sub_bin text, last4 text, amount bigint, status text
        )
      ),
      instruments as (
        insert into transaction_instruments (merchant_account_id, transaction_id, position, kind, amount, authorized_amount, capture_limit,
          capturing_amount, captured_amount, refunding_amount, refunded_amount, capturable)
        select merchant_account_id, transaction_id, position, 'gift-card', amount, 0, 0, 0, 0, 0, 0, false from input
      )
    insert into gift_card_redemptions (merchant_account_id, transaction_id, id, position, gift_card_service_id, gift_card_id, fingerprint, bin, sub_bin,
      last4, amount, status, created_at, updated_at)
    select merchant_account_id, transaction_id, id, position, gift_card_service_id, gift_card_id, fingerprint, bin, sub_bin, last4, amount, status,
      ${now}::timestamptz, ${now}::timestamptz
    from input`)
}

export function findRedemptions(db: Db, accounts: Accounts, transactionId: string): Promise<RedemptionRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from ${source}
      where ${visible(sql`redemption.merchant_account_id`)} and redemption.transaction_id = ${transactionId} order by position`,
  )
}

export interface RedemptionResult {
  id: string
  status: RedemptionStatus
  gift_card_service_redemption_id: string | null
  error_code: GiftCardErrorCode | null
  raw_error_code: string | null
  raw_error_message: string | null
}

/** What became of those that were asked for; the money of those that succeeded is held. */
export async function settleRedemptions(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  results: readonly RedemptionResult[],
  now: Date,
): Promise<void> {
  await db.run(sql`
    with settled as (
      update gift_card_redemptions as redemption
      set status = input.status, gift_card_service_redemption_id = input.gift_card_service_redemption_id, error_code = input.error_code,
        raw_error_code = input.raw_error_code, raw_error_message = input.raw_error_message, updated_at = ${now}::timestamptz
      from json_to_recordset(${JSON.stringify(results)}::json) as input (
        id uuid, status text, gift_card_service_redemption_id text, error_code text, raw_error_code text, raw_error_message text
      )
      where ${within(accounts, sql`redemption.merchant_account_id`)} and redemption.transaction_id = ${transactionId}
        and redemption.id = input.id and redemption.status = 'created'
      returning redemption.merchant_account_id, redemption.transaction_id, position, redemption.status
    )
    update transaction_instruments as instrument
    set authorized_amount = instrument.amount, capture_limit = instrument.amount, capturable = true
    from settled
    where instrument.merchant_account_id = settled.merchant_account_id and instrument.transaction_id = settled.transaction_id
      and instrument.position = settled.position and settled.status = 'succeeded'`)
}

/** Those that were given back. */
export async function markReversed(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  await db.run(sql`
    update gift_card_redemptions
    set reversed = true, status = 'failed', error_code = coalesce(error_code, 'operation_canceled'), updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and id = any(${ids}::uuid[])`)
}

/** All that gift cards hold is taken for good. */
export async function captureGiftCards(db: Db, accounts: Accounts, transactionId: string): Promise<void> {
  await db.run(sql`
    update transaction_instruments
    set captured_amount = authorized_amount, capturing_amount = 0, capturable = false
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and kind = 'gift-card'`)
}

/** What gift cards hold is promised to a capture, or free again. Returns how much that is. */
export async function promiseGiftCards(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  isPromised: boolean,
): Promise<number> {
  const promised = await db.run<{ amount: number }>(sql`
    update transaction_instruments
    set capturing_amount = case when ${isPromised} then authorized_amount - captured_amount else 0 end
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and kind = 'gift-card' and capturable
    returning authorized_amount - captured_amount as amount`)
  return promised.reduce((sum, { amount }) => sum + amount, 0)
}

/** Nothing was paid after all, or what was held is let go. */
export async function emptyInstruments(db: Db, accounts: Accounts, transactionId: string): Promise<void> {
  await db.run(sql`
    update transaction_instruments
    set authorized_amount = 0, capture_limit = 0, capturing_amount = 0, captured_amount = 0, capturable = false
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId}`)
}

export async function closeGiftCards(db: Db, accounts: Accounts, transactionId: string): Promise<void> {
  await db.run(sql`
    update transaction_instruments set capturable = false
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId} and kind = 'gift-card'`)
}

/** The text that answers show, after a redemption changed. */
export async function writeRedemptionText(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  text: string,
): Promise<void> {
  await db.run(sql`
    update transactions set gift_card_redemptions = ${text}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${transactionId}`)
}
