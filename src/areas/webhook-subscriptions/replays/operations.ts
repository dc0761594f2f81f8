import { realTime } from '../../../clocks.ts'
import { accountOrNull, type Context, onBehalfOf } from '../../../context.ts'
import { invalidBody, notFound } from '../../../errors.ts'
import { newId, timeOfId } from '../../../ids.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { type Db, transact } from '../../../platform/postgres.ts'
import type { Collection } from '../../../schema.ts'
import { audit } from '../../audit-logs/operations.ts'
import { addDeliveries, findSubscription, requireActiveSubscription } from '../../webhook-deliveries/operations.ts'
import { rangeOf, settledUpTo } from './rules.ts'
import type { NewWebhookReplay, ReplayPath, WebhookReplay } from './schema.ts'
import {
  countPending,
  countWanted,
  findOpenReplays,
  findReplay,
  insertReplay,
  listReplayRows,
  lockOpenReplay,
  lookAtEvents,
  moveReplay,
  type ReplayRow,
} from './store.ts'

/** A dry run counts no further. */
const mostCounted = 100_000

/** Leaves it to the worker to have events of the past sent again; or counts them. */
export async function createWebhookReplay(
  ctx: Context,
  subscriptionId: string,
  input: NewWebhookReplay,
): Promise<WebhookReplay> {
  const subscription = await requireActiveSubscription(ctx, subscriptionId)
  const owned = onBehalfOf(ctx, subscription.merchant_account_id)
  const range = rangeOf(input, realTime.now())
  if (!range) {
    const message = 'Must be before `created_at_lte` and not in the future'
    throw invalidBody('/created_at_gte', 'value_error.range', message)
  }
  const names = input.event_names ?? null
  const id = newId()
  const terms = {
    ...range,
    merchant_account_id: subscription.merchant_account_id,
    subscription_id: subscription.id,
    event_names: names,
    undelivered_only: input.undelivered_only ?? false,
    created_at: timeOfId(id),
  }
  if (input.dry_run) {
    const counted = { ...terms, event_names: names ?? subscription.event_names }
    const { looked, wanted } = await countWanted(owned.db, owned.accounts, counted, mostCounted + 1)
    return present({
      ...terms,
      id: null,
      position: null,
      deliveries: Math.min(wanted, mostCounted),
      finished_at: null,
      is_minimum: looked > mostCounted,
    })
  }
  return await transact(owned, async (ctx) => {
    const replay = present(await insertReplay(ctx.db, { ...terms, id }))
    await audit(ctx, 'created', { type: replay.type, id, name: id, merchantAccountId: replay.merchant_account_id })
    return replay
  })
}

export async function listWebhookReplays(
  ctx: Context,
  subscriptionId: string,
  page: PageRequest,
): Promise<Collection<WebhookReplay>> {
  const subscription = await findSubscription(ctx, subscriptionId)
  const { db, accounts } = onBehalfOf(ctx, subscription.merchant_account_id)
  return toCollection(page, await listReplayRows(db, accounts, subscription, page), ({ id }) => id, present)
}

export async function getWebhookReplay(ctx: Context, path: ReplayPath): Promise<WebhookReplay> {
  const subscription = await findSubscription(ctx, path.subscription_id)
  const { db, accounts } = onBehalfOf(ctx, subscription.merchant_account_id)
  const replay = await findReplay(db, accounts, subscription, path.replay_id)
  if (!replay) throw notFound()
  return present(replay)
}

/** How many events are looked at in one transaction. */
const batchSize = 1_000
/** Replays wait while more than this are to be sent to the endpoint: what happens now comes first. */
const mostPending = 5_000

/** Goes on with all replays, a batch of each in turn, as far as there is room. Returns how many deliveries were made. */
export async function advanceReplays(db: Db, now: () => Date, signal: AbortSignal): Promise<number> {
  let made = 0
  for (let hasMoved = true; hasMoved; ) {
    hasMoved = false
    for (const replay of await findOpenReplays(db)) {
      if (signal.aborted) return made
      const batch = await advance(db, replay, now())
      made += batch.made
      hasMoved ||= batch.hasMoved
      await failpoint('replay: committed')
    }
  }
  return made
}

/** Deliveries and position are one commit: whoever goes on after a crash neither misses an event nor tells one twice. */
function advance(
  db: Db,
  { merchant_account_id, id }: Pick<ReplayRow, 'merchant_account_id'> & { id: string },
  now: Date,
): Promise<{ made: number; hasMoved: boolean }> {
  return transact({ db, accounts: 'all' as const }, async ({ db }) => {
    const replay = await lockOpenReplay(db, { merchant_account_id, id })
    const nothing = { made: 0, hasMoved: false }
    if (!replay || (await countPending(db, replay.subscription_id, mostPending)) > mostPending - batchSize)
      return nothing
    const settled = settledUpTo(now)
    const upTo = settled < replay.to_id ? settled : replay.to_id
    const terms = { ...replay, event_names: replay.event_names ?? replay.subscribed_names }
    const looked = await lookAtEvents(db, terms, { upTo, limit: batchSize, position: replay.position })
    const eventIds = looked.filter(({ is_wanted }) => is_wanted).map((event) => event.id)
    await addDeliveries(db, { merchant_account_id, id: replay.subscription_id }, { origin: 'replay', eventIds })
    await failpoint('replay: position not yet moved')
    await moveReplay(db, replay, {
      position: looked.at(-1)?.id ?? replay.position,
      deliveries: eventIds.length,
      finishedAt: looked.length < batchSize && upTo === replay.to_id ? now : null,
      now,
    })
    await failpoint('replay: not yet committed')
    return { made: eventIds.length, hasMoved: looked.length > 0 }
  })
}

const present = (row: Omit<ReplayRow, 'id'> & { id: string | null; is_minimum?: boolean }): WebhookReplay => ({
  type: 'webhook-replay',
  id: row.id,
  merchant_account_id: accountOrNull(row.merchant_account_id),
  subscription_id: row.subscription_id,
  created_at_gte: timeOfId(row.from_id).toISOString(),
  created_at_lte: timeOfId(row.to_id).toISOString(),
  event_names: row.event_names,
  undelivered_only: row.undelivered_only,
  deliveries: row.deliveries,
  is_minimum: row.is_minimum ?? false,
  position: row.position === null ? null : timeOfId(row.position).toISOString(),
  created_at: row.created_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null,
})
