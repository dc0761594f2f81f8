import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../errors.ts'
import type { Log } from '../platform/log.ts'
import type { Streamed } from '../streamed.ts'

/** In one process. A stream holds a connection, and asks the database again and again. */
const mostOfOneHolder = 5
const lookEveryMs = 1_000

interface Stream {
  /** Whose it is. */
  holder: string
  /** Whether the request would be let in again, now; throws when not. */
  readmit: () => Promise<void>
  requestId: string
}

/** Sends answers that go on, and ends them when the process does, or when their token is no longer what it was. */
export function createStreams({ isDraining, log }: { isDraining: () => boolean; log: Log }) {
  const open = new Map<string, number>()

  return (reply: FastifyReply, streamed: Streamed, { holder, readmit, requestId }: Stream): FastifyReply => {
    const others = open.get(holder) ?? 0
    if (others >= mostOfOneHolder) throw tooMany()
    open.set(holder, others + 1)
    const end = new AbortController()
    const look = async () => {
      if (isDraining()) return end.abort()
      await readmit().catch(() => end.abort())
    }
    const looking = setInterval(() => void look(), lookEveryMs)
    reply.raw.once('close', () => {
      clearInterval(looking)
      end.abort()
      const left = (open.get(holder) ?? 0) - 1
      if (left > 0) open.set(holder, left)
      else open.delete(holder)
    })
    // Made only as fast as the other side takes them.
    const body = Readable.from(streamed.chunks(end.signal), { objectMode: false, highWaterMark: 1 })
    body.once('error', (error) => {
      if (!end.signal.aborted) log.warn('a stream broke off', { request_id: requestId, error })
    })
    return reply.header('content-type', 'text/event-stream; charset=utf-8').send(body)
  }
}

const tooMany = () =>
  new ApiError('too_many_requests', {
    message: `The key pair has ${mostOfOneHolder} streams open already; close one of them first`,
    headers: { 'retry-after': '10' },
  })
