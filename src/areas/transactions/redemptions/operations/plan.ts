import type { GiftCardToCharge } from '../../../../connectors/gift-card.ts'
import { accountOf, type Context } from '../../../../context.ts'
import type { Problem } from '../../../../sourcing.ts'
import type { Buyer } from '../../../buyers/schema.ts'
import {
  findActiveGiftCardService,
  findGiftCardService,
  type UsableGiftCardService,
} from '../../../gift-card-services/operations/routing.ts'
import { nameCards, type NamedCard, partsOf, readGiftCard } from '../../../gift-cards/operations/cards.ts'
import type { Payment } from '../../schema/create.ts'
import type { GiftCardToPay } from '../schema.ts'
import type { RedemptionRow } from '../store.ts'
import type { CardOf } from './redeem.ts'

/** Gift cards that are to pay, before anybody is asked. */
export interface PlannedGiftCards {
  /** But for the transaction, which has no id yet. */
  redemptions: readonly RedemptionRow[]
  /** What they pay together. */
  amount: number
  /** As the transaction shows it. */
  service: {
    type: 'gift-card-service'
    id: string
    gift_card_service_definition_id: string
    display_name: string
  } | null
  /** Of the cards that are not stored, by redemption. They live as long as the request does. */
  unstored: ReadonlyMap<string, GiftCardToCharge>
  /** Whose the stored ones are, in the order of the request. */
  owners: readonly (string | null)[]
  /** Of the numbers, in the order of the request: what tells one request from another. */
  fingerprints: readonly (string | null)[]
  problems: readonly Problem[]
}

const none: PlannedGiftCards = {
  redemptions: [],
  amount: 0,
  service: null,
  unstored: new Map(),
  owners: [],
  fingerprints: [],
  problems: [],
}

export async function planGiftCards(ctx: Context, input: Payment): Promise<PlannedGiftCards> {
  const cards = input.gift_cards ?? []
  const problems = amountProblems(input, cards)
  if (cards.length === 0) return { ...none, problems }
  const [named, active] = await Promise.all([nameCards(ctx, cards, '/gift_cards'), findActiveGiftCardService(ctx)])
  const isServed = active !== undefined || named.cards.every(({ row }) => row)
  if (named.problems.length > 0 || !isServed) {
    return { ...none, problems: [...problems, ...named.problems, ...(isServed ? [] : [notServed])] }
  }
  const redemptions = named.cards.map((card, index) =>
    redemptionOf(ctx, card, cards[index]?.amount ?? 0, index, active),
  )
  const unstored = redemptions.flatMap(({ id }, index) => {
    const { card } = named.cards[index] ?? {}
    return card ? ([[id, card]] as const) : []
  })
  return {
    redemptions,
    amount: total(cards),
    service: await serviceShown(ctx, redemptions[0], active),
    unstored: new Map(unstored),
    owners: named.cards.map(({ row }) => row?.buyer_id ?? null),
    fingerprints: named.cards.map(({ card }) => card?.fingerprint ?? null),
    problems,
  }
}

const notServed: Problem = {
  pointer: '/gift_cards',
  type: 'value_error.unsupported',
  message: 'No gift card service is active: create one by POST /gift-card-services',
}

const total = (cards: readonly GiftCardToPay[]) => cards.reduce((sum, { amount }) => sum + amount, 0)

/** Everything is paid, once. */
function amountProblems({ amount, payment_method: method }: Payment, cards: readonly GiftCardToPay[]): Problem[] {
  const rest = amount - total(cards)
  if (cards.length === 0) {
    const message = 'Pay with a payment method, with gift cards, or with both'
    return method ? [] : [{ pointer: '/payment_method', type: 'value_error.missing', message }]
  }
  if (rest < 0) {
    const message = `The gift cards must pay at most the amount, ${amount}, together`
    return [{ pointer: '/gift_cards', type: 'value_error.range', message }]
  }
  if (rest > 0 && !method) {
    const message = `The gift cards leave ${rest} to pay: add a payment method`
    return [{ pointer: '/payment_method', type: 'value_error.missing', message }]
  }
  if (rest === 0 && method) {
    const message = 'The gift cards pay everything: leave the payment method out'
    return [{ pointer: '/payment_method', type: 'value_error.conflict', message }]
  }
  return []
}

function redemptionOf(
  ctx: Context,
  { row, card }: NamedCard,
  amount: number,
  index: number,
  active: UsableGiftCardService | undefined,
): RedemptionRow {
  return {
    merchant_account_id: accountOf(ctx),
    transaction_id: '',
    id: ctx.newId(),
    position: index + 1,
    gift_card_service_id: row?.gift_card_service_id ?? active?.id ?? '',
    gift_card_id: row?.id ?? null,
    fingerprint: row?.fingerprint ?? card?.fingerprint ?? '',
    ...(row ? { bin: row.bin, sub_bin: row.sub_bin, last4: row.last4 } : partsOf(card?.number ?? '')),
    amount,
    status: 'created',
    reversed: false,
    gift_card_service_redemption_id: null,
    error_code: null,
    raw_error_code: null,
    raw_error_message: null,
    refunded_amount: 0,
  }
}

async function serviceShown(
  ctx: Context,
  first: RedemptionRow | undefined,
  active: UsableGiftCardService | undefined,
): Promise<PlannedGiftCards['service']> {
  if (!first) return null
  const { merchant_account_id: merchantAccountId, gift_card_service_id: id } = first
  const service = active?.id === id ? active : await findGiftCardService(ctx, { merchantAccountId, id })
  return service
    ? {
        type: 'gift-card-service',
        id: service.id,
        gift_card_service_definition_id: service.definitionId,
        display_name: service.displayName,
      }
    : null
}

/** A stored card is its owner's to pay with. */
export function ownerProblems({ redemptions, owners }: PlannedGiftCards, buyer: Buyer | undefined): Problem[] {
  return redemptions.flatMap((_redemption, index) => {
    const owner = owners[index]
    if (!buyer || !owner || owner === buyer.id) return []
    const message = 'The gift card does not belong to this buyer'
    return [{ pointer: `/gift_cards/${index}/id`, type: 'value_error.conflict', message }]
  })
}

const waitingFields = (card: GiftCardToCharge) => ({ gift_card_number: card.number, gift_card_pin: card.pin })

/** While a buyer is asked, the cards that are not stored wait in the vault. Before the intent: what nobody comes for expires. */
export async function keepWaiting(ctx: Context, { unstored }: PlannedGiftCards, expiresAt: Date): Promise<void> {
  const merchantAccountId = accountOf(ctx)
  await Promise.all(
    [...unstored].map(([id, card]) =>
      ctx.vault.storeWaiting({ merchantAccountId, id }, waitingFields(card), expiresAt),
    ),
  )
}

export async function forgetWaiting(ctx: Context, { unstored }: PlannedGiftCards): Promise<void> {
  const merchantAccountId = accountOf(ctx)
  await Promise.all(
    [...unstored].map(([id]) =>
      ctx.vault.takeWaiting({ merchantAccountId, id }, ['gift_card_number', 'gift_card_pin']),
    ),
  )
}

/** In the request that brought them. */
export const cardsOfRequest =
  (ctx: Context, { unstored }: PlannedGiftCards): CardOf =>
  async ({ merchant_account_id, id, gift_card_id, fingerprint }) =>
    gift_card_id ? readGiftCard(ctx, { merchant_account_id, id: gift_card_id, fingerprint }) : unstored.get(id)
