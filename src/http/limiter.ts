import { BoundedMap } from '../bounded-map.ts'
import type { Caller } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { Route } from './route.ts'

/** One use of a subject, counted by the database: whether it may pass, and how things stand after it. */
export interface CountedUse {
  allowed: boolean
  /** How many more may pass now. */
  remaining: number
  /** When the next may pass, or the oldest that counts is forgotten. */
  waitMs: number
}

/** Who is limited: a browser's token by its identity, or a checkout session by its id. */
export interface Subject {
  kind: 'token' | 'session'
  id: string
}

/** Whom a request of this route counts for. Servers are never counted. */
export function subjectOf(
  { limited }: Pick<Route, 'limited'>,
  { pins, tokenId }: Caller,
  params: unknown,
): Subject | undefined {
  if (limited === 'session') return { kind: 'session', id: (params as { session_id: string }).session_id }
  return limited === 'token' && pins && tokenId !== null ? { kind: 'token', id: tokenId } : undefined
}

/** Undefined for what does not exist and so is not counted. */
export type CountUse = (subject: Subject) => Promise<CountedUse | undefined>

type Headers = Record<string, string>

/** Counts a use and returns the headers of the answer; throws 429 when there were too many. */
export type Limiter = (subject: Subject) => Promise<Headers>

export interface LimiterOptions {
  count: CountUse
  limit: number
  windowSeconds: number
  /** In milliseconds, and never backwards. */
  now?: () => number
}

interface Block {
  /** Before this the database would refuse again, so it is not asked. */
  until: number
  /** At this time it has let go for sure: what callers are told. */
  freeAt: number
}

const mostBlocks = 20_000

/**
 * The database counts, so that all processes count together. What it refused is refused here until the time that it named, so that a flood
 * costs it nothing.
 */
export function createLimiter({ count, limit, windowSeconds, now = () => performance.now() }: LimiterOptions): Limiter {
  const blocks = new BoundedMap<string, Block>(mostBlocks)
  const policy = { 'ratelimit-policy': `"embed";q=${limit};w=${windowSeconds}` }
  const headers = (remaining: number, waitMs: number): Headers => ({
    ...policy,
    ratelimit: `"embed";r=${remaining};t=${wholeSeconds(waitMs)}`,
  })
  const refuse = (kind: Subject['kind'], waitMs: number) =>
    new ApiError('too_many_requests', {
      message: messages[kind],
      headers: { ...headers(0, waitMs), 'retry-after': String(wholeSeconds(waitMs)) },
    })

  return async ({ kind, id }) => {
    const key = `${kind}:${id}`
    const asked = now()
    const block = blocks.get(key)
    if (block && asked < block.until) throw refuse(kind, block.freeAt - asked)
    const use = await count({ kind, id })
    if (!use) return {}
    if (use.allowed) return headers(use.remaining, use.waitMs)
    const answered = now()
    // The database read its clock somewhere between the two.
    blocks.set(key, { until: asked + use.waitMs, freeAt: answered + use.waitMs })
    throw refuse(kind, use.waitMs)
  }
}

/** Never too few: after so many seconds the moment has passed. */
const wholeSeconds = (ms: number) => Math.floor(Math.max(0, ms) / 1000) + 1

const messages = {
  token:
    'This browser token made too many requests; wait as long as Retry-After says, and sign a new token for every checkout',
  session:
    'Fields were sent to this checkout session too often; wait as long as Retry-After says, and make a new session for every checkout',
}
