import { expiryFrom } from '../areas/webhook-deliveries/operations.ts'
import { newId, timeOfId } from '../ids.ts'
import { failpoint } from '../platform/failpoint.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { type Due, insertDeliveries, type Match, takeEvents } from './store.ts'

export interface Relayed {
  events: number
  /** Those under a lease, which this process sends or puts into the lane. The others are due for whoever has room. */
  taken: Due[]
}

/**
 * Turns queued events into deliveries: both the rows that go and those that come are one commit, so that no event is lost between and none
 * is told twice by two relays. `wants` says whether this process will send a delivery at once, `forStream` whether other systems read the stream.
 */
export async function relay(
  db: Db,
  {
    limit,
    now,
    leaseMs,
    wants,
    forStream = false,
  }: {
    limit: number
    now: Date
    leaseMs: number
    wants: (subscriptionId: string) => boolean
    forStream?: boolean
  },
): Promise<Relayed> {
  const relayed = await transact({ db, accounts: 'all' as const }, async ({ db }) => {
    const matches = await takeEvents(db, { limit, forStream })
    if (matches.length === 0) return { events: 0, taken: [] }
    const planned = matches.flatMap((match) => plan(match, now, leaseMs, wants))
    await insertDeliveries(
      db,
      planned.map(({ row }) => row),
    )
    await failpoint('relay: not yet committed')
    return {
      events: new Set(matches.map(({ id }) => id)).size,
      taken: planned.flatMap(({ due }) => due ?? []),
    }
  })
  if (relayed.events > 0) await failpoint('relay: committed')
  return relayed
}

function plan(match: Match, now: Date, leaseMs: number, wants: (subscriptionId: string) => boolean) {
  const { subscription_id: subscriptionId, owner, ...event } = match
  if (subscriptionId === null || owner === null) return []
  const id = newId()
  const isTaken = wants(subscriptionId)
  const row = {
    merchant_account_id: owner,
    id,
    subscription_id: subscriptionId,
    event_id: event.id,
    next_attempt_at: new Date(now.getTime() + (isTaken ? leaseMs : 0)),
    expires_at: expiryFrom(event.created_at),
    created_at: timeOfId(id),
  }
  const due: Due | undefined = isTaken
    ? {
        merchant_account_id: owner,
        id,
        subscription_id: subscriptionId,
        attempts: 0,
        expires_at: row.expires_at,
        event,
      }
    : undefined
  return [{ row, due }]
}
