import type { FastifyReply } from 'fastify'
import type { Rendered } from '../rendered.ts'

const longText = 16_384

/** Text that is an answer already. */
export function sendRendered(reply: FastifyReply, rendered: Rendered, status: number): FastifyReply {
  const length = rendered.parts.reduce((sum, part) => sum + part.length, 0)
  return reply
    .code(rendered.status ?? status)
    .headers(rendered.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((body: unknown) => body as string)
    .send(length > longText ? rendered.bytes : rendered.text)
}
