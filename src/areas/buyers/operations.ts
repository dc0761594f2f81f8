import { accountOf, type Context } from '../../context.ts'
import { type ApiError, duplicateRecord, type ErrorDetail, notFound, ValidationFailure } from '../../errors.ts'
import type { EventName } from '../../events/catalog.ts'
import { emit } from '../../events/outbox.ts'
import { reconciliationIdOf, timeOfId } from '../../ids.ts'
import { type PageRequest, toCollection } from '../../page.ts'
import { transact, violates } from '../../platform/postgres.ts'
import type { Collection } from '../../schema.ts'
import { audit } from '../audit-logs/operations.ts'
import { mostMatches } from './rules.ts'
import type {
  Address,
  AddressInput,
  BillingDetails,
  BillingDetailsInput,
  Buyer,
  BuyerUpdate,
  ListBuyersQuery,
  NewBuyer,
} from './schema.ts'
import {
  type BuyerRow,
  deleteBuyerRow,
  findBuyer,
  findBuyers,
  findBuyersByExternalIdentifier,
  insertBuyer,
  listBuyerRows,
  lockBuyerRow,
  searchBuyerRows,
  updateBuyerRow,
} from './store.ts'

type Reader = Pick<Context, 'db' | 'accounts'>

export async function listBuyers(
  ctx: Reader,
  { search, external_identifier }: ListBuyersQuery,
  page: PageRequest,
): Promise<Collection<Buyer>> {
  const found =
    search === undefined
      ? await listBuyerRows(ctx.db, ctx.accounts, external_identifier, page)
      : await searchBuyerRows(ctx.db, ctx.accounts, search, external_identifier, page)
  if (!found) throw tooManyMatches()
  return toCollection(page, found, ({ id }) => id, present)
}

export async function getBuyer(ctx: Reader, id: string): Promise<Buyer> {
  const row = await findBuyer(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return present(row)
}

export async function createBuyer(ctx: Context, input: NewBuyer): Promise<Buyer> {
  const id = ctx.newId()
  const createdAt = timeOfId(id)
  return await transact(ctx, async (ctx) => {
    const row = await insertBuyer(ctx.db, {
      merchant_account_id: accountOf(ctx),
      id,
      display_name: input.display_name ?? null,
      external_identifier: input.external_identifier ?? null,
      account_number: input.account_number ?? null,
      billing_details: input.billing_details ?? null,
      created_at: createdAt,
      updated_at: createdAt,
    })
    if (!row) throw await identifierTaken(ctx, input.external_identifier)
    return record(ctx, 'created', row)
  })
}

export async function updateBuyer(ctx: Context, id: string, input: BuyerUpdate): Promise<Buyer> {
  try {
    return await transact(ctx, async (ctx) => {
      const row = await updateBuyerRow(ctx.db, ctx.accounts, id, input, ctx.now())
      if (!row) throw notFound()
      return record(ctx, 'updated', row)
    })
  } catch (error) {
    if (!violates(error, 'buyers_external_identifier_unique')) throw error
    throw await identifierTaken(ctx, input.external_identifier)
  }
}

export async function deleteBuyer(ctx: Context, id: string): Promise<void> {
  await transact(ctx, async (ctx) => {
    const row = await deleteBuyerRow(ctx.db, ctx.accounts, id)
    if (!row) throw notFound()
    await record(ctx, 'deleted', { ...row, version: row.version + 1 })
  })
}

/** The buyers with these ids; those out of reach are missing. */
export async function getBuyersByIds(ctx: Reader, ids: readonly string[]): Promise<Map<string, Buyer>> {
  return new Map((await findBuyers(ctx.db, ctx.accounts, ids)).map((row) => [row.id, present(row)]))
}

/** The buyer that a request names by id or by the caller's own reference. */
export async function findBuyerByReference(
  ctx: Reader,
  { id, externalIdentifier }: { id?: string | undefined; externalIdentifier?: string | undefined },
): Promise<Buyer | undefined> {
  const [row] =
    id === undefined
      ? await findBuyersByExternalIdentifier(ctx.db, ctx.accounts, externalIdentifier ?? '')
      : await findBuyers(ctx.db, ctx.accounts, [id])
  return row && present(row)
}

/** How a request names whose something is. */
interface Owned {
  buyer_id?: string | null | undefined
  buyer_external_identifier?: string | null | undefined
}

/** What is wrong with the name of a buyer, who was looked for with it. */
export function namedBuyerProblems(
  { buyer_id, buyer_external_identifier }: Owned,
  buyer: Buyer | undefined,
): ErrorDetail[] {
  const named = [
    ...(buyer_id ? ['/buyer_id'] : []),
    ...(buyer_external_identifier ? ['/buyer_external_identifier'] : []),
  ]
  if (named.length === 2) {
    const message = 'Name the buyer by buyer_id or by buyer_external_identifier, not by both'
    return named.map((pointer) => ({ location: 'body', pointer, message, type: 'value_error.conflict' }))
  }
  if (named.length === 0 || buyer) return []
  return named.map((pointer) => ({
    location: 'body',
    pointer,
    message: 'There is no such buyer',
    type: 'value_error.unknown',
  }))
}

/** Undefined when none is named, or two are, or nobody has the name. */
export async function findNamedBuyer(
  ctx: Reader,
  { buyer_id, buyer_external_identifier }: Owned,
): Promise<Buyer | undefined> {
  if (Boolean(buyer_id) === Boolean(buyer_external_identifier)) return undefined
  return findBuyerByReference(ctx, {
    id: buyer_id ?? undefined,
    externalIdentifier: buyer_external_identifier ?? undefined,
  })
}

/** Keeps others from adding to what the buyer has until the transaction is over. False when there is no such buyer. */
export const lockBuyer = (ctx: Reader, id: string): Promise<boolean> => lockBuyerRow(ctx.db, ctx.accounts, id)

export async function findBuyerIdsByExternalIdentifier(ctx: Reader, externalIdentifier: string): Promise<string[]> {
  return (await findBuyersByExternalIdentifier(ctx.db, ctx.accounts, externalIdentifier)).map(({ id }) => id)
}

/** An address as answers show it: what it lacks is null. */
export function presentAddress(address: AddressInput | null | undefined): Address | null {
  return address ? { ...blankAddress, ...address } : null
}

const blankAddress: Address = {
  city: null,
  country: null,
  postal_code: null,
  state: null,
  state_code: null,
  house_number_or_name: null,
  line1: null,
  line2: null,
  organization: null,
}

/** The audit row and the event of a change, in its transaction. The audit row stays when the buyer goes: it holds no more than a name. */
async function record(ctx: Context, what: 'created' | 'updated' | 'deleted', row: BuyerRow): Promise<Buyer> {
  const buyer = present(row)
  const merchantAccountId = buyer.merchant_account_id
  await audit(ctx, what, { type: buyer.type, id: buyer.id, name: buyer.display_name ?? buyer.id, merchantAccountId })
  const name: EventName = `buyer.${what}`
  await emit(ctx, name, { merchantAccountId, sequence: row.version, target: buyer })
  return buyer
}

async function identifierTaken(ctx: Reader, externalIdentifier: string | null | undefined): Promise<ApiError> {
  const [holder] = await findBuyersByExternalIdentifier(ctx.db, ctx.accounts, externalIdentifier ?? '')
  return duplicateRecord('A buyer with this external identifier exists already', holder?.id ?? null)
}

function tooManyMatches(): ValidationFailure {
  const count = mostMatches.toLocaleString('en')
  const message = `More than ${count} buyers begin with this; give more of the name or the identifier`
  return new ValidationFailure([{ location: 'query', pointer: 'search', message, type: 'value_error.range' }])
}

function present(row: BuyerRow): Buyer {
  return {
    type: 'buyer',
    id: row.id,
    reconciliation_id: reconciliationIdOf(row.id),
    merchant_account_id: row.merchant_account_id,
    display_name: row.display_name,
    external_identifier: row.external_identifier,
    billing_details: presentBillingDetails(row.billing_details),
    account_number: row.account_number,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** Billing details as answers show them: what they lack is null. */
export function presentBillingDetails(details: BillingDetailsInput | null | undefined): BillingDetails | null {
  if (!details) return null
  return {
    type: 'billing-details',
    first_name: details.first_name ?? null,
    last_name: details.last_name ?? null,
    email_address: details.email_address ?? null,
    phone_number: details.phone_number ?? null,
    address: presentAddress(details.address),
    tax_id: details.tax_id ?? null,
  }
}
