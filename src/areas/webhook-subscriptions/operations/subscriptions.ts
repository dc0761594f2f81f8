import { presentCreator } from '../../../creator.ts'
import { realTime } from '../../../clocks.ts'
import { accountOf, accountOrNull, type Context, wholeInstance, withInstance } from '../../../context.ts'
import { type ErrorDetail, notFound, ValidationFailure } from '../../../errors.ts'
import { eventNames } from '../../../events/catalog.ts'
import { newId, timeOfId } from '../../../ids.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import { transact } from '../../../platform/postgres.ts'
import type { Collection } from '../../../schema.ts'
import { audit } from '../../audit-logs/operations.ts'
import { type AuthenticationChange, changeAuthentication, makeSecret, mask, namesOf } from '../rules.ts'
import type {
  Authentication,
  NewWebhookSubscription,
  SecretRotation,
  WebhookSubscription,
  WebhookSubscriptionUpdate,
} from '../schema.ts'
import {
  deleteSubscription,
  findSubscription,
  insertSubscription,
  listSubscriptions,
  type SigningSecrets,
  type SubscriptionRow,
  type SubscriptionSettings,
  updateSubscription,
} from '../store.ts'
import { isRotating } from './endpoints.ts'

const mostAttempts = 20

export async function listWebhookSubscriptions(
  ctx: Context,
  page: PageRequest,
): Promise<Collection<WebhookSubscription>> {
  const find = () => listSubscriptions(ctx.db, ctx.accounts, page)
  const { found, secretOf } = await findWithSecrets(ctx, find, ({ rows }) => rows.slice(0, page.limit))
  return toCollection(
    page,
    found,
    ({ id }) => id,
    (row) => present(row, secretOf(row)),
  )
}

export async function getWebhookSubscription(ctx: Context, id: string): Promise<WebhookSubscription> {
  const find = () => requireSubscription(withInstance(ctx), id)
  const { found, secretOf } = await findWithSecrets(ctx, find, (row) => [row])
  return present(found, secretOf(found))
}

/** The vault first: a row whose secret is not there would be of no use. */
export async function createWebhookSubscription(
  ctx: Context,
  input: NewWebhookSubscription,
): Promise<WebhookSubscription> {
  const [id, secret] = [newId(), makeSecret()]
  const merchantAccountId = ctx.accounts === 'all' ? wholeInstance : accountOf(ctx)
  const blank = { url: input.url, active: true, event_names: null, authentication: null }
  const { settings, secrets } = changed(ctx, blank, input)
  await ctx.vault.storeSecrets({ merchantAccountId, id }, { ...secrets, [secret.name]: secret.value })
  return await transact(ctx, async (ctx) => {
    const row = await insertSubscription(ctx.db, {
      ...settings,
      merchant_account_id: merchantAccountId,
      id,
      secret_name: secret.name,
      creator_id: ctx.caller.keyPairId,
      creator_name: ctx.caller.displayName,
      creator_thumbprint: ctx.caller.thumbprint,
      created_at: timeOfId(id),
    })
    await record(ctx, 'created', row)
    return present(row, secret.value)
  })
}

export async function updateWebhookSubscription(
  ctx: Context,
  id: string,
  input: WebhookSubscriptionUpdate,
): Promise<WebhookSubscription> {
  await change(withInstance(ctx), id, (current) => {
    const { settings, secrets } = changed(ctx, current, input)
    return { change: { ...current, ...settings }, secrets }
  })
  return await getWebhookSubscription(ctx, id)
}

export async function rotateWebhookSecret(
  ctx: Context,
  id: string,
  { delta }: SecretRotation,
): Promise<WebhookSubscription> {
  const secret = makeSecret()
  const row = await change(withInstance(ctx), id, (current) => ({
    change: {
      ...current,
      secret_name: secret.name,
      previous_secret_name: delta ? current.secret_name : null,
      rotating_until: delta ? new Date(realTime.now().getTime() + delta * 60_000) : null,
    },
    secrets: { [secret.name]: secret.value },
  }))
  return present(row, secret.value)
}

/** The row first: from then on nothing is sent, whatever becomes of the secrets. */
export async function deleteWebhookSubscription(ctx: Context, id: string): Promise<void> {
  const row = await transact(withInstance(ctx), async (ctx) => {
    const row = await deleteSubscription(ctx.db, ctx.accounts, id)
    if (!row) throw notFound()
    await record(ctx, 'deleted', row)
    return row
  })
  await ctx.vault.remove([{ merchantAccountId: row.merchant_account_id, id }])
}

async function requireSubscription({ db, accounts }: Context, id: string): Promise<SubscriptionRow> {
  const row = await findSubscription(db, accounts, id)
  if (!row) throw notFound()
  return row
}

/** New secrets are stored under new names before the row names them, and old ones removed after: the row decides, at any moment. */
async function change(
  ctx: Context,
  id: string,
  decide: (current: SubscriptionRow) => {
    change: SubscriptionSettings & SigningSecrets
    secrets: Readonly<Record<string, string>>
  },
): Promise<SubscriptionRow> {
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const current = await requireSubscription(ctx, id)
    const reference = { merchantAccountId: current.merchant_account_id, id }
    const { change, secrets } = decide(current)
    await ctx.vault.storeSecrets(reference, secrets)
    const row = await transact(ctx, async (ctx) => {
      const row = await updateSubscription(ctx.db, ctx.accounts, current, change, realTime.now())
      if (row) await record(ctx, 'updated', row)
      return row
    })
    const unused = row ? namesOf(current).filter((name) => !namesOf(row).includes(name)) : Object.keys(secrets)
    if (unused.length > 0) await ctx.vault.remove([reference], unused)
    if (row) return row
  }
  throw new Error('the webhook subscription changes faster than it can be updated')
}

/** The subscription as it would be, and what the vault has to keep for it; refused if it breaks a rule. */
function changed(
  { checkTarget }: Pick<Context, 'checkTarget'>,
  current: SubscriptionSettings,
  input: WebhookSubscriptionUpdate,
): { settings: SubscriptionSettings; secrets: Record<string, string> } {
  const { authentication, secrets, problems }: AuthenticationChange =
    input.authentication === undefined
      ? { authentication: current.authentication, secrets: {}, problems: [] }
      : changeAuthentication(current.authentication, input.authentication)
  const settings = {
    url: input.url ?? current.url,
    active: input.active ?? current.active,
    event_names: input.event_names === undefined ? current.event_names : input.event_names,
    authentication,
  }
  const targets: [pointer: string, url: string | undefined][] = [
    ['/url', input.url ?? undefined],
    [
      '/authentication/token_url',
      authentication && 'token_url' in authentication ? authentication.token_url : undefined,
    ],
  ]
  const all = [
    ...problems,
    ...targets.flatMap(([pointer, url]) => {
      const message = url === undefined ? undefined : checkTarget(url)
      return message === undefined ? [] : [problem(pointer, 'pattern', message)]
    }),
    ...(input.event_names ?? []).flatMap((name, index) =>
      known.has(name) ? [] : [problem(`/event_names/${index}`, 'unknown', 'There is no such event')],
    ),
  ]
  if (all.length > 0) throw new ValidationFailure(all)
  return { settings, secrets }
}

const known: ReadonlySet<string> = new Set(eventNames)

const problem = (pointer: string, type: string, message: string): ErrorDetail => ({
  location: 'body',
  pointer,
  message,
  type: `value_error.${type}`,
})

/** A rotation may remove a secret between the row and the vault; then both are read again. */
async function findWithSecrets<Found>(
  { vault }: Pick<Context, 'vault'>,
  find: () => Promise<Found>,
  rowsOf: (found: Found) => readonly SubscriptionRow[],
): Promise<{ found: Found; secretOf: (row: SubscriptionRow) => string | null }> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await find()
    const wanted = rowsOf(found).flatMap(({ merchant_account_id, id, secret_name }) =>
      secret_name === null ? [] : { merchantAccountId: merchant_account_id, id, field: secret_name },
    )
    const values = await vault.readEach(wanted)
    if (values.includes(undefined) && attempt < mostAttempts) continue
    const secrets = new Map(wanted.map(({ id }, index) => [id, values[index]]))
    return { found, secretOf: ({ id }) => secrets.get(id) ?? null }
  }
}

/** The audit row of a change, in its transaction. Of the URL only the host: the rest may be a secret of the receiver. */
async function record(ctx: Context, what: 'created' | 'updated' | 'deleted', row: SubscriptionRow): Promise<void> {
  await audit(ctx, what, {
    type: 'webhook-subscription',
    id: row.id,
    name: new URL(row.url).host,
    merchantAccountId: accountOrNull(row.merchant_account_id),
  })
}

const present = (row: SubscriptionRow, secret: string | null): WebhookSubscription => ({
  type: 'webhook-subscription',
  id: row.id,
  merchant_account_id: accountOrNull(row.merchant_account_id),
  active: row.active,
  url: row.url,
  event_names: row.event_names && [...row.event_names],
  authentication: presentAuthentication(row),
  secret,
  rotating: isRotating(row),
  creator: presentCreator(row),
})

function presentAuthentication({ authentication }: SubscriptionRow): Authentication | null {
  if (!authentication) return null
  const type = 'webhook-authentication'
  if (authentication.kind === 'basic') {
    return { type, kind: authentication.kind, username: authentication.username, password: mask }
  }
  const { client_id, token_url, scope } = authentication
  const client = { type, client_id, client_secret: mask, token_url, scope } as const
  if (authentication.kind === 'oauth_client_credentials') return { ...client, kind: authentication.kind }
  return { ...client, kind: authentication.kind, username: authentication.username, password: mask }
}
