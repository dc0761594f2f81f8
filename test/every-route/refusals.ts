import type { Route } from '../../src/http/route.ts'
import type { Answer } from '../api.ts'

export const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right)

/** The last two are the client's doing: it gives up the connection of a HEAD. */
const differing = new Set(['x-request-id', 'date', 'connection', 'keep-alive'])

/** Status, body and headers without what differs by nature. */
export const comparable = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !differing.has(name)),
})

/** Where a validation failure points to, in either of its shapes, as `location pointer type`. */
export function failures({ body }: Answer): string[] {
  const { details, detail } = body as {
    details?: { location: string; pointer: string; type: string }[]
    detail?: { loc: (string | number)[]; type: string }[]
  }
  const escape = (part: string | number) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')
  return [
    ...(details ?? []).map(({ location, pointer, type }) => `${location} ${pointer} ${type}`),
    ...(detail ?? []).map(({ loc: [location, ...parts], type }) =>
      location === 'body'
        ? `body ${parts.map((part) => `/${escape(part)}`).join('')} ${type}`
        : `${location} ${parts.join('/')} ${type}`,
    ),
  ].sort()
}

/** A refusal in the shape of the operation that names exactly these places: `body /name`, or `body /name type`. */
export function refusalProblem(of: Route, answer: Answer, places: readonly string[]): string | false {
  const status = of.validation === 'detail' ? 422 : 400
  if (answer.status !== status) return `should be ${status}`
  const found = failures(answer)
  const missed = places.filter(
    (place) => !found.some((failure) => failure === place || failure.startsWith(`${place} `)),
  )
  const extra = found.filter((failure) => !places.some((place) => failure === place || failure.startsWith(`${place} `)))
  return missed.length + extra.length > 0 && `should name ${places.join(', ')}`
}

/** A body that cannot be looked into: 400 with the empty pointer on every operation. */
export const unreadableProblem = (answer: Answer) =>
  (answer.status !== 400 || !same(failures(answer), ['body  value_error.unknown'])) && 'should be 400, empty pointer'
