import { accountOf, type Context } from '../../../context.ts'
import { holdKey, newKey, onceByKey } from '../../../idempotency/keys.ts'
import type { NewKey } from '../../../idempotency/store.ts'
import { timeOfId } from '../../../ids.ts'
import { transact } from '../../../platform/postgres.ts'
import type { Rendered } from '../../../rendered.ts'
import { audit } from '../../audit-logs/operations.ts'
import {
  askGiftCards,
  findActiveGiftCardService,
  findGiftCardService,
  type UsableGiftCardService,
} from '../../gift-card-services/operations/routing.ts'
import type { GiftCardIssuance, NewIssuance } from '../schema.ts'
import { closeIssuance, findIssuance, insertIssuance, type IssuanceRow } from '../store/calls.ts'
import { settleCall } from './calls.ts'
import { refused } from './create.ts'
import { presentService } from './present.ts'

/** Has the provider make a card, which its owner fetches at an address. */
export function issueGiftCard(ctx: Context, input: NewIssuance, idempotencyKey: string | undefined): Promise<Rendered> {
  return onceByKey(
    ctx,
    idempotencyKey,
    input,
    async ({ resource_id }) => {
      const issuance = await findIssuance(ctx.db, ctx.accounts, resource_id ?? '')
      const service =
        issuance &&
        (await findGiftCardService(ctx, {
          merchantAccountId: issuance.merchant_account_id,
          id: issuance.gift_card_service_id,
        }))
      if (!issuance || !service) throw new Error('an issuance cannot be ended')
      return perform(ctx, { issuance, service, key: newKey(ctx, idempotencyKey ?? '', input) })
    },
    async (key) => perform(ctx, { ...(await begin(ctx, input, key)), key }),
  )
}

/** The call is on record, and its key held. */
async function begin(
  ctx: Context,
  input: NewIssuance,
  key: NewKey | null,
): Promise<{ issuance: IssuanceRow; service: UsableGiftCardService }> {
  const service = await findActiveGiftCardService(ctx)
  if (!service) throw refused('invalid_service_configuration')
  const merchantAccountId = accountOf(ctx)
  const id = ctx.newId()
  const issuance: IssuanceRow = {
    merchant_account_id: merchantAccountId,
    id,
    gift_card_service_id: service.id,
    theme: input.theme,
    amount: input.amount,
    currency: input.currency,
    external_identifier: input.external_identifier ?? null,
    created_at: timeOfId(id),
  }
  await transact(ctx, async (ctx) => {
    await holdKey(ctx, key, { merchantAccountId, transactionId: null, resourceId: id })
    await insertIssuance(ctx.db, issuance)
  })
  return { issuance, service }
}

async function perform(
  ctx: Context,
  { issuance, service, key }: { issuance: IssuanceRow; service: UsableGiftCardService; key: NewKey | null },
): Promise<Rendered> {
  const { id, theme, amount, currency, merchant_account_id: merchantAccountId } = issuance
  const outcome = await askGiftCards(ctx, service, (connector, signal) =>
    connector.issue({ service: service.access, reference: id, theme, amount, currency, signal }),
  )
  return await settleCall(ctx, key, outcome, {
    close: (ctx, result) => closeIssuance(ctx.db, ctx.accounts, id, result, ctx.now()),
    async onSuccess(ctx, { providerReference, url }): Promise<GiftCardIssuance> {
      await audit(ctx, 'created', { type: 'gift-card-issuance', id, name: theme, merchantAccountId })
      return {
        type: 'gift-card-issuance',
        id,
        merchant_account_id: merchantAccountId,
        gift_card_service: presentService(service),
        gift_card_service_payment_issuance_id: providerReference,
        url,
        amount,
        currency,
        external_identifier: issuance.external_identifier,
        created_at: issuance.created_at.toISOString(),
        updated_at: ctx.now().toISOString(),
      }
    },
  })
}
