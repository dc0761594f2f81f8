/** Headers of requests and answers, as openapi.json describes them. */

export const headerComponents = {
  RequestId: {
    description: 'Names this request in logs; quote it when you ask for help.',
    schema: { type: 'string' },
  },
  Help: {
    description: 'Where to read what the error means and how to mend it.',
    schema: { type: 'string' },
    example: '</docs/errors/bad_request>; rel="help"',
  },
  RetryAfter: {
    description: 'Seconds after which the next request passes.',
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimit: {
    description:
      'For browser tokens and checkout sessions: how many more requests may pass now (`r`), and in how many seconds there are more (`t`).',
    schema: { type: 'string' },
    example: '"embed";r=49;t=60',
  },
  RateLimitPolicy: {
    description: 'How many requests (`q`) may pass within any window of so many seconds (`w`).',
    schema: { type: 'string' },
    example: '"embed";q=50;w=60',
  },
}

export const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }
export const helpHeader = { Link: { $ref: '#/components/headers/Help' } }
export const retryHeader = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
export const limitHeaders = {
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
}

export const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A value of your own for this one request. The same key within 24 hours gets the same answer, with `Idempotency-Replayed: true`, and nothing happens twice; with another body it is refused.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '8f14e45f-ceea-467f-a8a0-5d3b1c7d2e10',
}

export const preferHeader = (resource: string) => ({
  name: 'Prefer',
  in: 'header',
  required: false,
  description: `\`resource=${resource}\` answers with what became of the action instead of the transaction.`,
  schema: { type: 'string' },
  example: `resource=${resource}`,
})

export const accountParameter = (prefix: string, description: string) => ({
  name: `${prefix}Merchant-Account-ID`,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', maxLength: 255 },
  example: 'default',
})

export const webhookHeaderNames = [
  'WebhookId',
  'WebhookTimestamp',
  'WebhookSignatures',
  'StandardWebhookId',
  'StandardWebhookTimestamp',
  'StandardWebhookSignature',
] as const

const seconds = 'When this attempt was made, in seconds since 1970.'
const sameId = 'Id of the event: the same in every attempt. Do nothing twice that you have done by this id.'

/** Of what is sent to subscriptions: both forms of a signature are on each request, and one of them is enough to check. */
export function webhookHeaders(prefix: string): Record<(typeof webhookHeaderNames)[number], object> {
  const header = (name: string, description: string, schema: object) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema,
  })
  return {
    WebhookId: header(`${prefix}Webhook-ID`, sameId, { type: 'string', format: 'uuid' }),
    WebhookTimestamp: header(`${prefix}Webhook-Timestamp`, seconds, { type: 'integer' }),
    WebhookSignatures: header(
      `${prefix}Webhook-Signatures`,
      'HMAC-SHA256 in hex, with commas between where there are several: of the timestamp, a full stop and the body as it came, by the characters of the secret. While a secret is rotated there is one by each.',
      { type: 'string' },
    ),
    StandardWebhookId: header('webhook-id', sameId, { type: 'string', format: 'uuid' }),
    StandardWebhookTimestamp: header('webhook-timestamp', seconds, { type: 'integer' }),
    StandardWebhookSignature: header(
      'webhook-signature',
      'As the Standard Webhooks specification says: `v1,` and the HMAC-SHA256 in base64, with spaces between where there are several, of id, timestamp and body with full stops between, by the bytes that the base64 after `whsec_` stands for.',
      { type: 'string' },
    ),
  }
}
