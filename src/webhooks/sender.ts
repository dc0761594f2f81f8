import { renderEvent, type EventSource } from '../events/envelope.ts'
import { deadlineMs, type Sent } from './dispatcher.ts'
import { type Outbound, OutboundError } from './outbound.ts'
import { retryAfterMs } from './retry.ts'
import { signatureHeaders } from './sign.ts'
import type { EndpointRow, EventRow } from './store.ts'

/** What goes with a request to an endpoint and is kept in the vault. */
export interface EndpointSecrets {
  /** The active one first; the one before it while they are rotated. */
  signing: readonly string[]
  password: string | null
  clientSecret: string | null
}

export interface SenderOptions {
  outbound: Outbound
  secretsOf: (endpoint: EndpointRow) => Promise<EndpointSecrets>
  /** The header that shows who sends, where the subscription wants one. */
  authorize: (endpoint: EndpointRow, secrets: EndpointSecrets) => Promise<Record<string, string>>
  /** That the header was not good any more. */
  onUnauthorized?: (endpoint: EndpointRow) => void
  source: EventSource
  /** Of the headers' names. */
  prefix: string
  now: () => Date
}

const secretsKeptMs = 30_000

/** One attempt: the event signed anew, posted, and what came back. */
export function createSender({ outbound, secretsOf, authorize, onUnauthorized, source, prefix, now }: SenderOptions) {
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
          ...(await authorize(endpoint, known)),
        },
        body,
        deadlineMs,
      })
      if (status === 401) onUnauthorized?.(endpoint)
      return { statusCode: status, error: null, retryAfterMs: retryAfterMs(headers['retry-after'], now()) }
    } catch (error) {
      if (error instanceof OutboundError) return { statusCode: null, error: error.kind }
      throw error
    }
  }
}
