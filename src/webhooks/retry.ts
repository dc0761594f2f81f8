/** When a delivery is tried again. Pure. */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

const delays = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour]
const laterDelay = 12 * hour

/** How long a receiver may ask us to wait. */
const longestWait = 24 * hour
/** Of the delay, and only ever longer: nobody is asked early, and those who failed together do not come back together. */
const jitter = 0.1

/**
 * Null: it has failed, for nothing is sent later than seven days after the event.
 * `attempts` counts the one that has just failed.
 */
export function nextAttemptAt({
  attempts,
  now,
  expiresAt,
  retryAfterMs = 0,
  random = Math.random,
}: {
  attempts: number
  now: Date
  expiresAt: Date
  retryAfterMs?: number | undefined
  random?: () => number
}): Date | null {
  const delay = (delays[attempts - 1] ?? laterDelay) * (1 + jitter * random())
  const at = new Date(now.getTime() + Math.max(delay, Math.min(retryAfterMs, longestWait)))
  return at < expiresAt ? at : null
}

/** The header, as seconds or as a date. */
export function retryAfterMs(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * second : Date.parse(value) - now.getTime()
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}
