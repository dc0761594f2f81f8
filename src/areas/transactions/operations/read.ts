import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import { Rendered } from '../../../rendered.ts'
import { findTransaction, listTransactionRows } from '../store/transactions.ts'
import { renderSummary, renderTransaction } from './render.ts'

export async function getTransaction(ctx: Context, id: string): Promise<Rendered> {
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return new Rendered(renderTransaction(row))
}

/** The items are text already; only the frame around them is made here. */
export async function listTransactions(ctx: Context, page: PageRequest): Promise<Rendered> {
  const rows = await listTransactionRows(ctx.db, ctx.accounts, page)
  const { items, ...frame } = toCollection(page, rows, ({ id }) => id, renderSummary)
  return new Rendered(`{"items":[${items.join(',')}],${JSON.stringify(frame).slice(1)}`)
}
