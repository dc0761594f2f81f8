import { type PageRequest, type PageRows, readPage } from '../../../page.ts'
import type { Accounts } from '../../../platform/accounts.ts'
import type { Db } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'

export interface TimelineRow {
  id: string
  name: string
  context: string
  created_at: Date
}

export function listTimeline(
  db: Db,
  accounts: Accounts,
  transactionId: string,
  page: PageRequest,
): Promise<PageRows<TimelineRow>> {
  return readPage(db, accounts, page, {
    columns: sql`id, name, context, created_at`,
    from: sql`transaction_events`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and transaction_id = ${transactionId}`,
    id: sql`id`,
  })
}
