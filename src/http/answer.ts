import type { FastifyReply } from 'fastify'
import { Rendered } from '../rendered.ts'
import { helpHeader } from './errors.ts'
import type { Route } from './route.ts'

const longText = 16_384

/** What a handler returned. */
export function sendAnswer(reply: FastifyReply, route: Route, output: unknown): FastifyReply {
  const [status] = route.returns
  if (output instanceof Rendered) return sendRendered(reply, route, output)
  if (output === undefined) return reply.code(route.orEmpty ?? status).send()
  return reply.code(status).headers(helpFor(output)).send(output)
}

/** Text that is an answer already. */
function sendRendered(reply: FastifyReply, route: Route, rendered: Rendered): FastifyReply {
  const length = rendered.parts.reduce((sum, part) => sum + part.length, 0)
  const [status] = route.returns
  return reply
    .code(rendered.status ?? status)
    .headers({ ...rendered.headers, ...helpForText(route, rendered) })
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((body: unknown) => body as string)
    .send(length > longText ? rendered.bytes : rendered.text)
}

function helpForText(route: Route, rendered: Rendered): Record<string, string> {
  // A list is of no one thing, and its text would be a copy of all its parts.
  if (route.paged) return {}
  const { status = 200, text } = rendered
  // A refusal that was stored with its idempotency key.
  if (status >= 400) return helpHeader((JSON.parse(text) as { code: string }).code)
  return text.includes('"error_code":"') ? helpFor(JSON.parse(text)) : {}
}

/** A payment, a capture or a refund that failed is explained as a refusal is. */
function helpFor(body: unknown): Record<string, string> {
  const { error_code: code } = body as { error_code?: string | null }
  return code ? helpHeader(code) : {}
}
