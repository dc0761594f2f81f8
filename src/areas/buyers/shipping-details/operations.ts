import { accountOf, type Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import type { EventName } from '../../../events/catalog.ts'
import { emit } from '../../../events/outbox.ts'
import { timeOfId } from '../../../ids.ts'
import { transact, violates } from '../../../platform/postgres.ts'
import { audit } from '../../audit-logs/operations.ts'
import { presentAddress } from '../operations.ts'
import type { NewShippingDetails, ShippingDetails, ShippingDetailsUpdate } from './schema.ts'
import {
  deleteShippingDetailsRow,
  findShippingDetails as findRow,
  insertShippingDetails,
  listShippingDetailsRows,
  type ShippingDetailsKey,
  type ShippingDetailsRow,
  updateShippingDetailsRow,
} from './store.ts'

type Reader = Pick<Context, 'db' | 'accounts'>

export async function listShippingDetails(ctx: Reader, buyerId: string): Promise<{ items: ShippingDetails[] }> {
  const rows = await listShippingDetailsRows(ctx.db, ctx.accounts, buyerId)
  if (!rows) throw notFound()
  return { items: rows.map(present) }
}

export async function getShippingDetails(ctx: Reader, key: ShippingDetailsKey): Promise<ShippingDetails> {
  return present(found(await findRow(ctx.db, ctx.accounts, key)))
}

export async function findShippingDetails(ctx: Reader, key: ShippingDetailsKey): Promise<ShippingDetails | undefined> {
  const row = await findRow(ctx.db, ctx.accounts, key)
  return row && present(row)
}

export async function createShippingDetails(
  ctx: Context,
  buyerId: string,
  input: NewShippingDetails,
): Promise<ShippingDetails> {
  const id = ctx.newId()
  const createdAt = timeOfId(id)
  try {
    return await transact(ctx, async (ctx) => {
      const row = await insertShippingDetails(ctx.db, {
        merchant_account_id: accountOf(ctx),
        id,
        buyer_id: buyerId,
        first_name: input.first_name ?? null,
        last_name: input.last_name ?? null,
        email_address: input.email_address ?? null,
        phone_number: input.phone_number ?? null,
        address: input.address ?? null,
        created_at: createdAt,
        updated_at: createdAt,
      })
      return record(ctx, 'created', found(row))
    })
  } catch (error) {
    // The foreign key decides, so that a buyer who is deleted at this moment leaves nothing behind.
    throw violates(error, 'shipping_details_buyer') ? notFound() : error
  }
}

export async function updateShippingDetails(
  ctx: Context,
  key: ShippingDetailsKey,
  input: ShippingDetailsUpdate,
): Promise<ShippingDetails> {
  return await transact(ctx, async (ctx) => {
    const row = await updateShippingDetailsRow(ctx.db, ctx.accounts, key, input, ctx.now())
    return record(ctx, 'updated', found(row))
  })
}

export async function deleteShippingDetails(ctx: Context, key: ShippingDetailsKey): Promise<void> {
  await transact(ctx, async (ctx) => {
    const row = found(await deleteShippingDetailsRow(ctx.db, ctx.accounts, key))
    await record(ctx, 'deleted', { ...row, version: row.version + 1 })
  })
}

function found(row: ShippingDetailsRow | undefined): ShippingDetailsRow {
  if (!row) throw notFound()
  return row
}

/** The audit row and the event of a change, in its transaction. The audit row outlives the address and names nobody. */
async function record(
  ctx: Context,
  what: 'created' | 'updated' | 'deleted',
  row: ShippingDetailsRow,
): Promise<ShippingDetails> {
  const details = present(row)
  const merchantAccountId = row.merchant_account_id
  await audit(ctx, what, { type: details.type, id: details.id, name: details.id, merchantAccountId })
  const name: EventName = `shipping-details.${what}`
  await emit(ctx, name, { merchantAccountId, sequence: row.version, target: details })
  return details
}

function present(row: ShippingDetailsRow): ShippingDetails {
  return {
    type: 'shipping-details',
    id: row.id,
    buyer_id: row.buyer_id,
    first_name: row.first_name,
    last_name: row.last_name,
    email_address: row.email_address,
    phone_number: row.phone_number,
    address: presentAddress(row.address),
  }
}
