const firstDelayMs = 250
const longestDelayMs = 8_000
/** Who is told to come back later than this hears so from the error instead. */
const longestWaitMs = 60_000

export interface Failure {
  status?: number
  code?: string
  /** What `fetch` threw. */
  thrown?: unknown
}

/** `isRepeatable`: doing it twice is the same as doing it once. */
export function mayRepeat(isRepeatable: boolean, { status, code, thrown }: Failure): boolean {
  if (status === undefined) return isRepeatable || neverArrived(thrown)
  // Refused before anything was done.
  if (status === 425 || status === 429) return true
  if (status === 409) return isRepeatable && code === 'concurrent_request'
  return isRepeatable && [408, 502, 503, 504].includes(status)
}

const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/** Only some runtimes tell; of the others it is not known. */
function neverArrived(thrown: unknown): boolean {
  const { cause } = (thrown ?? {}) as { cause?: { code?: unknown } }
  return unreachable.includes(String(cause?.code))
}

/** How long to wait before the next attempt; undefined when it is not worth it. `attempt` counts from 0. */
export function delayOf(attempt: number, retryAfter: string | null): number | undefined {
  const backoff = Math.min(firstDelayMs * 2 ** attempt, longestDelayMs)
  // So that those who failed together do not come back together.
  const delay = Math.max(backoff * (0.5 + Math.random() / 2), askedFor(retryAfter))
  return delay > longestWaitMs ? undefined : delay
}

/** Seconds or a date. */
function askedFor(retryAfter: string | null): number {
  if (retryAfter === null) return 0
  const wait = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now()
  return Number.isNaN(wait) ? 0 : wait
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
