import { accountOf, type Context } from '../../../context.ts'
import { ValidationFailure } from '../../../errors.ts'
import { holdKey, newKey, onceByKey } from '../../../idempotency/keys.ts'
import type { NewKey } from '../../../idempotency/store.ts'
import { timeOfId } from '../../../ids.ts'
import { transact } from '../../../platform/postgres.ts'
import type { Rendered } from '../../../rendered.ts'
import { audit } from '../../audit-logs/operations.ts'
import { findNamedBuyer, lockBuyer, namedBuyerProblems } from '../../buyers/operations.ts'
import type { Buyer } from '../../buyers/schema.ts'
import {
  askGiftCards,
  findActiveGiftCardService,
  findGiftCardService,
  type UsableGiftCardService,
} from '../../gift-card-services/operations/routing.ts'
import { activationProblems, partsOf } from '../rules.ts'
import type { GiftCard, NewActivation } from '../schema.ts'
import { type ActivationRow, closeActivation, findActivation, insertActivation } from '../store/calls.ts'
import { findRows, lockedCardsOf } from '../store/cards.ts'
import { settleCall } from './calls.ts'
import { fingerprinted, forgetNumbers, storeNumber } from './cards.ts'
import { insertCard, refused, requireRoom } from './create.ts'
import { present, presentUnstored } from './present.ts'

type Card = Awaited<ReturnType<typeof fingerprinted<string | null>>>

/** An activation as it was asked for. */
interface Asked {
  input: NewActivation
  card: Card
  buyer: Buyer | null
}

/** Makes a card usable, and stores it if that is wanted. */
export async function activateGiftCard(
  ctx: Context,
  input: NewActivation,
  idempotencyKey: string | undefined,
): Promise<Rendered> {
  const [buyer, card] = await Promise.all([
    findNamedBuyer(ctx, input),
    fingerprinted(ctx, { number: input.number, pin: input.pin ?? null }),
  ])
  const problems = [...activationProblems(input), ...(input.store ? namedBuyerProblems(input, buyer) : [])]
  if (problems.length > 0) throw new ValidationFailure(problems)
  const asked: Asked = { input, card, buyer: buyer ?? null }
  const { pin: _pin, ...request } = { ...input, number: card.fingerprint }
  return onceByKey(
    ctx,
    idempotencyKey,
    request,
    async ({ resource_id }) => {
      const activation = await findActivation(ctx.db, ctx.accounts, resource_id ?? '')
      const service =
        activation &&
        (await findGiftCardService(ctx, {
          merchantAccountId: activation.merchant_account_id,
          id: activation.gift_card_service_id,
        }))
      if (!activation || !service) throw new Error('an activation cannot be ended')
      return perform(ctx, asked, { activation, service, key: newKey(ctx, idempotencyKey ?? '', request) })
    },
    async (key) => perform(ctx, asked, { ...(await begin(ctx, asked, key)), key }),
  )
}

/** The call is on record, and its key held. */
async function begin(
  ctx: Context,
  { input, card, buyer }: Asked,
  key: NewKey | null,
): Promise<{ activation: ActivationRow; service: UsableGiftCardService }> {
  const service = await findActiveGiftCardService(ctx)
  if (!service) throw refused('invalid_service_configuration')
  const merchantAccountId = accountOf(ctx)
  const id = ctx.newId()
  const activation: ActivationRow = {
    merchant_account_id: merchantAccountId,
    id,
    gift_card_service_id: service.id,
    fingerprint: card.fingerprint,
    ...partsOf(card.number),
    amount: input.amount ?? null,
    currency: input.currency ?? null,
    external_identifier: input.external_identifier ?? null,
    created_at: timeOfId(id),
  }
  await transact(ctx, async (ctx) => {
    await holdKey(ctx, key, { merchantAccountId, transactionId: null, resourceId: id })
    if (buyer) await requireRoom(ctx, buyer.id, card.fingerprint)
    await insertActivation(ctx.db, activation)
  })
  return { activation, service }
}

async function perform(
  ctx: Context,
  { input, card, buyer }: Asked,
  { activation, service, key }: { activation: ActivationRow; service: UsableGiftCardService; key: NewKey | null },
): Promise<Rendered> {
  const { id, amount, currency, merchant_account_id: merchantAccountId } = activation
  const value = amount === null || currency === null ? null : { amount, currency }
  const outcome = await askGiftCards(ctx, service, (connector, signal) =>
    connector.activate({ service: service.access, reference: id, card, value, signal }),
  )
  const { number, pin, fingerprint } = card
  const stored = input.store && pin !== null ? { number, pin, fingerprint } : undefined
  // Under the id of the activation, so that who ends it after us stores it there again.
  if (stored && outcome.result === 'succeeded') await storeNumber(ctx, { merchantAccountId, id }, stored)
  let isHeldBefore = false
  const answer = await settleCall(ctx, key, outcome, {
    close: (ctx, result) => closeActivation(ctx.db, ctx.accounts, id, result, ctx.now()),
    async onSuccess(ctx): Promise<GiftCard> {
      await audit(ctx, 'created', { type: 'gift-card-activation', id, name: activation.last4, merchantAccountId })
      if (!stored) return presentUnstored(activation, service)
      const before = buyer && (await heldBefore(ctx, buyer.id, fingerprint))
      isHeldBefore = Boolean(before)
      const row = before ?? (await insertCard(ctx, { id, card: stored, service, buyer, expiresAt: null }))
      return present(row, service, buyer)
    },
  })
  if (isHeldBefore) await forgetNumbers(ctx, [{ merchantAccountId, id }])
  return answer
}

/** The same card, where the buyer has got it in the meantime: the provider has done its part, so that nothing can be refused any more. */
async function heldBefore(ctx: Context, buyerId: string, fingerprint: string) {
  await lockBuyer(ctx, buyerId)
  const same = (await lockedCardsOf(ctx.db, ctx.accounts, buyerId)).find((one) => one.fingerprint === fingerprint)
  const [row] = same ? await findRows(ctx.db, ctx.accounts, [same.id]) : []
  return row
}
