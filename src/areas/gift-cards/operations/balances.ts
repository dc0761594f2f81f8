import type {
  BalanceAnswer,
  GiftCardRefusal,
  GiftCardToCharge,
  GiftCardUnknown,
} from '../../../connectors/gift-card.ts'
import { accountOf, type Context } from '../../../context.ts'
import { ValidationFailure } from '../../../errors.ts'
import {
  askGiftCards,
  findActiveGiftCardService,
  findGiftCardService,
  type UsableGiftCardService,
} from '../../gift-card-services/operations/routing.ts'
import { partsOf } from '../rules.ts'
import type { BalancesRequest, GiftCardSummary } from '../schema.ts'
import { type GiftCardRow, type NamedCard, nameCards, readGiftCard } from './cards.ts'
import { summarize } from './present.ts'

/** A buyer is waiting, and one slow provider must not keep back what the others have said. */
export const balanceDeadlineMs = 5_000

/** What is on each of the cards, in the order of the request. A card that cannot be looked up says so, and fails nothing else. */
export async function lookUpBalances(ctx: Context, { items }: BalancesRequest): Promise<{ items: GiftCardSummary[] }> {
  const { cards, problems } = await nameCards(ctx, items, '/items')
  if (problems.length > 0) throw new ValidationFailure(problems)
  const merchantAccountId = accountOf(ctx)
  const [active, services] = await Promise.all([
    cards.some(({ row }) => !row) ? findActiveGiftCardService(ctx) : undefined,
    servicesOf(
      ctx,
      cards.flatMap(({ row }) => row ?? []),
    ),
  ])
  const summaries = cards.map(async ({ row, card }: NamedCard) => {
    if (row)
      return summarize(merchantAccountId, row, await storedBalance(ctx, services.get(row.gift_card_service_id), row))
    return summarize(merchantAccountId, partsOf(card.number), await balanceOf(ctx, active, async () => card))
  })
  return { items: await Promise.all(summaries) }
}

/** The services of stored cards, by id: each card is looked up where it was stored, whatever became of that service. */
export async function servicesOf(
  ctx: Pick<Context, 'db' | 'vault' | 'giftCards'>,
  rows: readonly GiftCardRow[],
): Promise<Map<string, UsableGiftCardService | undefined>> {
  const owners = new Map(rows.map((row) => [row.gift_card_service_id, row.merchant_account_id]))
  return new Map(
    await Promise.all(
      [...owners].map(async ([id, merchantAccountId]) => {
        return [id, await findGiftCardService(ctx, { merchantAccountId, id })] as const
      }),
    ),
  )
}

export const storedBalance = (
  ctx: Pick<Context, 'vault' | 'log'>,
  service: UsableGiftCardService | undefined,
  row: GiftCardRow,
): Promise<BalanceAnswer | GiftCardUnknown> =>
  balanceOf(ctx, service, async () => {
    const card = await readGiftCard(ctx, row)
    if (!card) throw new Error('the number of a gift card is gone')
    return card
  })

const notConfigured: GiftCardRefusal = {
  result: 'failed',
  errorCode: 'invalid_service_configuration',
  rawCode: null,
  rawMessage: null,
}

export async function balanceOf(
  ctx: Pick<Context, 'log'>,
  service: UsableGiftCardService | undefined,
  readCard: () => Promise<GiftCardToCharge>,
): Promise<BalanceAnswer | GiftCardUnknown> {
  if (!service) return notConfigured
  return askGiftCards(
    ctx,
    service,
    async (connector, signal) => connector.balance({ service: service.access, card: await readCard(), signal }),
    balanceDeadlineMs,
  )
}
