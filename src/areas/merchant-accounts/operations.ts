import type { Context } from '../../context.ts'
import { duplicateRecord, forbidden, invalidBody, notFound, ValidationFailure } from '../../errors.ts'
import { newId, timeOfId } from '../../ids.ts'
import { type PageRequest, toCollection } from '../../page.ts'
import { type Db, transact, violates } from '../../platform/postgres.ts'
import type { Collection } from '../../schema.ts'
import { audit } from '../audit-logs/operations.ts'
import {
  type AccountSettings,
  applyPatch,
  defaultSettings,
  incompleteFields,
  type TokenScheme,
  tokenSchemes,
} from './rules.ts'
import type {
  ListMerchantAccountsQuery,
  MerchantAccount,
  MerchantAccountSummary,
  MerchantAccountUpdate,
  NewMerchantAccount,
} from './schema.ts'
import {
  findMerchantAccount,
  findMerchantAccounts,
  findOldestMerchantAccountId,
  insertMerchantAccount,
  listMerchantAccountRows,
  lockMerchantAccount,
  type MerchantAccountRow,
  replaceRequestors,
  updateMerchantAccountRow,
} from './store.ts'

export async function listMerchantAccounts(
  ctx: Context,
  { search }: ListMerchantAccountsQuery,
  page: PageRequest,
): Promise<Collection<MerchantAccount>> {
  return toCollection(
    page,
    await listMerchantAccountRows(ctx.db, ctx.accounts, search, page),
    ({ list_id }) => list_id,
    present,
  )
}

export async function getMerchantAccount(ctx: Pick<Context, 'db' | 'accounts'>, id: string): Promise<MerchantAccount> {
  const row = await findMerchantAccount(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return present(row)
}

export async function createMerchantAccount(ctx: Context, input: NewMerchantAccount): Promise<MerchantAccount> {
  // A key pair that is bound to some accounts would make one that it cannot reach.
  if (ctx.caller.reach !== 'all') throw forbidden('Only a key pair with access to all merchant accounts can create one')
  const settings = { ...applyPatch(defaultSettings, input), display_name: input.display_name }
  refuseIncomplete(settings)
  const listId = newId()
  const createdAt = timeOfId(listId)
  return await transact(ctx, async (ctx) => {
    const row = { ...settings, id: input.id, list_id: listId, created_at: createdAt, updated_at: createdAt }
    if (!(await insertMerchantAccount(ctx.db, row))) {
      throw duplicateRecord('A merchant account with this id exists already', input.id)
    }
    await saveRequestors(ctx, input.id, settings.requestors)
    await audit(ctx, 'created', {
      type: 'merchant-account',
      id: row.id,
      name: row.display_name,
      merchantAccountId: row.id,
    })
    return getMerchantAccount(ctx, row.id)
  })
}

export async function updateMerchantAccount(
  ctx: Context,
  id: string,
  input: MerchantAccountUpdate,
): Promise<MerchantAccount> {
  return await transact(ctx, async (ctx) => {
    const current = await lockMerchantAccount(ctx.db, ctx.accounts, id)
    if (!current) throw notFound()
    const settings = applyPatch({ ...settingsOf(current), display_name: current.display_name }, input)
    refuseIncomplete(settings)
    await updateMerchantAccountRow(ctx.db, ctx.accounts, { ...settings, id, updated_at: ctx.now() })
    await saveRequestors(ctx, id, settings.requestors)
    await audit(ctx, 'updated', { type: 'merchant-account', id, name: settings.display_name, merchantAccountId: id })
    return getMerchantAccount(ctx, id)
  })
}

/** Short forms of the accounts with these ids, in the order of the ids; accounts out of reach are missing. */
export async function summarizeMerchantAccounts(
  ctx: Pick<Context, 'db' | 'accounts'>,
  ids: readonly string[],
): Promise<Map<string, MerchantAccountSummary>> {
  const rows = ids.length === 0 ? [] : await findMerchantAccounts(ctx.db, ctx.accounts, ids)
  return new Map(rows.map((row) => [row.id, summarize(row)]))
}

/** For the merchant account header; existence is no secret to a key that may reach every account. */
export async function merchantAccountExists(db: Db, id: string): Promise<boolean> {
  return (await findMerchantAccount(db, 'all', id)) !== undefined
}

export const oldestMerchantAccount = (db: Db) => findOldestMerchantAccountId(db)

function refuseIncomplete(settings: AccountSettings): void {
  const details = incompleteFields(settings).map((name) => ({
    location: 'body' as const,
    pointer: `/${name}`,
    message: 'Must be set together with the other fields it belongs to, or not at all',
    type: 'value_error.missing',
  }))
  if (details.length > 0) throw new ValidationFailure(details)
}

async function saveRequestors(ctx: Context, id: string, requestors: AccountSettings['requestors']): Promise<void> {
  const pairs = tokenSchemes.map((scheme) => requestors[scheme]).filter(({ requestor_id }) => requestor_id !== null)
  const distinct = new Set(pairs.map((pair) => JSON.stringify([pair.requestor_id, pair.app_id])))
  if (distinct.size < pairs.length) {
    throw invalidBody('', 'value_error.conflict', 'Two schemes cannot share a requestor id and app id')
  }
  try {
    await replaceRequestors(ctx.db, id, requestors)
  } catch (error) {
    if (!violates(error, 'network_token_requestors_unique')) throw error
    throw duplicateRecord('Another merchant account uses this requestor id and app id', null)
  }
}

function settingsOf(row: MerchantAccountRow): Omit<AccountSettings, 'display_name'> {
  const requestor = (scheme: TokenScheme) => row.requestors[scheme] ?? { requestor_id: null, app_id: null }
  return {
    account_updater_enabled: row.account_updater_enabled,
    account_updater_request_encryption_key: row.account_updater_request_encryption_key,
    account_updater_request_encryption_key_id: row.account_updater_request_encryption_key_id,
    account_updater_response_decryption_key: row.account_updater_response_decryption_key,
    account_updater_response_decryption_key_id: row.account_updater_response_decryption_key_id,
    over_capture_amount: row.over_capture_amount,
    over_capture_percentage: row.over_capture_percentage,
    loon_client_key: row.loon_client_key,
    loon_secret_key: row.loon_secret_key,
    loon_accepted_schemes: row.loon_accepted_schemes,
    loon_merchant_account_id: row.loon_merchant_account_id,
    async_network_tokens_enabled: row.async_network_tokens_enabled,
    requestors: {
      visa: requestor('visa'),
      amex: requestor('amex'),
      mastercard: requestor('mastercard'),
      discover: requestor('discover'),
    },
  }
}

function summarize(row: MerchantAccountRow): MerchantAccountSummary {
  return {
    type: 'merchant-account',
    id: row.id,
    display_name: row.display_name,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    over_capture_amount: row.over_capture_amount,
    over_capture_percentage: row.over_capture_percentage,
  }
}

function present(row: MerchantAccountRow): MerchantAccount {
  const { requestors, loon_accepted_schemes, ...settings } = settingsOf(row)
  const tokens = Object.fromEntries(
    tokenSchemes.flatMap((scheme) => [
      [`${scheme}_network_tokens_requestor_id`, requestors[scheme].requestor_id],
      [`${scheme}_network_tokens_app_id`, requestors[scheme].app_id],
    ]),
  )
  return {
    ...summarize(row),
    ...settings,
    // The column's values passed the same schema on their way in.
    loon_accepted_schemes: loon_accepted_schemes as MerchantAccount['loon_accepted_schemes'],
    ...tokens,
  } as MerchantAccount
}
