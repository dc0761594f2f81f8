import type { GiftCardServiceDefinition } from '../../../connectors/gift-card.ts'
import { accountOf, type Context } from '../../../context.ts'
import { invalidBody, notFound, ValidationFailure } from '../../../errors.ts'
import { timeOfId } from '../../../ids.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import { transact, violates } from '../../../platform/postgres.ts'
import type { Collection } from '../../../schema.ts'
import type { SecretReference } from '../../../vault/client.ts'
import { audit } from '../../audit-logs/operations.ts'
import { applyFields, fieldProblems, noFields, type SecretChange } from '../rules.ts'
import type { GiftCardService, GiftCardServiceUpdate, NewGiftCardService } from '../schema.ts'
import {
  findService,
  type GiftCardServiceRow,
  type GiftCardServiceSettings,
  insertService,
  listServices,
  markDeleted,
  updateService,
} from '../store.ts'

type Reader = Pick<Context, 'db' | 'accounts'>

export async function listGiftCardServices(ctx: Reader, page: PageRequest): Promise<Collection<GiftCardService>> {
  return toCollection(page, await listServices(ctx.db, ctx.accounts, page), ({ id }) => id, present)
}

export async function getGiftCardService(ctx: Reader, id: string): Promise<GiftCardService> {
  const row = await findService(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return present(row)
}

export async function createGiftCardService(ctx: Context, input: NewGiftCardService): Promise<GiftCardService> {
  const merchantAccountId = accountOf(ctx)
  const definition = ctx.giftCards.get(input.gift_card_service_definition_id)?.definition
  if (!definition) {
    const message = 'There is no such gift card service definition'
    throw invalidBody('/gift_card_service_definition_id', 'value_error.unknown', message)
  }
  const id = ctx.newId()
  const blank = { ...noFields, display_name: input.display_name, active: true }
  const { settings, secrets } = changed(definition, blank, input)
  await saveSecrets(ctx, { merchantAccountId, id }, secrets)
  return await onlyOneActive(ctx, async (ctx) => {
    const row = await insertService(ctx.db, {
      ...settings,
      merchant_account_id: merchantAccountId,
      id,
      definition_id: definition.id,
      created_at: timeOfId(id),
    })
    return record(ctx, 'created', row)
  })
}

const mostAttempts = 20

/** As of payment services: the vault first, and the row only if it is still as it was read, so that both are of the same change. */
export async function updateGiftCardService(
  ctx: Context,
  id: string,
  input: GiftCardServiceUpdate,
): Promise<GiftCardService> {
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const current = await findService(ctx.db, ctx.accounts, id)
    if (!current) throw notFound()
    const definition = ctx.giftCards.get(current.definition_id)?.definition
    if (!definition) throw invalidBody('', 'value_error.unsupported', 'Its definition is not part of this instance')
    const { settings, secrets } = changed(definition, current, input)
    await saveSecrets(ctx, { merchantAccountId: current.merchant_account_id, id }, secrets)
    const updated = await onlyOneActive(ctx, async (ctx) => {
      const row = await updateService(ctx.db, ctx.accounts, current, settings, ctx.now())
      return row && record(ctx, 'updated', row)
    })
    if (updated) return updated
  }
  throw new Error('the gift card service changes faster than it can be updated')
}

/** The row stays, marked, and its secrets with it: what was redeemed there can still be given back. */
export async function deleteGiftCardService(ctx: Context, id: string): Promise<void> {
  await transact(ctx, async (ctx) => {
    const row = await markDeleted(ctx.db, ctx.accounts, id, ctx.now())
    if (!row) throw notFound()
    await record(ctx, 'deleted', row)
  })
}

/** The service as it would be, and what the vault has to do for it; refused if it breaks a rule. */
function changed(
  definition: GiftCardServiceDefinition,
  current: GiftCardServiceSettings,
  input: GiftCardServiceUpdate,
): { settings: GiftCardServiceSettings; secrets: SecretChange } {
  const fields = input.fields ?? []
  const { state, secrets } = applyFields(definition, current, fields)
  const problems = fieldProblems(definition, fields, state)
  if (problems.length > 0) throw new ValidationFailure(problems)
  const settings = {
    ...state,
    display_name: input.display_name ?? current.display_name,
    active: input.active ?? current.active,
  }
  return { settings, secrets }
}

async function saveSecrets(
  { vault }: Pick<Context, 'vault'>,
  reference: SecretReference,
  { store, remove }: SecretChange,
): Promise<void> {
  if (Object.keys(store).length > 0) await vault.storeSecrets(reference, store)
  if (remove.length > 0) await vault.remove([reference], remove)
}

/** The index decides, also between two requests at once. */
async function onlyOneActive<Result>(ctx: Context, work: (ctx: Context) => Promise<Result>): Promise<Result> {
  try {
    return await transact(ctx, work)
  } catch (error) {
    if (!violates(error, 'gift_card_services_one_active')) throw error
    throw invalidBody('/active', 'value_error.conflict', 'Another gift card service is active; deactivate it first')
  }
}

/** The audit row of a change, in its transaction. */
async function record(
  ctx: Context,
  what: 'created' | 'updated' | 'deleted',
  row: GiftCardServiceRow,
): Promise<GiftCardService> {
  await audit(ctx, what, {
    type: 'gift-card-service',
    id: row.id,
    name: row.display_name,
    merchantAccountId: row.merchant_account_id,
  })
  return present(row)
}

/** Secrets are not even in the row. */
const present = (row: GiftCardServiceRow): GiftCardService => ({
  type: 'gift-card-service',
  id: row.id,
  merchant_account_id: row.merchant_account_id,
  gift_card_service_definition_id: row.definition_id,
  display_name: row.display_name,
  active: row.active,
  fields: Object.entries(row.fields).map(([key, value]) => ({ key, value })),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
