import type { ErrorDetail } from '../../../errors.ts'
import { firstIdOf, lastIdOf } from '../../../ids.ts'

/** The ids of events from one moment to another. Nothing of the future is replayed: it is delivered when it happens. */
export function rangeOf(
  { created_at_gte, created_at_lte }: { created_at_gte: string; created_at_lte?: string | null | undefined },
  now: Date,
): { from_id: string; to_id: string } {
  const to = new Date(created_at_lte ?? now)
  return { from_id: firstIdOf(Date.parse(created_at_gte)), to_id: lastIdOf(Math.min(to.getTime(), now.getTime())) }
}

export function replayProblems(
  range: { from_id: string; to_id: string },
  names: readonly string[],
  isKnown: (name: string) => boolean,
): ErrorDetail[] {
  const order: ErrorDetail = {
    location: 'body',
    pointer: '/created_at_gte',
    message: 'Must be before `created_at_lte` and not in the future',
    type: 'value_error.range',
  }
  const unknown = names.flatMap((name, index): ErrorDetail[] => {
    if (isKnown(name)) return []
    const pointer = `/event_names/${index}`
    return [{ location: 'body', pointer, message: 'There are no events of this name', type: 'value_error.unknown' }]
  })
  return [...(range.from_id > range.to_id ? [order] : []), ...unknown]
}

/** Whoever was writing an event when this one was made has committed by now, or never will: requests are cut long before. */
const settledAfterMs = 30_000

/** The last id behind which no event can still appear. */
export const settledUpTo = (now: Date) => lastIdOf(now.getTime() - settledAfterMs)
