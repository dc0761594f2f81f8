import { ValidationFailure } from '../errors.ts'
import type { PageRequest } from '../page.ts'
import type { CursorCodec } from './cursor.ts'
import type { Route } from './route.ts'

/** The page that a request asks for. A cursor is good only for the request it was made for, whatever its limit. */
export function openPage(
  route: Pick<Route, 'id' | 'paged'>,
  query: Record<string, unknown>,
  caller: { keyPairId: string; accountHeader: string | undefined },
  codec: CursorCodec,
): PageRequest {
  const { cursor, limit, ...filters } = query
  const named = Object.entries(filters).sort(([left], [right]) => (left < right ? -1 : 1))
  const binding = JSON.stringify([route.id, caller.keyPairId, caller.accountHeader ?? '', named])
  const position = route.paged && typeof cursor === 'string' ? codec.open(cursor, binding) : undefined
  if (route.paged && cursor !== undefined && !position) {
    const message = 'Not a cursor of this list with these filters; start again without one'
    throw new ValidationFailure([{ location: 'query', pointer: 'cursor', message, type: 'value_error.unknown' }])
  }
  return { limit: Number(limit ?? 0), position, seal: (at) => codec.seal(at, binding) }
}
