import { ApiError } from '../errors.ts'

/** Which path of the API a URL is, and which it is not. */

/** As the router writes it. */
export const urlOf = ({ path }: { path: string }) => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Of the paths there are; whoever asks for another must not cost a hundred of them. */
const patterns = new Map<string, RegExp>()

function patternOf(path: string): RegExp {
  const known = patterns.get(path)
  if (known) return known
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
  patterns.set(path, pattern)
  return pattern
}

// Cut and decoded as the router does it, which has refused what cannot be.
const pathOf = (url: string) => decodeURI(url.split(/[?#]/)[0] ?? '')

/** Whether a path spells out what the other has a parameter for. */
const isSpelledOut = (path: string, other: string) => patternOf(other).test(path) && !patternOf(path).test(other)

/** Of each path, those that spell it out. */
export type Shadows = ReadonlyMap<string, readonly RegExp[]>

export const shadowsOf = (paths: readonly string[]): Shadows =>
  new Map(paths.map((path) => [path, paths.filter((other) => isSpelledOut(other, path)).map(patternOf)]))

/** `/buyers/payment-methods` is a path of its own, not a buyer of that name: what it does not serve is 405, not "bad id". */
export function isShadowed(url: string, path: string, shadows: Shadows): boolean {
  const patterns = shadows.get(path) ?? []
  return patterns.some((pattern) => pattern.test(pathOf(url)))
}

/** 405 with the methods of a path that exists with others, otherwise 404. A path spelled out wins over one with parameters. */
export function unknownPath(
  url: string,
  known: readonly { method: string; path: string }[],
  files: { has(path: string): boolean },
): ApiError {
  const path = pathOf(url)
  const file = files.has(path) ? [{ method: 'GET', path }] : []
  const all = [...known.filter((candidate) => patternOf(candidate.path).test(path)), ...file]
  const fitting = all.filter((candidate) => !all.some((other) => isSpelledOut(other.path, candidate.path)))
  const methods = fitting.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  if (methods.length === 0) return new ApiError('not_found')
  return new ApiError('method_not_allowed', { headers: { allow: [...new Set(methods)].sort().join(', ') } })
}
