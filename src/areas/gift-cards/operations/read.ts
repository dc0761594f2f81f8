import { accountOf, type Context } from '../../../context.ts'
import { notFound, ValidationFailure } from '../../../errors.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import type { Collection } from '../../../schema.ts'
import { findBuyerByReference, findBuyerIdsByExternalIdentifier } from '../../buyers/operations.ts'
import { isSpent } from '../rules.ts'
import type { GiftCard, GiftCardSummary, ListBuyerGiftCardsQuery, ListGiftCardsQuery } from '../schema.ts'
import { findRows, listRows, listRowsOfBuyer } from '../store/cards.ts'
import { servicesOf, storedBalance } from './balances.ts'
import { archiveCards } from './change.ts'
import { presenter, summarize } from './present.ts'

export async function getGiftCard(ctx: Pick<Context, 'db' | 'accounts'>, id: string): Promise<GiftCard> {
  const [row] = await findRows(ctx.db, ctx.accounts, [id])
  if (!row) throw notFound()
  return (await presenter(ctx, [row]))(row)
}

export async function listGiftCards(
  ctx: Context,
  query: ListGiftCardsQuery,
  page: PageRequest,
): Promise<Collection<GiftCard>> {
  const found = await listRows(ctx.db, ctx.accounts, { buyerIds: await buyerIds(ctx, query) }, page)
  return toCollection(page, found, ({ id }) => id, await presenter(ctx, found.rows))
}

/** Both filters at once name the same buyer or nobody. With `*` a reference may belong to buyers of several accounts. */
async function buyerIds(
  ctx: Context,
  { buyer_id, buyer_external_identifier }: ListGiftCardsQuery,
): Promise<string[] | undefined> {
  if (buyer_external_identifier === undefined) return buyer_id === undefined ? undefined : [buyer_id]
  const ids = await findBuyerIdsByExternalIdentifier(ctx, buyer_external_identifier)
  return buyer_id === undefined ? ids : ids.filter((id) => id === buyer_id)
}

/** The cards that a buyer can use, with what is on them. Those that turn out to be spent are archived; those that nobody could ask about stay. */
export async function listBuyerGiftCards(
  ctx: Context,
  query: ListBuyerGiftCardsQuery,
): Promise<{ items: GiftCardSummary[] }> {
  const { buyer_id, buyer_external_identifier, sort_by, order_by = 'desc' } = query
  if (Boolean(buyer_id) === Boolean(buyer_external_identifier)) {
    const message = 'Name the buyer by buyer_id or by buyer_external_identifier'
    const type = buyer_id ? 'value_error.conflict' : 'value_error.missing'
    throw new ValidationFailure([{ location: 'query', pointer: 'buyer_id', message, type }])
  }
  const buyer = await findBuyerByReference(ctx, { id: buyer_id, externalIdentifier: buyer_external_identifier })
  if (!buyer) return { items: [] }
  const rows = await listRowsOfBuyer(ctx.db, ctx.accounts, buyer.id, { by: sort_by, direction: order_by })
  const services = await servicesOf(ctx, rows)
  const looked = await Promise.all(
    rows.map(async (row) => ({ row, answer: await storedBalance(ctx, services.get(row.gift_card_service_id), row) })),
  )
  const isUseless = ({ answer }: (typeof looked)[number]) =>
    answer.result === 'succeeded'
      ? isSpent(answer, ctx.now())
      : answer.result === 'failed' && answer.errorCode === 'expired_card'
  const useless = looked.filter(isUseless)
  if (useless.length > 0) {
    await archiveCards(
      ctx,
      useless.map(({ row }) => row),
    )
  }
  const account = accountOf(ctx)
  return {
    items: looked.filter((one) => !isUseless(one)).map(({ row, answer }) => summarize(account, row, answer)),
  }
}
