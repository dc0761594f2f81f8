import type { Context } from '../../context.ts'
import { duplicateRecord, type ErrorDetail, forbidden, invalidBody, notFound, ValidationFailure } from '../../errors.ts'
import type { EventName } from '../../events/catalog.ts'
import { emit } from '../../events/outbox.ts'
import { newId, timeOfId } from '../../ids.ts'
import { type PageRequest, toCollection } from '../../page.ts'
import type { Accounts } from '../../platform/accounts.ts'
import { makeKeyPair, type PublicKey, readPublicKey } from '../../platform/key-pair.ts'
import { type Db, transact } from '../../platform/postgres.ts'
import type { Collection } from '../../schema.ts'
import { audit } from '../audit-logs/operations.ts'
import { summarizeMerchantAccounts } from '../merchant-accounts/operations.ts'
import type { MerchantAccountSummary } from '../merchant-accounts/schema.ts'
import { getRoles } from '../roles/operations.ts'
import type { Role } from '../roles/schema.ts'
import { excessScopes, homeAccount } from './rules.ts'
import type { APIKeyPair, APIKeyPairUpdate, NewAPIKeyPair } from './schema.ts'
import {
  deleteKeyPairRow,
  findKeyPair,
  findKeyPairByThumbprint,
  insertKeyPair,
  type KeyPairRow,
  listKeyPairRows,
  replaceKeyPairRoles,
  touchKeyPairRows,
  updateKeyPairRow,
} from './store.ts'

type Reader = Pick<Context, 'db' | 'accounts'>

export async function listAPIKeyPairs(ctx: Context, page: PageRequest): Promise<Collection<APIKeyPair>> {
  const found = await listKeyPairRows(ctx.db, ctx.accounts, page)
  const present = await presenter(ctx, found.rows)
  return toCollection(page, found, ({ id }) => id, present)
}

export async function getAPIKeyPair(ctx: Reader, id: string): Promise<APIKeyPair> {
  const row = await findKeyPair(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return (await presenter(ctx, [row]))(row)
}

export async function createAPIKeyPair(ctx: Context, input: NewAPIKeyPair): Promise<APIKeyPair> {
  const merchantAccountIds = input.merchant_account_ids ?? []
  await refuseGrant(ctx, input.role_ids, merchantAccountIds)
  const { publicKey, privateKeyPem } = await keysFor(input)
  const id = newId()
  const createdAt = timeOfId(id)

  const pair = await transact(ctx, async (ctx) => {
    const inserted = await insertKeyPair(ctx.db, {
      id,
      thumbprint: publicKey.thumbprint,
      display_name: input.display_name,
      algorithm: input.algorithm ?? 'ECDSA',
      public_key: publicKey.pem,
      active: input.active ?? true,
      merchant_account_ids: merchantAccountIds,
      creator_id: ctx.caller.keyPairId,
      creator_name: ctx.caller.displayName,
      creator_email_address: null,
      creator_thumbprint: ctx.caller.thumbprint,
      created_at: createdAt,
      updated_at: createdAt,
    })
    if (!inserted) {
      const holder = await findKeyPairByThumbprint(ctx.db, ctx.accounts, publicKey.thumbprint)
      throw duplicateRecord('A key pair with this public key exists already', holder?.id ?? null)
    }
    await replaceKeyPairRoles(ctx.db, id, input.role_ids)
    return record(ctx, 'created', await getAPIKeyPair(ctx, id), 1)
  })
  return { ...pair, private_key: privateKeyPem }
}

export async function updateAPIKeyPair(ctx: Context, id: string, input: APIKeyPairUpdate): Promise<APIKeyPair> {
  const current = await findKeyPair(ctx.db, ctx.accounts, id)
  if (!current) throw notFound()
  await refuseGrant(ctx, input.role_ids ?? [], input.merchant_account_ids ?? current.merchant_account_ids)
  return await transact(ctx, async (ctx) => {
    const updated = await updateKeyPairRow(ctx.db, ctx.accounts, id, {
      display_name: input.display_name ?? null,
      active: input.active ?? null,
      merchant_account_ids: input.merchant_account_ids ?? null,
      updated_at: ctx.now(),
    })
    if (!updated) throw notFound()
    if (input.role_ids) await replaceKeyPairRoles(ctx.db, id, input.role_ids)
    return record(ctx, 'updated', await getAPIKeyPair(ctx, id), updated.version)
  })
}

export async function deleteAPIKeyPair(ctx: Context, id: string): Promise<void> {
  await transact(ctx, async (ctx) => {
    const row = await findKeyPair(ctx.db, ctx.accounts, id)
    const pair = row && (await presenter(ctx, [row]))(row)
    if (!pair || !(await deleteKeyPairRow(ctx.db, ctx.accounts, id))) throw notFound()
    await record(ctx, 'deleted', pair, row.version + 1)
  })
}

/** What authentication needs to know of a key pair; undefined when there is none with this thumbprint. */
export async function loadSigningKey(db: Db, thumbprint: string) {
  const row = await findKeyPairByThumbprint(db, 'all', thumbprint)
  if (!row) return undefined
  const roles = await getRoles({ db }, row.role_ids)
  const reach: Accounts = row.merchant_account_ids.length === 0 ? 'all' : row.merchant_account_ids
  return {
    id: row.id,
    thumbprint: row.thumbprint,
    displayName: row.display_name,
    algorithm: row.algorithm,
    publicKey: row.public_key,
    active: row.active,
    permissions: roles.flatMap((role) => role.permissions.allow),
    reach,
  }
}

export async function touchKeyPairs(db: Db, ids: readonly string[], now: Date): Promise<void> {
  await transact({ db, accounts: 'all' }, (ctx) => touchKeyPairRows(ctx.db, ids, now))
}

/** A caller can give away only what it has: scopes it holds itself, merchant accounts it reaches itself. */
async function refuseGrant(
  ctx: Context,
  roleIds: readonly string[],
  merchantAccountIds: readonly string[],
): Promise<void> {
  const [roles, accounts] = await Promise.all([
    getRoles(ctx, roleIds),
    summarizeMerchantAccounts(ctx, merchantAccountIds),
  ])
  const assignable = new Map(
    roles.filter((role) => role.assignable_to.includes('api-key-pair')).map((role) => [role.id, role]),
  )
  const details = [
    ...unknown('/role_ids', roleIds, assignable, 'There is no such role for key pairs; see /roles'),
    ...unknown('/merchant_account_ids', merchantAccountIds, accounts, 'There is no such merchant account'),
  ]
  if (details.length > 0) throw new ValidationFailure(details)
  if (merchantAccountIds.length === 0 && ctx.caller.reach !== 'all') {
    throw forbidden(
      'No merchant accounts would mean all of them, and the caller cannot reach all; name some in merchant_account_ids',
    )
  }
  for (const role of roles) {
    const [excess] = excessScopes(role.permissions.allow, ctx.caller.scopes)
    if (excess) throw forbidden(`The role ${role.slug} allows ${excess}, which the caller does not have itself`)
  }
}

function unknown(
  pointer: string,
  ids: readonly string[],
  known: ReadonlyMap<string, unknown>,
  message: string,
): ErrorDetail[] {
  return ids.flatMap((id, index) =>
    known.has(id)
      ? []
      : [{ location: 'body' as const, pointer: `${pointer}/${index}`, message, type: 'value_error.unknown' }],
  )
}

async function keysFor({
  algorithm = 'ECDSA',
  public_key,
}: NewAPIKeyPair): Promise<{ publicKey: PublicKey; privateKeyPem: string | null }> {
  if (public_key === undefined || public_key === null) return makeKeyPair(algorithm)
  if (algorithm !== 'ECDSA')
    throw invalidBody('/public_key', 'value_error.conflict', 'Only an ECDSA pair can bring its own key')
  const publicKey = await readPublicKey(public_key)
  if (!publicKey) {
    throw invalidBody(
      '/public_key',
      'value_error.pattern',
      'Must be a PEM public key ("BEGIN PUBLIC KEY") of the curve P-521',
    )
  }
  return { publicKey, privateKeyPem: null }
}

/** The audit row and the event of a change, in its transaction. */
async function record(
  ctx: Context,
  what: 'created' | 'updated' | 'deleted',
  pair: APIKeyPair,
  version: number,
): Promise<APIKeyPair> {
  const merchantAccountId = homeAccount(pair.merchant_accounts.map(({ id }) => id))
  await audit(ctx, what, { type: pair.type, id: pair.id, name: pair.display_name, merchantAccountId })
  const name: EventName = `api-key-pair.${what}`
  await emit(ctx, name, {
    merchantAccountId,
    sequence: version,
    target: {
      type: pair.type,
      id: pair.id,
      thumbprint: pair.thumbprint,
      display_name: pair.display_name,
      algorithm: pair.algorithm,
      enabled: pair.active,
      roles: pair.roles.map(({ id, name }) => ({ id, name })),
      merchant_accounts: pair.merchant_accounts.map(({ id, display_name }) => ({ id, name: display_name })),
      created_at: pair.created_at,
      updated_at: pair.updated_at,
    },
  })
  return pair
}

/** Looks up what the rows refer to, once for all of them. */
async function presenter(ctx: Reader, rows: readonly KeyPairRow[]): Promise<(row: KeyPairRow) => APIKeyPair> {
  const roleIds = [...new Set(rows.flatMap(({ role_ids }) => role_ids))]
  const accountIds = [...new Set(rows.flatMap(({ merchant_account_ids }) => merchant_account_ids))]
  const roles = new Map((await getRoles(ctx, roleIds)).map((role) => [role.id, role]))
  const accounts = await summarizeMerchantAccounts(ctx, accountIds)
  return (row) => present(row, roles, accounts)
}

function present(
  row: KeyPairRow,
  roles: ReadonlyMap<string, Role>,
  accounts: ReadonlyMap<string, MerchantAccountSummary>,
): APIKeyPair {
  const creator = row.creator_id && {
    id: row.creator_id,
    name: row.creator_name ?? '',
    email_address: row.creator_email_address,
    thumbprint: row.creator_thumbprint,
  }
  return {
    type: 'api-key-pair',
    id: row.id,
    thumbprint: row.thumbprint,
    display_name: row.display_name,
    algorithm: row.algorithm,
    active: row.active,
    private_key: null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    creator: creator || null,
    merchant_accounts: row.merchant_account_ids.flatMap((id) => accounts.get(id) ?? []),
    roles: row.role_ids.flatMap((id) => roles.get(id) ?? []),
  }
}
