import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, writeAtOnce } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { TimelineEntry, TransactionRow } from './rows.ts'

/** What was said about fraud, unless the payment is over already. No version of its own: nobody is told before the outcome. */
export async function recordDecision(
  db: Db,
  accounts: Accounts,
  { row, timeline, reviewBy }: { row: TransactionRow; timeline: readonly TimelineEntry[]; reviewBy: Date | null },
): Promise<void> {
  const { merchant_account_id, id, anti_fraud_decision } = row
  const record = { merchant_account_id, id, anti_fraud_decision, review_by: reviewBy }
  await writeAtOnce(
    db,
    accounts,
    sql`
    with input as materialized (
        select * from json_to_record(${JSON.stringify(record)}::json) as record (
          merchant_account_id text, id uuid, anti_fraud_decision text, review_by timestamptz
        )
        where ${within(accounts, sql`merchant_account_id`)}
      ),
      decided as (
        update transactions set anti_fraud_decision = input.anti_fraud_decision
        from input
        where transactions.merchant_account_id = input.merchant_account_id and transactions.id = input.id and status = 'processing'
        returning transactions.merchant_account_id, transactions.id, input.review_by
      ),
      awaited as (
        insert into anti_fraud_reviews (merchant_account_id, transaction_id, due_at)
        select merchant_account_id, id, review_by from decided where review_by is not null
      )
    insert into transaction_events (merchant_account_id, transaction_id, id, name, context, created_at)
    select decided.merchant_account_id, line.transaction_id, line.id, line.name, line.context, line.created_at
    from json_to_recordset(${JSON.stringify(timeline)}::json) as line (transaction_id uuid, id uuid, name text, context text, created_at timestamptz)
      join decided on decided.id = line.transaction_id`,
  )
}
