import type { PaymentServiceDefinition } from '../../../connectors/payment.ts'
import { accountOf, type Context } from '../../../context.ts'
import { invalidBody, notFound, ValidationFailure } from '../../../errors.ts'
import { timeOfId } from '../../../ids.ts'
import { transact } from '../../../platform/postgres.ts'
import type { SecretReference } from '../../../vault/client.ts'
import { audit } from '../../audit-logs/operations.ts'
import {
  applyFields,
  applyProfile,
  applySwitches,
  defaultSwitches,
  fieldProblems,
  noFields,
  type SecretChange,
  serviceProblems,
} from '../rules.ts'
import type { NewPaymentService, PaymentService, PaymentServiceUpdate } from '../schema.ts'
import {
  deletePaymentServiceRow,
  findPaymentService,
  insertPaymentService,
  type PaymentServiceRow,
  type ServiceSettings,
  updatePaymentServiceRow,
} from '../store.ts'
import { present } from './present.ts'

export async function createPaymentService(ctx: Context, input: NewPaymentService): Promise<PaymentService> {
  const merchantAccountId = accountOf(ctx)
  const definition = ctx.connectors.get(input.payment_service_definition_id)?.definition
  if (!definition) {
    const message = 'There is no such payment service definition'
    throw invalidBody('/payment_service_definition_id', 'value_error.unknown', message)
  }
  const id = ctx.newId()
  const createdAt = timeOfId(id)
  const { display_name, accepted_currencies, accepted_countries } = input
  const blank = { ...defaultSwitches, ...noFields, merchant_profile: null }
  const named = { ...blank, display_name, accepted_currencies, accepted_countries }
  const { settings, secrets } = changed(definition, named, input, createdAt)
  await saveSecrets(ctx, { merchantAccountId, id }, secrets)
  return await transact(ctx, async (ctx) => {
    const row = await insertPaymentService(ctx.db, {
      ...settings,
      merchant_account_id: merchantAccountId,
      id,
      definition_id: definition.id,
      method: definition.method,
      status: 'created',
      position: input.position ?? null,
      created_at: createdAt,
    })
    return record(ctx, 'created', row)
  })
}

const mostAttempts = 20

/**
 * The vault comes first and outside the transaction, which takes place only if the service is still as it was read: of two
 * changes at once the later one starts again, so that secrets and row are of the same change.
 */
export async function updatePaymentService(
  ctx: Context,
  id: string,
  input: PaymentServiceUpdate,
): Promise<PaymentService> {
  const merchantAccountId = accountOf(ctx)
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const current = await findPaymentService(ctx.db, ctx.accounts, id)
    if (!current) {
      // It was deleted under our hands, perhaps before our secrets came to the vault.
      if (attempt > 1) await forgetSecrets(ctx, { merchantAccountId, id })
      throw notFound()
    }
    const definition = ctx.connectors.get(current.definition_id)?.definition
    if (!definition) throw invalidBody('', 'value_error.unsupported', 'Its definition is not part of this instance')
    const now = ctx.now()
    const { settings, secrets } = changed(definition, current, input, now)
    await saveSecrets(ctx, { merchantAccountId, id }, secrets)
    const position = input.position ?? current.position
    const updated = await transact(ctx, async (ctx) => {
      const row = await updatePaymentServiceRow(ctx.db, ctx.accounts, current, { ...settings, position }, now)
      return row && record(ctx, 'updated', row)
    })
    if (updated) return updated
  }
  throw new Error('the payment service changes faster than it can be updated')
}

/** The row stays, marked, for the captures and refunds of its payments; its secrets go. */
export async function deletePaymentService(ctx: Context, id: string): Promise<void> {
  const { merchant_account_id: merchantAccountId } = await transact(ctx, async (ctx) => {
    const row = await deletePaymentServiceRow(ctx.db, ctx.accounts, id, ctx.now())
    if (!row) throw notFound()
    return record(ctx, 'deleted', row)
  })
  await forgetSecrets(ctx, { merchantAccountId, id })
}

/** The service as it would be, and what the vault has to do for it; refused if it breaks a rule. */
function changed(
  definition: PaymentServiceDefinition,
  current: ServiceSettings,
  input: PaymentServiceUpdate,
  now: Date,
): { settings: ServiceSettings; secrets: SecretChange } {
  const { state, secrets } = applyFields(definition, current, input)
  const settings: ServiceSettings = {
    ...applySwitches(current, input),
    ...state,
    display_name: input.display_name ?? current.display_name,
    accepted_currencies: input.accepted_currencies ?? current.accepted_currencies,
    accepted_countries: input.accepted_countries ?? current.accepted_countries,
    merchant_profile: applyProfile(current.merchant_profile, input.merchant_profile, now),
  }
  const problems = [
    ...fieldProblems('fields', definition, input.fields),
    ...fieldProblems('reporting_fields', definition, input.reporting_fields),
    ...serviceProblems(definition, settings),
  ]
  if (problems.length > 0) throw new ValidationFailure(problems)
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

/** What the caller asked for is done; nothing reads the secrets of a service that is gone. */
async function forgetSecrets(
  { vault, log }: Pick<Context, 'vault' | 'log'>,
  reference: SecretReference,
): Promise<void> {
  try {
    await vault.remove([reference])
  } catch (error) {
    const { merchantAccountId: merchant_account_id, id: resource_id } = reference
    log.warn('secrets of a deleted payment service stay in the vault', { merchant_account_id, resource_id, error })
  }
}

/** The audit row of a change, in its transaction. */
async function record(
  ctx: Context,
  what: 'created' | 'updated' | 'deleted',
  row: PaymentServiceRow,
): Promise<PaymentService> {
  await audit(ctx, what, {
    type: 'payment-service',
    id: row.id,
    name: row.display_name,
    merchantAccountId: row.merchant_account_id,
  })
  return present(row, ctx.baseUrl)
}
