import type { ServiceAccess } from '../../../connectors/payment.ts'
import { accountOf, type Context } from '../../../context.ts'
import { invalidBody, ValidationFailure } from '../../../errors.ts'
import { newId } from '../../../ids.ts'
import { applyFields, fieldProblems, missingFields, noFields, secretKeys } from '../rules.ts'
import type { VerifyCredentials } from '../schema.ts'
import { findPaymentService, type PaymentServiceRow } from '../store.ts'
import { accessOf } from './routing.ts'

/** Asks the provider whether credentials are good. Nothing is stored; what is stored stands in for what is left out. */
export async function verifyCredentials(ctx: Context, input: VerifyCredentials): Promise<void> {
  const at = '/payment_service_definition_id'
  const connector = ctx.connectors.get(input.payment_service_definition_id)
  if (!connector) throw invalidBody(at, 'value_error.unknown', 'There is no such payment service definition')
  const { definition } = connector
  if (!definition.supported_features.verify_credentials) {
    throw invalidBody(at, 'value_error.unsupported', 'The provider cannot verify credentials')
  }
  const stored = await findStored(ctx, input)
  const { state, secrets } = applyFields(definition, stored ?? noFields, { fields: input.fields })
  const looked = definition.fields.filter(({ verifiable }) => verifiable)
  const problems = [...fieldProblems('fields', definition, input.fields), ...missingFields('fields', looked, state)]
  if (problems.length > 0) throw new ValidationFailure(problems)

  const given = Object.fromEntries(
    [...secretKeys('fields', Object.keys(secrets.store))].map(([key, name]) => [key, secrets.store[name] ?? '']),
  )
  const access: ServiceAccess = {
    merchantAccountId: accountOf(ctx),
    serviceId: stored?.id ?? newId(),
    fields: state.fields,
    notificationUrl: null,
    secrets: async () => ({ ...(stored && (await accessOf(ctx, stored).secrets())), ...given }),
  }
  const { valid } = await connector.verify(access)
  if (!valid) throw invalidBody('/fields', 'value_error.credentials', 'The provider does not accept these credentials')
}

async function findStored(ctx: Context, input: VerifyCredentials): Promise<PaymentServiceRow | undefined> {
  if (!input.payment_service_id) return undefined
  const stored = await findPaymentService(ctx.db, ctx.accounts, input.payment_service_id)
  if (!stored) throw invalidBody('/payment_service_id', 'value_error.unknown', 'There is no such payment service')
  if (stored.definition_id !== input.payment_service_definition_id) {
    throw invalidBody('/payment_service_id', 'value_error.conflict', 'The payment service is of another definition')
  }
  return stored
}
