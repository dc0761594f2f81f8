import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import { eventNames, typeOf } from '../../events/catalog.ts'
import { renderEvent } from '../../events/envelope.ts'
import { firstIdOf, lastIdOf } from '../../ids.ts'
import { ceilMs, floorMs } from '../../moments.ts'
import { type PageRequest, toCollection } from '../../page.ts'
import { Rendered } from '../../rendered.ts'
import type { ListEventsQuery } from './schema.ts'
import { type EventFilter, findEvent, listEventRows } from './store.ts'

export async function getEvent(ctx: Context, id: string): Promise<Rendered> {
  const row = await findEvent(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  return new Rendered(renderEvent(row, ctx))
}

/** The items are the texts that were sent; only the frame around them is made here. */
export async function listEvents(ctx: Context, query: ListEventsQuery, page: PageRequest): Promise<Rendered> {
  const filter = filterOf(query)
  const rows = filter ? await listEventRows(ctx.db, ctx.accounts, filter, page) : { rows: [], hasBehind: false }
  const { items, ...rest } = toCollection(
    page,
    rows,
    ({ id }) => id,
    (row) => renderEvent(row, ctx),
  )
  return new Rendered(['{"items":[', items.join(','), '],', JSON.stringify(rest).slice(1)])
}

/** Undefined when nothing can match. */
function filterOf(query: ListEventsQuery): EventFilter | undefined {
  const names = namesOf(query)
  if (names?.length === 0) return undefined
  const [from, to] = [ceilMs(query.created_at_gte), floorMs(query.created_at_lte)]
  return {
    names,
    resourceId: query.resource_id,
    fromId: from === undefined ? undefined : firstIdOf(from),
    toId: to === undefined ? undefined : lastIdOf(to),
  }
}

/** A type stands for all its names, for which there is an index. */
function namesOf({ name, resource_type: type }: ListEventsQuery): string[] | undefined {
  if (name === undefined && type === undefined) return undefined
  return eventNames.filter((known) => (name?.includes(known) ?? true) && (type === undefined || typeOf(known) === type))
}
