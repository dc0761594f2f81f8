/** Headers of requests and answers, as openapi.json describes them. */

export const headerComponents = {
  RequestId: {
    description: 'Names this request in logs; quote it when you ask for help.',
    schema: { type: 'string' },
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
