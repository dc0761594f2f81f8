import { firstIdOf, lastIdOf } from '../../../ids.ts'
import { ceilMs, floorMs } from '../../../moments.ts'

/** The ids of events from one moment to another; undefined when there are none. What is to come is delivered when it happens. */
export function rangeOf(
  { created_at_gte, created_at_lte }: { created_at_gte: string; created_at_lte?: string | null | undefined },
  now: Date,
): { from_id: string; to_id: string } | undefined {
  const from = ceilMs(created_at_gte) ?? 0
  const to = Math.min(floorMs(created_at_lte ?? undefined) ?? now.getTime(), now.getTime())
  return from <= to ? { from_id: firstIdOf(from), to_id: lastIdOf(to) } : undefined
}

/** Whoever was writing an event when this one was made has committed by now, or never will: requests are cut long before. */
const settledAfterMs = 30_000

/** The last id behind which no event can still appear. */
export const settledUpTo = (now: Date) => lastIdOf(now.getTime() - settledAfterMs)
