import type { BalanceAnswer, GiftCardUnknown } from '../../../connectors/gift-card.ts'
import type { Context } from '../../../context.ts'
import { getBuyersByIds } from '../../buyers/operations.ts'
import type { Buyer } from '../../buyers/schema.ts'
import { describeGiftCardServices, type UsableGiftCardService } from '../../gift-card-services/operations/routing.ts'
import type { GiftCardServiceSummary } from '../../gift-card-services/schema.ts'
import type { NumberParts } from '../rules.ts'
import type { GiftCard, GiftCardSummary } from '../schema.ts'
import type { ActivationRow } from '../store/calls.ts'
import type { GiftCardRow } from '../store/cards.ts'

/** Looks up buyers and services of some cards at once. */
export async function presenter(
  ctx: Pick<Context, 'db' | 'accounts'>,
  rows: readonly GiftCardRow[],
): Promise<(row: GiftCardRow) => GiftCard> {
  const distinct = (ids: readonly (string | null)[]) => [...new Set(ids.filter((id) => id !== null))]
  const buyerIds = distinct(rows.map(({ buyer_id }) => buyer_id))
  const serviceIds = distinct(rows.map(({ gift_card_service_id }) => gift_card_service_id))
  const [buyers, services] = await Promise.all([
    buyerIds.length === 0 ? new Map<string, Buyer>() : getBuyersByIds(ctx, buyerIds),
    serviceIds.length === 0 ? new Map<string, never>() : describeGiftCardServices(ctx, serviceIds),
  ])
  return (row) => {
    const service = services.get(row.gift_card_service_id)
    if (!service) throw new Error('a gift card without a service')
    return present(row, service, row.buyer_id === null ? null : (buyers.get(row.buyer_id) ?? null))
  }
}

export const presentService = ({
  id,
  definitionId,
  displayName,
}: Pick<UsableGiftCardService, 'id' | 'definitionId' | 'displayName'>): GiftCardServiceSummary => ({
  type: 'gift-card-service',
  id,
  gift_card_service_definition_id: definitionId,
  display_name: displayName,
})

export const present = (
  row: GiftCardRow,
  service: Parameters<typeof presentService>[0],
  buyer: Buyer | null,
): GiftCard => ({
  type: 'gift-card',
  id: row.id,
  merchant_account_id: row.merchant_account_id,
  gift_card_service: presentService(service),
  ...presentParts(row),
  expiration_date: row.expiration_date?.toISOString() ?? null,
  buyer,
  ...presentUses(row),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** A card that was activated and is stored nowhere. */
export const presentUnstored = (
  { merchant_account_id, id, created_at, ...card }: ActivationRow,
  service: Parameters<typeof presentService>[0],
): GiftCard => ({
  type: 'gift-card',
  id,
  merchant_account_id,
  gift_card_service: presentService(service),
  ...presentParts(card),
  expiration_date: null,
  buyer: null,
  ...presentUses(neverUsed),
  created_at: created_at.toISOString(),
  updated_at: created_at.toISOString(),
})

const presentParts = ({ bin, sub_bin, last4 }: NumberParts) => ({ bin, sub_bin, last4 })

type Uses = Pick<GiftCardRow, 'last_used_at' | 'usage_count' | 'cit_last_used_at' | 'cit_usage_count'>

const neverUsed: Uses = { last_used_at: null, usage_count: 0, cit_last_used_at: null, cit_usage_count: 0 }

const presentUses = ({ last_used_at, usage_count, cit_last_used_at, cit_usage_count }: Uses) => ({
  last_used_at: last_used_at?.toISOString() ?? null,
  usage_count,
  cit_last_used_at: cit_last_used_at?.toISOString() ?? null,
  cit_usage_count,
})

/** A card and what its provider says of it; nothing in time counts as a broken connection. */
export function summarize(
  merchantAccountId: string,
  card: GiftCardRow | NumberParts,
  answer: BalanceAnswer | GiftCardUnknown,
): GiftCardSummary {
  const stored = 'id' in card ? card : undefined
  const known = answer.result === 'succeeded' ? answer : undefined
  const refused = answer.result === 'failed' ? answer : undefined
  const expiresAt = known?.expiresAt ?? stored?.expiration_date
  return {
    type: 'gift-card',
    id: stored?.id ?? null,
    merchant_account_id: merchantAccountId,
    ...presentParts(card),
    currency: known?.currency ?? null,
    expiration_date: expiresAt?.toISOString() ?? null,
    balance: known?.balance ?? null,
    balance_error_code: refused?.errorCode ?? (known ? null : 'service_network_error'),
    balance_raw_error_code: refused?.rawCode ?? null,
    balance_raw_error_message: refused?.rawMessage ?? null,
    ...presentUses(stored ?? neverUsed),
  }
}
