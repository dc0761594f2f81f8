import type { FastifyRequest } from 'fastify'
import type { InboundMessage } from '../connectors/payment.ts'
import { badHeader } from './errors.ts'

/** What the edge reads of a request beside its path, query and body. */

export function singleHeader(request: FastifyRequest, key: string): string | undefined {
  const value = request.headers[key]
  return Array.isArray(value) ? value[0] : value
}

/** Node keeps the first of some repeated headers and joins others; which one a proxy in front looked at is anybody's guess. */
export function refuseRepeated(request: FastifyRequest, names: ReadonlySet<string>): void {
  const { rawHeaders } = request.raw
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const key = name.toLowerCase()
    if (!names.has(key)) continue
    if (seen.has(key)) throw badHeader(name, 'value_error.conflict', 'Must be sent once')
    seen.add(key)
  }
}

export function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const key = singleHeader(request, 'idempotency-key')
  if (key === undefined || (key.length >= 1 && key.length <= 255)) return key
  throw badHeader('Idempotency-Key', 'value_error.length', 'Must have 1 to 255 characters')
}

/** `Prefer: resource=transaction-capture`, among others or alone; what is not known is ignored. */
export const prefers = (request: FastifyRequest, resource: string) =>
  (singleHeader(request, 'prefer') ?? '').split(',').some((preference) => preference.trim() === `resource=${resource}`)

export const noMessage: InboundMessage = { headers: {}, body: Buffer.alloc(0) }

/** Of headers only `set-cookie` could be a list, which no request has. */
export const messageOf = ({ headers, body }: FastifyRequest): InboundMessage => ({
  headers: headers as InboundMessage['headers'],
  body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
})
