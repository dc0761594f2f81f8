import type { EndpointSecrets } from '../areas/webhook-subscriptions/operations/endpoints.ts'
import { type EventSource, renderEvent } from '../events/envelope.ts'
import type { Authentication } from './authentication.ts'
import { deadlineMs, type Sent } from './dispatcher.ts'
import { type Outbound, OutboundError } from './outbound.ts'
import { retryAfterMs } from './retry.ts'
import { signatureHeaders } from './sign.ts'
import type { EndpointRow, EventRow } from './store.ts'

export interface SenderOptions {
  outbound: Outbound
  secretsOf: (endpoint: EndpointRow) => Promise<EndpointSecrets>
  authentication: Authentication
  source: EventSource
  /** Of the headers' names. */
  prefix: string
  now: () => Date
}

const secretsKeptMs = 30_000

/** One attempt: the event signed anew, posted, and what came back. */
export function createSender({ outbound, secretsOf, authentication, source, prefix, now }: SenderOptions) {
  const kept = new Map<string, { version: number; until: number; secrets: Promise<EndpointSecrets> }>()

  /** Read from the vault once for each version of a subscription, and again when a rotation ends. */
  function secrets(endpoint: EndpointRow): Promise<EndpointSecrets> {
    const known = kept.get(endpoint.id)
    if (known && known.version === endpoint.version && known.until > Date.now()) return known.secrets
    const rotation =
      endpoint.rotating_until && endpoint.rotating_until > now() ? endpoint.rotating_until.getTime() : Infinity
    const reading = secretsOf(endpoint)
    kept.set(endpoint.id, {
      version: endpoint.version,
      until: Math.min(Date.now() + secretsKeptMs, rotation),
      secrets: reading,
    })
    reading.catch(() => kept.delete(endpoint.id))
    return reading
  }

  return async (endpoint: EndpointRow, event: EventRow): Promise<Sent> => {
    const body = renderEvent({ ...event, target: event.target as object }, source)
    try {
      const known = await secrets(endpoint)
      const { status, headers } = await outbound.post({
        url: endpoint.url,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'florin-webhooks',
          ...signatureHeaders({ prefix, id: event.id, now: now(), body, secrets: known.signing }),
          ...(await authentication.headersFor(endpoint, known)),
        },
        body,
        deadlineMs,
        wantsBody: false,
      })
      if (status === 401) authentication.forget(endpoint)
      return { statusCode: status, error: null, retryAfterMs: retryAfterMs(headers['retry-after'], now()) }
    } catch (error) {
      if (error instanceof OutboundError) return { statusCode: null, error: error.kind }
      throw error
    }
  }
}
