import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import type { Route } from './route.ts'

const tracer = trace.getTracer('florin')

/** A span per operation, continuing the caller's trace. Without an OpenTelemetry SDK this does nothing. */
export function traced(route: Route, request: FastifyRequest, work: () => unknown): unknown {
  const parent = propagation.extract(context.active(), request.headers)
  return tracer.startActiveSpan(
    route.id,
    { kind: SpanKind.SERVER, attributes: { 'http.request.method': route.method, 'http.route': route.path } },
    parent,
    async (span) => {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof ApiError)) span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
  )
}
