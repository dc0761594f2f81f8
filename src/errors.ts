/** Code, status and default message, as the specification lists them. */
export const errorTable = {
  bad_request: [
    400,
    'Generic error',
    'The request lacks expected data or has wrong values; `details` names every field.',
  ],
  unauthorized: [401, 'No valid API authentication found', 'The bearer token is missing or not valid.'],
  forbidden: [
    403,
    'Generic error',
    'The token is valid, but its scopes, roles or merchant accounts do not cover the request.',
  ],
  not_found: [404, 'The resource could not be found', 'The resource does not exist, or the caller may not know of it.'],
  method_not_allowed: [405, 'Method Not Allowed', 'The path exists, but not with this method; see the `Allow` header.'],
  duplicate_record: [409, 'Generic error', 'Another resource already has this value; `resource_id` names it.'],
  concurrent_request: [
    409,
    'Generic error',
    'A request with the same idempotency key is still running; ask again when it has been answered.',
  ],
  too_early: [425, 'Generic error', 'The request came as TLS early data and could be a replay; send it again.'],
  too_many_requests: [
    429,
    'Generic error',
    'The browser token or the checkout session made too many requests; wait for `Retry-After`, and use a new one for every checkout.',
  ],
  server_error: [
    500,
    'Request could not be processed',
    'A fault in the service; quote `X-Request-Id` to its operator.',
  ],
  bad_gateway: [502, 'Request could not be processed', 'A payment or gift card provider answered something unusable.'],
  gateway_timeout: [
    504,
    'Request could not be processed',
    'A dependency did not answer in time; nothing was recorded.',
  ],
} as const satisfies Record<string, readonly [status: number, message: string, meaning: string]>

export type ErrorCode = keyof typeof errorTable

export interface ErrorDetail {
  location: 'body' | 'query' | 'path' | 'header' | 'unknown'
  /** JSON pointer in a body, the parameter's name elsewhere. */
  pointer: string
  message: string
  type: string
}

/** A failure the caller is meant to see. Anything else that is thrown is a bug and becomes a 500. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[]
  readonly resourceId: string | null
  readonly headers: Readonly<Record<string, string>>
  /** Why, for our own log only. */
  readonly reason: string | undefined

  constructor(
    code: ErrorCode,
    options: {
      message?: string
      details?: readonly ErrorDetail[]
      resourceId?: string | null
      headers?: Record<string, string>
      reason?: string
    } = {},
  ) {
    super(options.message ?? errorTable[code][1])
    this.code = code
    this.details = options.details ?? []
    this.resourceId = options.resourceId ?? null
    this.headers = options.headers ?? {}
    this.reason = options.reason
  }
}

/** What callers see of it. */
export function errorAnswer(error: ApiError): { status: number; body: object } {
  const [status] = errorTable[error.code]
  const body = { type: 'error', code: error.code, status, message: error.message, details: error.details }
  return { status, body: status === 409 ? { ...body, resource_id: error.resourceId } : body }
}

/** Values that do not fit the contract, every one of them at once. The edge shapes it as the operation's contract says. */
export class ValidationFailure extends ApiError {
  override name = 'ValidationFailure'

  constructor(details: readonly ErrorDetail[]) {
    super('bad_request', { message: 'Request failed validation', details })
  }
}

export const invalidBody = (pointer: string, type: string, message: string) =>
  new ValidationFailure([{ location: 'body', pointer, message, type }])

export const notFound = () => new ApiError('not_found')

export const forbidden = (message: string) => new ApiError('forbidden', { message })

export const concurrentRequest = () =>
  new ApiError('concurrent_request', {
    message: 'A request with this idempotency key is still running; send it again in a moment to get its answer',
  })

export const duplicateRecord = (message: string, resourceId: string | null) =>
  new ApiError('duplicate_record', { message, resourceId })
