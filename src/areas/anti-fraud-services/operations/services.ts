import { accountOf, type Context } from '../../../context.ts'
import { invalidBody, notFound } from '../../../errors.ts'
import { timeOfId } from '../../../ids.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import { transact, violates } from '../../../platform/postgres.ts'
import type { Collection } from '../../../schema.ts'
import { audit } from '../../audit-logs/operations.ts'
import type { AntiFraudService, AntiFraudServiceUpdate, NewAntiFraudService } from '../schema.ts'
import {
  type AntiFraudServiceRow,
  deleteAntiFraudServiceRow,
  findAntiFraudService,
  insertAntiFraudService,
  listAntiFraudServiceRows,
  updateAntiFraudServiceRow,
} from '../store.ts'

type Reader = Pick<Context, 'db' | 'accounts'>

export async function listAntiFraudServices(ctx: Reader, page: PageRequest): Promise<Collection<AntiFraudService>> {
  return toCollection(page, await listAntiFraudServiceRows(ctx.db, ctx.accounts, page), ({ id }) => id, present)
}

export async function getAntiFraudService(ctx: Reader, id: string): Promise<AntiFraudService> {
  return present(found(await findAntiFraudService(ctx.db, ctx.accounts, id)))
}

export async function createAntiFraudService(ctx: Context, input: NewAntiFraudService): Promise<AntiFraudService> {
  const definitionId = input.anti_fraud_service_definition_id
  if (!ctx.antiFraud.has(definitionId)) {
    const message = 'There is no such anti-fraud service definition'
    throw invalidBody('/anti_fraud_service_definition_id', 'value_error.unknown', message)
  }
  const id = ctx.newId()
  return await onlyOneActive(ctx, async (ctx) => {
    const row = await insertAntiFraudService(ctx.db, {
      merchant_account_id: accountOf(ctx),
      id,
      definition_id: definitionId,
      display_name: input.display_name,
      active: input.active ?? true,
      reviews_enabled: input.reviews_enabled ?? true,
      created_at: timeOfId(id),
    })
    return record(ctx, 'created', found(row))
  })
}

export async function updateAntiFraudService(
  ctx: Context,
  id: string,
  input: AntiFraudServiceUpdate,
): Promise<AntiFraudService> {
  const change = {
    display_name: input.display_name ?? undefined,
    active: input.active ?? undefined,
    reviews_enabled: input.reviews_enabled ?? undefined,
  }
  return await onlyOneActive(ctx, async (ctx) =>
    record(ctx, 'updated', found(await updateAntiFraudServiceRow(ctx.db, ctx.accounts, id, change, ctx.now()))),
  )
}

export async function deleteAntiFraudService(ctx: Context, id: string): Promise<void> {
  await transact(ctx, async (ctx) => {
    await record(ctx, 'deleted', found(await deleteAntiFraudServiceRow(ctx.db, ctx.accounts, id)))
  })
}

/** The index decides, also between two requests at once. */
async function onlyOneActive<Result>(ctx: Context, work: (ctx: Context) => Promise<Result>): Promise<Result> {
  try {
    return await transact(ctx, work)
  } catch (error) {
    if (!violates(error, 'anti_fraud_services_one_active')) throw error
    throw invalidBody('/active', 'value_error.conflict', 'Another anti-fraud service is active; deactivate it first')
  }
}

function found(row: AntiFraudServiceRow | undefined): AntiFraudServiceRow {
  if (!row) throw notFound()
  return row
}

/** The audit row of a change, in its transaction. */
async function record(
  ctx: Context,
  what: 'created' | 'updated' | 'deleted',
  row: AntiFraudServiceRow,
): Promise<AntiFraudService> {
  await audit(ctx, what, {
    type: 'anti-fraud-service',
    id: row.id,
    name: row.display_name,
    merchantAccountId: row.merchant_account_id,
  })
  return present(row)
}

const present = (row: AntiFraudServiceRow): AntiFraudService => ({
  type: 'anti-fraud-service',
  id: row.id,
  merchant_account_id: row.merchant_account_id,
  anti_fraud_service_definition_id: row.definition_id,
  display_name: row.display_name,
  active: row.active,
  reviews_enabled: row.reviews_enabled,
  fields: [],
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
