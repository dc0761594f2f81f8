import { ApiError, errorAnswer, type ErrorDetail, ValidationFailure } from '../errors.ts'
import { isUnavailable } from '../platform/postgres.ts'
import { VaultUnavailableError } from '../vault/client.ts'
import type { Route } from './route.ts'

export interface ErrorAnswer {
  status: number
  code: string
  headers: Readonly<Record<string, string>>
  body: unknown
  /** Ours to mend: logged with its stack, shown as nothing. */
  isFault: boolean
}

/** Where to read what an error means and how to mend it; a page of docs/errors. */
export const helpHeader = (code: string) => ({ link: `</docs/errors/${code}>; rel="help"` })

/** Anything thrown → the answer the specification describes. */
export function answerError(thrown: unknown, route?: Pick<Route, 'validation'>): ErrorAnswer {
  if (thrown instanceof ValidationFailure && route?.validation === 'detail') return answer422(thrown)
  const error = thrown instanceof ApiError ? thrown : translate(thrown)
  const { status, body } = errorAnswer(error)
  return {
    status,
    code: error.code,
    headers: { ...error.headers, ...helpHeader(error.code) },
    body,
    isFault: !(thrown instanceof ApiError) && status >= 500,
  }
}

/** Never with `input`: it would hand card data back and put it into logs. */
function answer422(failure: ValidationFailure): ErrorAnswer {
  const detail = failure.details.map(({ location, pointer, message, type }) => ({
    loc: [location, ...locationParts(pointer)],
    msg: message,
    type,
  }))
  return { status: 422, code: failure.code, headers: helpHeader(failure.code), body: { detail }, isFault: false }
}

const locationParts = (pointer: string) =>
  pointer
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part))

function translate(thrown: unknown): ApiError {
  if (isUnavailable(thrown) || thrown instanceof VaultUnavailableError) return new ApiError('gateway_timeout')
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown }
  const isClients = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  if (isClients && typeof code === 'string' && code.startsWith('FST_')) return badBody(frameworkMessages[code])
  return new ApiError('server_error')
}

const frameworkMessages: Record<string, string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than 1 MiB',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The content type must be application/json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as the content-length header says',
}

/** A body that cannot be looked into at all: the pointer is empty. */
export function badBody(message = 'The request could not be read'): ApiError {
  const detail: ErrorDetail = { location: 'body', pointer: '', message, type: 'value_error.unknown' }
  return new ApiError('bad_request', { message: 'Request failed validation', details: [detail] })
}

export function badHeader(name: string, type: string, message: string): ApiError {
  return new ApiError('bad_request', {
    message: 'Request failed validation',
    details: [{ location: 'header', pointer: name, message, type }],
  })
}
