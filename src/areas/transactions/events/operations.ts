import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import type { Collection } from '../../../schema.ts'
import { findTransaction } from '../store/transactions.ts'
import type { TransactionEvent } from './schema.ts'
import { listTimeline, type TimelineRow } from './store.ts'

export async function listTransactionEvents(
  ctx: Context,
  transactionId: string,
  page: PageRequest,
): Promise<Collection<TransactionEvent>> {
  const [transaction, rows] = await Promise.all([
    findTransaction(ctx.db, ctx.accounts, transactionId),
    listTimeline(ctx.db, ctx.accounts, transactionId, page),
  ])
  if (!transaction) throw notFound()
  return toCollection(page, rows, ({ id }) => id, present)
}

const present = (row: TimelineRow): TransactionEvent => ({
  type: 'transaction-event',
  id: row.id,
  name: row.name,
  created_at: row.created_at.toISOString(),
  context: JSON.parse(row.context) as Record<string, unknown>,
})
