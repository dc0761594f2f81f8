import type { Context } from '../../../context.ts'
import { notFound, ValidationFailure } from '../../../errors.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import type { Collection } from '../../../schema.ts'
import { findBuyerByReference, findBuyerIdsByExternalIdentifier } from '../../buyers/operations.ts'
import type {
  ListBuyerPaymentMethodsQuery,
  ListPaymentMethodsQuery,
  PaymentMethod,
  PaymentMethodSummary,
} from '../schema.ts'
import { findPaymentMethod, listPaymentMethodRows, listUsableRows } from '../store.ts'
import { presenter, summarize } from './present.ts'

export async function getPaymentMethod(ctx: Pick<Context, 'db' | 'accounts'>, id: string): Promise<PaymentMethod> {
  const row = await findPaymentMethod(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return (await presenter(ctx, [row]))(row)
}

export async function listPaymentMethods(
  ctx: Context,
  query: ListPaymentMethodsQuery,
  page: PageRequest,
): Promise<Collection<PaymentMethod>> {
  const found = await listPaymentMethodRows(
    ctx.db,
    ctx.accounts,
    { status: query.status, external_identifier: query.external_identifier, buyerIds: await buyerIds(ctx, query) },
    page,
  )
  return toCollection(page, found, ({ id }) => id, await presenter(ctx, found.rows))
}

/** Both filters at once name the same buyer or nobody. With `*` a reference may belong to buyers of several accounts. */
async function buyerIds(
  ctx: Context,
  { buyer_id, buyer_external_identifier }: ListPaymentMethodsQuery,
): Promise<string[] | undefined> {
  if (buyer_external_identifier === undefined) return buyer_id === undefined ? undefined : [buyer_id]
  const ids = await findBuyerIdsByExternalIdentifier(ctx, buyer_external_identifier)
  return buyer_id === undefined ? ids : ids.filter((id) => id === buyer_id)
}

const mostMethodsOfABuyer = 500

export async function listBuyerPaymentMethods(
  ctx: Context,
  query: ListBuyerPaymentMethodsQuery,
): Promise<{ items: PaymentMethodSummary[] }> {
  const { buyer_id, buyer_external_identifier, country, currency, sort_by, order_by = 'desc' } = query
  if (Boolean(buyer_id) === Boolean(buyer_external_identifier)) {
    const message = 'Name the buyer by buyer_id or by buyer_external_identifier'
    const type = buyer_id ? 'value_error.conflict' : 'value_error.missing'
    throw new ValidationFailure([{ location: 'query', pointer: 'buyer_id', message, type }])
  }
  const buyer = await findBuyerByReference(ctx, { id: buyer_id, externalIdentifier: buyer_external_identifier })
  if (!buyer) return { items: [] }
  const rows = await listUsableRows(
    ctx.db,
    ctx.accounts,
    { buyerId: buyer.id, country, currency },
    { by: sort_by, direction: order_by },
    mostMethodsOfABuyer,
  )
  return { items: rows.map(summarize) }
}
