import type { ErrorDetail, FlorinError } from '@florin/sdk/core'
import { ApiRefusal } from '../api-client.ts'
import { CommandError } from '../output.ts'
import { flagOf, type Operation } from './manifest.ts'
import { printable } from './terminal-text.ts'

/** What the API said, in the words of the command: options instead of fields, and what to do where that is known. */
export function explain(error: unknown, operation: Operation): unknown {
  if (!(error instanceof ApiRefusal)) return error
  const { status, reason, details, requestId, resourceId } = error.answer
  const advice = adviceOf(error.answer, operation)
  return new CommandError(
    [
      `${printable(reason)} (${status})`,
      ...details.map((detail) => `  ${optionOf(detail, operation)}${printable(detail.message)}`),
      ...(advice === undefined ? [] : [advice]),
      ...(resourceId === null ? [] : [`It has the id ${printable(resourceId)}.`]),
      ...(requestId === null ? [] : [`Request id: ${printable(requestId)}`]),
    ].join('\n'),
  )
}

function adviceOf({ status, details }: FlorinError, { scopes, account, parameters }: Operation): string | undefined {
  if (status === 401) return 'The key is not one of this API: see --key and --api. "florin keys create" makes one.'
  if (status === 403 && scopes.length > 0) return `It takes the scope ${scopes.join(' or ')} in a role of the key pair.`
  if (status === 404) {
    if (account === 'none') return 'Check the id.'
    return parameters.length === 0
      ? 'Check --account: "florin merchant-accounts list" shows them.'
      : 'Check the id, and --account: each merchant account has its own.'
  }
  return status === 400 && details.length > 0 ? 'Add --help to see what each of them takes.' : undefined
}

/** The option of the field, or of the nearest thing around it that has one. */
function optionOf({ location, pointer }: ErrorDetail, { fields, filters, parameters }: Operation): string {
  const path = pointer.split('/').filter((part) => part !== '')
  if (location === 'path') return parameters.some(({ name }) => name === pointer) ? `<${pointer}>: ` : named(path)
  if (location === 'header') return /account/i.test(pointer) ? '--account: ' : named(path)
  const known = location === 'query' ? filters : fields
  for (let length = path.length; length > 0; length -= 1) {
    const field = known.find(({ name }) => name === path.slice(0, length).join('.'))
    const rest = path.slice(length).join('.')
    if (field) return `${flagOf(field)}${rest === '' ? '' : ` (${printable(rest)})`}: `
  }
  return named(path)
}

const named = (path: readonly string[]): string => (path.length === 0 ? '' : `${printable(path.join('.'))}: `)
