import type { ErrorCode, ErrorDetail } from './generated/errors.ts'

interface ErrorFacts {
  code: ErrorCode | 'unexpected_answer'
  status: number
  message: string
  details?: readonly ErrorDetail[]
  requestId?: string | null
  resourceId?: string | null
  docsUrl?: string | null
}

/** The API answered, and said no. */
export class FlorinError extends Error {
  override name = 'FlorinError'
  /** What went wrong, for programs. `unexpected_answer`: what answered was not Florin, such as a proxy in front of it. */
  readonly code: ErrorCode | 'unexpected_answer'
  /** The HTTP status. */
  readonly status: number
  /** The message without the details. */
  readonly reason: string
  /** What is wrong with each field. */
  readonly details: readonly ErrorDetail[]
  /** Quote it when you ask the operator for help. */
  readonly requestId: string | null
  /** With `duplicate_record`: the resource that has the value already. */
  readonly resourceId: string | null
  /** A page with cause and cure. */
  readonly docsUrl: string | null

  constructor({ code, status, message, details = [], requestId, resourceId, docsUrl }: ErrorFacts) {
    super([message, ...details.map((detail) => `  ${detail.location} ${detail.pointer}: ${detail.message}`)].join('\n'))
    this.code = code
    this.status = status
    this.reason = message
    this.details = details
    this.requestId = requestId ?? null
    this.resourceId = resourceId ?? null
    this.docsUrl = docsUrl ?? null
  }
}

/** No answer came: the connection failed, or the time was up. The reason is in `cause`. */
export class FlorinConnectionError extends Error {
  override name = 'FlorinConnectionError'
}

interface ErrorBody {
  type: 'error'
  code: ErrorCode
  message: string
  details: ErrorDetail[]
  resource_id?: string | null
}
interface ValidationBody {
  detail: { loc: (string | number)[]; msg: string; type: string }[]
}

export function errorOf(response: Response, text: string): FlorinError {
  const { status, headers } = response
  const facts = { status, requestId: headers.get('x-request-id'), docsUrl: docsUrlOf(response) }
  const body = parse(text)
  if (body && 'code' in body) {
    const { code, message, details, resource_id: resourceId = null } = body
    return new FlorinError({ ...facts, code, message, details, resourceId })
  }
  if (body) {
    const details = body.detail.map(toDetail)
    return new FlorinError({ ...facts, code: 'bad_request', message: 'Request failed validation', details })
  }
  // Without its text, which may repeat what was sent.
  const message = `The answer (${status}, ${headers.get('content-type') ?? 'no content type'}) is not one of Florin. Look at the base URL, and at what is between.`
  return new FlorinError({ ...facts, code: 'unexpected_answer', message })
}

function parse(text: string): ErrorBody | ValidationBody | undefined {
  try {
    const body = JSON.parse(text) as ErrorBody | ValidationBody | null
    const isError = body !== null && 'code' in body && body.type === 'error' && Array.isArray(body.details)
    const isValidation = body !== null && 'detail' in body && Array.isArray(body.detail)
    return isError || isValidation ? body : undefined
  } catch {
    return undefined
  }
}

/** The other shape of the same thing: `loc` begins with the location. */
function toDetail({ loc: [location = 'unknown', ...path], msg, type }: ValidationBody['detail'][number]): ErrorDetail {
  const pointer = location === 'body' ? path.map((part) => `/${escape(String(part))}`).join('') : String(path[0] ?? '')
  return { location: location as ErrorDetail['location'], pointer, message: msg, type }
}

const escape = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1')

/** `Link: </docs/errors/not_found>; rel="help"` */
function docsUrlOf({ headers, url }: Response): string | null {
  const [, target] = /<([^<>]+)>\s*;\s*rel="?help"?/.exec(headers.get('link') ?? '') ?? []
  return target === undefined || !URL.canParse(target, url) ? null : new URL(target, url).href
}
