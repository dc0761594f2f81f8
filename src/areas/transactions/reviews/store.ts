import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import { columns, type TransactionRow } from '../store/rows.ts'

export interface ReviewRow {
  merchant_account_id: string
  transaction_id: string
}

export function findDueReviews(db: Db, accounts: Accounts, now: Date, limit: number): Promise<ReviewRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select merchant_account_id, transaction_id from anti_fraud_reviews
      where ${visible(sql`merchant_account_id`)} and due_at <= ${now} order by due_at limit ${limit}`,
  )
}

/** Undefined when none is pending. Of two at once, one ends it. */
export async function endReview(
  db: Db,
  accounts: Accounts,
  id: string,
  now: Date,
): Promise<TransactionRow | undefined> {
  const [row] = await db.run<TransactionRow>(sql`
    update transactions set pending_review = false, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and pending_review
    returning ${columns}`)
  return row
}

export async function deleteReview(db: Db, accounts: Accounts, transactionId: string): Promise<void> {
  await db.run(sql`
    delete from anti_fraud_reviews where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId}`)
}

export async function postponeReview(db: Db, accounts: Accounts, transactionId: string, dueAt: Date): Promise<void> {
  await db.run(sql`
    update anti_fraud_reviews set due_at = ${dueAt}
    where ${within(accounts, sql`merchant_account_id`)} and transaction_id = ${transactionId}`)
}
