import type { Context } from '../../../context.ts'
import { ApiError, notFound } from '../../../errors.ts'
import { cursorsOf, type PageRequest } from '../../../page.ts'
import { isOutOfTime } from '../../../platform/postgres.ts'
import { Rendered } from '../../../rendered.ts'
import type { TransactionFilters } from '../schema/filters.ts'
import { type ListPage, readList } from '../store/list.ts'
import type { Search } from '../store/search.ts'
import { findTransaction } from '../store/transactions.ts'
import { searchOf } from './filters.ts'
import { renderTransaction } from './render.ts'

export async function getTransaction(ctx: Context, id: string): Promise<Rendered> {
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return new Rendered(renderTransaction(row))
}

/** The items are text already; only the frame around them is made here. */
export async function listTransactions(
  ctx: Context,
  filters: TransactionFilters,
  page: PageRequest,
): Promise<Rendered> {
  const search = searchOf(filters)
  const { items, ...edges } = search ? await readPage(ctx, filters, search, page) : nothing
  return new Rendered(['{"items":[', items, '],', JSON.stringify(cursorsOf(page, edges)).slice(1)])
}

const nothing: ListPage = { items: '', hasAhead: false, hasBehind: false, newest: undefined, oldest: undefined }

async function readPage(
  ctx: Context,
  filters: TransactionFilters,
  search: Search,
  page: PageRequest,
): Promise<ListPage> {
  try {
    return await readList(ctx.db, ctx.accounts, search, page)
  } catch (error) {
    if (!isOutOfTime(error)) throw error
    throw new ApiError('gateway_timeout', {
      message: `The transactions could not be looked through in time. ${adviceFor(filters)}`,
      reason: 'statement_timeout of a list',
    })
  }
}

/** A filter that makes what must be looked through less. */
function adviceFor({ created_at_gte, created_at_lte }: TransactionFilters): string {
  const exact =
    'or one that few transactions match, such as external_identifier, buyer_id or payment_service_transaction_id'
  if (created_at_gte === undefined) return `Add the filter created_at_gte, ${exact}`
  return created_at_lte === undefined
    ? `Add the filter created_at_lte too, or a later created_at_gte, ${exact}`
    : `Move created_at_gte and created_at_lte closer together, or add a filter ${exact.slice(3)}`
}
