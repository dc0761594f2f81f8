import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'

export interface ApprovalRow {
  merchant_account_id: string
  transaction_id: string
  id: string
  redirect_url: string
}

/** In the transaction of the intent. */
export async function insertApproval(db: Db, row: ApprovalRow, createdAt: Date): Promise<void> {
  await db.run(sql`
    insert into transaction_approvals (merchant_account_id, transaction_id, id, redirect_url, created_at)
    values (${row.merchant_account_id}, ${row.transaction_id}, ${row.id}, ${row.redirect_url}, ${createdAt})`)
}

/** In whatever account it is. */
export async function findApproval(db: Db, id: string): Promise<ApprovalRow | undefined> {
  const [row] = await read<ApprovalRow>(
    db,
    'all',
    (visible) => sql`
      select merchant_account_id, transaction_id, id, redirect_url from transaction_approvals
      where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}
