import type { GiftCardErrorCode, GiftCardToCharge } from '../../../connectors/gift-card.ts'
import { accountOf, type Context } from '../../../context.ts'
import { ApiError, duplicateRecord, invalidBody, ValidationFailure } from '../../../errors.ts'
import { emit } from '../../../events/outbox.ts'
import { timeOfId } from '../../../ids.ts'
import { transact } from '../../../platform/postgres.ts'
import { audit } from '../../audit-logs/operations.ts'
import { findNamedBuyer, lockBuyer, namedBuyerProblems } from '../../buyers/operations.ts'
import type { Buyer } from '../../buyers/schema.ts'
import { findActiveGiftCardService, type UsableGiftCardService } from '../../gift-card-services/operations/routing.ts'
import { mostOfABuyer, partsOf } from '../rules.ts'
import type { GiftCard, NewGiftCard } from '../schema.ts'
import { type GiftCardRow, insertRow, lockedCardsOf } from '../store/cards.ts'
import { balanceOf } from './balances.ts'
import { fingerprinted, forgetNumbers, storeNumber } from './cards.ts'
import { present } from './present.ts'

/** Stores a card that its provider knows: number and PIN in the vault, what may be shown in our table. */
export async function createGiftCard(ctx: Context, input: NewGiftCard): Promise<GiftCard> {
  const [buyer, service, card] = await Promise.all([
    findNamedBuyer(ctx, input),
    findActiveGiftCardService(ctx),
    fingerprinted(ctx, input),
  ])
  const problems = namedBuyerProblems(input, buyer)
  if (problems.length > 0) throw new ValidationFailure(problems)
  const answer = await balanceOf(ctx, service, async () => card)
  if (answer.result === 'unknown') throw noAnswer('The gift card provider did not answer in time; nothing was stored')
  if (answer.result === 'failed' || !service) {
    throw refused(answer.result === 'failed' ? answer.errorCode : 'invalid_service_configuration')
  }
  if (answer.expiresAt !== null && answer.expiresAt <= ctx.now()) throw refused('expired_card')
  const row = await storeCard(ctx, { card, service, buyer: buyer ?? null, expiresAt: answer.expiresAt })
  return present(row, service, buyer ?? null)
}

export interface CardToStore {
  card: GiftCardToCharge
  service: UsableGiftCardService
  buyer: Buyer | null
  expiresAt: Date | null
}

/** The vault first: should we die before our own commit, the sweep removes its rows. */
async function storeCard(ctx: Context, { card, service, buyer, expiresAt }: CardToStore): Promise<GiftCardRow> {
  const id = ctx.newId()
  const reference = { merchantAccountId: accountOf(ctx), id }
  await storeNumber(ctx, reference, card)
  try {
    return await transact(ctx, async (ctx) => {
      if (buyer) await requireRoom(ctx, buyer.id, card.fingerprint)
      return insertCard(ctx, { id, card, service, buyer, expiresAt })
    })
  } catch (error) {
    if (error instanceof ApiError) await forgetNumbers(ctx, [reference])
    throw error
  }
}

/** With the buyer locked, so that of several requests at once each sees what those before it have stored. */
export async function requireRoom(ctx: Context, buyerId: string, fingerprint: string): Promise<void> {
  if (!(await lockBuyer(ctx, buyerId))) {
    throw invalidBody('/buyer_id', 'value_error.unknown', 'There is no such buyer')
  }
  const cards = await lockedCardsOf(ctx.db, ctx.accounts, buyerId)
  const same = cards.find((one) => one.fingerprint === fingerprint)
  if (same) throw duplicateRecord('The buyer has this gift card already', same.id)
  if (cards.length >= mostOfABuyer) throw refused('max_gift_cards_reached')
}

/** The row with its audit row and its event. In a transaction. */
export async function insertCard(
  ctx: Context,
  { id, card, service, buyer, expiresAt }: CardToStore & { id: string },
): Promise<GiftCardRow> {
  const merchantAccountId = accountOf(ctx)
  const row = await insertRow(ctx.db, {
    merchant_account_id: merchantAccountId,
    id,
    gift_card_service_id: service.id,
    buyer_id: buyer?.id ?? null,
    fingerprint: card.fingerprint,
    ...partsOf(card.number),
    expiration_date: expiresAt,
    created_at: timeOfId(id),
  })
  await audit(ctx, 'created', { type: 'gift-card', id, name: row.last4, merchantAccountId })
  await emit(ctx, 'gift-card.created', {
    target: present(row, service, buyer),
    merchantAccountId,
    sequence: row.version,
  })
  return row
}

/** Says why in its type alone: whoever guesses numbers learns from no other word which of them exist. */
export const refused = (errorCode: GiftCardErrorCode) =>
  invalidBody('', `value_error.${errorCode}`, 'The gift card cannot be used; the type says why')

export const noAnswer = (message: string) => new ApiError('gateway_timeout', { message })
