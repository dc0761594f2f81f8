import { setTimeout as sleep } from 'node:timers/promises'
import { realTime } from '../../../clocks.ts'
import type { Context } from '../../../context.ts'
import { duplicateRecord, notFound, ValidationFailure } from '../../../errors.ts'
import { renderEvent } from '../../../events/envelope.ts'
import { firstIdOf, lastIdOf, timeOfId } from '../../../ids.ts'
import { isOne } from '../../../platform/accounts.ts'
import { transact } from '../../../platform/postgres.ts'
import { Streamed } from '../../../streamed.ts'
import { listEventIds, readEvents } from '../store.ts'
import { frame, heartbeat, heartbeatMs, holdBackMs, lateMs, pollMs } from './rules.ts'
import type { EventConsumer, EventConsumerUpdate, FeedQuery, NewEventConsumer } from './schema.ts'
import { type ConsumerRow, findConsumer, insertConsumer, moveConsumer } from './store.ts'

export async function createEventConsumer(ctx: Context, { id }: NewEventConsumer): Promise<EventConsumer> {
  const now = realTime.now()
  const account = accountOfConsumer(ctx)
  const row = await transact(ctx, ({ db }) =>
    insertConsumer(db, { account, id, position: firstIdOf(now.getTime()), now }),
  )
  if (!row) throw duplicateRecord('There is a consumer with this id', id)
  return present(row)
}

export async function updateEventConsumer(
  ctx: Context,
  id: string,
  { position }: EventConsumerUpdate,
): Promise<EventConsumer> {
  const account = accountOfConsumer(ctx)
  const row = await transact(ctx, ({ db }) => moveConsumer(db, { account, id, position, now: realTime.now() }))
  if (!row) throw notFound()
  return present(row)
}

const present = (row: ConsumerRow): EventConsumer => ({
  type: 'event-consumer',
  id: row.id,
  position: row.position,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

async function positionOf(ctx: Context, id: string): Promise<string> {
  const row = await findConsumer(ctx.db, ctx.accounts, accountOfConsumer(ctx), id)
  if (row) return row.position
  throw badConsumer('value_error.unknown', 'There is no such consumer; POST /events/consumers makes one')
}

function accountOfConsumer({ accounts }: Context): string {
  if (accounts === 'all') return '*'
  if (isOne(accounts)) return accounts[0]
  throw badConsumer('value_error.conflict', 'A consumer reads one merchant account, or all of the instance; name one')
}

const badConsumer = (type: string, message: string) =>
  new ValidationFailure([{ location: 'query', pointer: 'consumer', type, message }])

/** Where a reader begins is decided before the answer does, so that what is wrong with it can be said. */
export async function feedEvents(ctx: Context, query: FeedQuery): Promise<Streamed> {
  const seen = query.consumer === undefined ? query.position : await positionOf(ctx, query.consumer)
  // Before the last that was seen there may have been one that was not there yet.
  const start = seen === undefined ? firstIdOf(Date.now()) : firstIdOf(timeOfId(seen).getTime() - lateMs)
  return new Streamed((signal) => follow(ctx, query, start, signal))
}

async function* follow(ctx: Context, query: FeedQuery, start: string, signal: AbortSignal): AsyncIterable<string> {
  const end = performance.now() + (query.wait ?? 0) * 1_000
  const sent = new Set<string>()
  let from = start
  let lastWritten = performance.now()
  yield heartbeat
  while (!signal.aborted) {
    const complete = Date.now() - holdBackMs
    // All that can still come is after this.
    const settled = firstIdOf(complete - lateMs)
    for await (const events of eventsBetween(ctx, query, from, lastIdOf(complete))) {
      const fresh = events.filter((id) => !sent.has(id))
      for (let at = 0; at < fresh.length && !signal.aborted; at += batch) {
        yield await framesOf(ctx, fresh.slice(at, at + batch))
        lastWritten = performance.now()
      }
      for (const id of fresh) if (id > settled) sent.add(id)
    }
    from = from > settled ? from : settled
    for (const id of sent) if (id < from) sent.delete(id)
    if (performance.now() >= end) return
    if (performance.now() - lastWritten >= heartbeatMs) {
      yield heartbeat
      lastWritten = performance.now()
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}

const batch = 100
const idsAtOnce = 5_000

/** Their ids, oldest first. */
async function* eventsBetween(ctx: Context, { name }: FeedQuery, from: string, to: string): AsyncIterable<string[]> {
  const filter = { names: name && [...new Set(name)], toId: to }
  for (let after: string | undefined = from; after !== undefined; ) {
    const ids: string[] = await listEventIds(ctx.db, ctx.accounts, filter, { after, limit: idsAtOnce })
    yield ids
    after = ids.length < idsAtOnce ? undefined : ids.at(-1)
  }
}

async function framesOf(ctx: Context, ids: readonly string[]): Promise<string> {
  const rows = await readEvents(ctx.db, ctx.accounts, ids)
  return rows.map((row) => frame(row, renderEvent(row, ctx))).join('')
}
