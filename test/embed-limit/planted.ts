import { ApiError } from '../../src/errors.ts'
import { type CountUse, createLimiter, type Subject } from '../../src/http/limiter.ts'
import type { Answered, Promised } from './verdict.ts'

/** Counters with a bug, behind real limiters of three processes, on a clock that stands still between requests. */

interface Clock {
  now: number
}
type Counter = (clock: Clock, promised: Promised) => CountUse

const perSubject = (clock: Clock, decide: (times: number[]) => boolean): CountUse => {
  const known = new Map<string, number[]>()
  return async ({ id }) => {
    const times = known.get(id) ?? []
    known.set(id, times)
    const allowed = decide(times)
    if (allowed) times.push(clock.now)
    return { allowed, remaining: 0, waitMs: 0 }
  }
}

const sliding: Counter = (clock, { limit, windowMs }) =>
  perSubject(clock, (times) => times.filter((at) => at >= clock.now - windowMs).length < limit)

const fixed: Counter = (clock, { limit, windowMs }) =>
  perSubject(
    clock,
    (times) => times.filter((at) => Math.floor(at / windowMs) === Math.floor(clock.now / windowMs)).length < limit,
  )

const strict: Counter = (clock, promised) => sliding(clock, { ...promised, limit: promised.limit / 2 })

export interface Plant {
  /** What a process counts with, from what all of them share or could. */
  counter: (shared: CountUse, own: () => CountUse) => CountUse
  counts: Counter
  subject: (twin: number) => Subject
}

const token = (): Subject => ({ kind: 'token', id: 'kid.jti' })
const shared: Plant['counter'] = (all) => all

export const none: Plant = { counter: shared, counts: sliding, subject: token }

export const planted: Record<string, Plant> = {
  'counts the raw token': { ...none, subject: (twin) => ({ kind: 'token', id: `token ${twin}` }) },
  'counts in the memory of a process': { ...none, counter: (_all, own) => own() },
  'counts in windows that stand still': { ...none, counts: fixed },
  'counts what it refused, or too much': { ...none, counts: strict },
}

/** Twins of one token, sent to three processes every half second for so long. */
export async function simulate(plant: Plant, promised: Promised, seconds: number): Promise<Answered[]> {
  // So that the first window that stands still ends in the middle.
  const clock: Clock = { now: promised.windowMs * 1.5 }
  const count = plant.counts(clock, promised)
  const limiters = Array.from({ length: 3 }, () =>
    createLimiter({
      count: plant.counter(count, () => plant.counts(clock, promised)),
      limit: promised.limit,
      windowSeconds: promised.windowMs / 1000,
      now: () => clock.now,
    }),
  )
  const answers: Answered[] = []
  for (let request = 0; request < seconds * 6; request += 1) {
    const at = { sentAt: clock.now, receivedAt: clock.now }
    try {
      await limiters[request % 3]?.(plant.subject(request % 20))
      answers.push({ ...at, status: 201, retryAfter: undefined })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      answers.push({ ...at, status: 429, retryAfter: error.headers['retry-after'] })
    }
    if (request % 3 === 2) clock.now += 500
  }
  return answers
}
