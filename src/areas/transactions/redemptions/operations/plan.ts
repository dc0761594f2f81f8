import type { GiftCardToCharge } from '../../../../connectors/gift-card.ts'
import { accountOf, type Context } from '../../../../context.ts'
import type { Problem } from '../../../../sourcing.ts'
import type { Buyer } from '../../../buyers/schema.ts'
import {
  findActiveGiftCardService,
  findGiftCardService,
  type UsableGiftCardService,
} from '../../../gift-card-services/operations/routing.ts'
import { findGiftCards, type GiftCardRow, readGiftCard } from '../../../gift-cards/operations/cards.ts'
import { partsOf } from '../../../gift-cards/rules.ts'
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
  const shapes = cards.flatMap(shapeProblems)
  if (shapes.length > 0) return { ...none, problems: [...problems, ...shapes] }
  const [known, fingerprints, active] = await Promise.all([
    findGiftCards(
      ctx,
      cards.flatMap(({ id }) => id ?? []),
    ),
    Promise.all(cards.map(({ number }) => (number === undefined ? null : ctx.vault.fingerprintGiftCard(number)))),
    findActiveGiftCardService(ctx),
  ])
  const found = cards.map((card, index) =>
    planOne(card, index, { known, fingerprint: fingerprints[index] ?? null, active }),
  )
  const planned = found.flatMap(({ plan }) => plan ?? [])
  const redemptions = planned.map((plan, index) => redemptionOf(ctx, plan, index))
  const [first] = redemptions
  const service = first && (await serviceShown(ctx, first, active))
  return {
    redemptions,
    amount: total(cards),
    service: service ?? null,
    unstored: new Map(
      redemptions.flatMap(({ id }, index) => (planned[index]?.card ? [[id, planned[index].card]] : [])),
    ),
    owners: planned.map(({ buyerId }) => buyerId),
    fingerprints,
    problems: [
      ...problems,
      ...(cards.length > ctx.maxGiftCards
        ? [
            {
              pointer: '/gift_cards',
              type: 'value_error.length',
              message: `Must have at most ${ctx.maxGiftCards} item(s)`,
            },
          ]
        : []),
      ...found.flatMap(({ problem }) => problem ?? []),
      ...duplicates(planned),
    ],
  }
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

function shapeProblems({ id, number, pin }: GiftCardToPay, index: number): Problem[] {
  const at = `/gift_cards/${index}`
  if (id !== undefined) {
    return (['number', 'pin'] as const)
      .filter((name) => (name === 'number' ? number : pin) !== undefined)
      .map((name) => ({
        pointer: `${at}/${name}`,
        type: 'value_error.conflict',
        message: 'A stored gift card is named by its id alone',
      }))
  }
  return [
    ...(number === undefined
      ? [
          {
            pointer: `${at}/number`,
            type: 'value_error.missing',
            message: 'This field is required, or the id of a stored gift card',
          },
        ]
      : []),
    ...(pin === undefined
      ? [{ pointer: `${at}/pin`, type: 'value_error.missing', message: 'This field is required' }]
      : []),
  ]
}

interface Plan {
  index: number
  amount: number
  buyerId: string | null
  /** Null for a stored card. */
  card: GiftCardToCharge | null
  row: Pick<RedemptionRow, 'gift_card_service_id' | 'gift_card_id' | 'fingerprint' | 'bin' | 'sub_bin' | 'last4'>
}

function planOne(
  { id, number = '', pin = '', amount }: GiftCardToPay,
  index: number,
  options: { known: readonly GiftCardRow[]; fingerprint: string | null; active: UsableGiftCardService | undefined },
): { plan?: Plan; problem?: Problem } {
  if (id !== undefined) {
    const stored = options.known.find((card) => card.id === id)
    const pointer = `/gift_cards/${index}/id`
    if (!stored) return { problem: { pointer, type: 'value_error.unknown', message: 'There is no such gift card' } }
    const { gift_card_service_id, fingerprint, bin, sub_bin, last4, buyer_id: buyerId } = stored
    return {
      plan: {
        index,
        amount,
        buyerId,
        card: null,
        row: { gift_card_service_id, gift_card_id: id, fingerprint, bin, sub_bin, last4 },
      },
    }
  }
  const { active, fingerprint } = options
  if (!active || fingerprint === null) {
    const message = 'No gift card service is active: create one by POST /gift-card-services'
    return { problem: { pointer: `/gift_cards/${index}`, type: 'value_error.unsupported', message } }
  }
  return {
    plan: {
      index,
      amount,
      buyerId: null,
      card: { number, pin, fingerprint },
      row: { gift_card_service_id: active.id, gift_card_id: null, fingerprint, ...partsOf(number) },
    },
  }
}

function duplicates(planned: readonly Plan[]): Problem[] {
  const isRepeated = (plan: Plan) =>
    planned.some((other) => other.index < plan.index && other.row.fingerprint === plan.row.fingerprint)
  return planned.filter(isRepeated).map(({ index }) => ({
    pointer: `/gift_cards/${index}`,
    type: 'value_error.conflict',
    message: 'Is the same gift card as an earlier one; name it once, with the whole amount',
  }))
}

const redemptionOf = (ctx: Context, { amount, row }: Plan, index: number): RedemptionRow => ({
  merchant_account_id: accountOf(ctx),
  transaction_id: '',
  id: ctx.newId(),
  position: index + 1,
  ...row,
  amount,
  status: 'created',
  reversed: false,
  gift_card_service_redemption_id: null,
  error_code: null,
  raw_error_code: null,
  raw_error_message: null,
  refunded_amount: 0,
})

async function serviceShown(
  ctx: Context,
  { merchant_account_id: merchantAccountId, gift_card_service_id: id }: RedemptionRow,
  active: UsableGiftCardService | undefined,
): Promise<PlannedGiftCards['service']> {
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
