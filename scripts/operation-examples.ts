import { type Field, flagOf } from '../src/cli/operations/manifest.ts'
import { nameOperation } from '../src/http/operation-names.ts'
import type { Route } from '../src/http/route.ts'

const id = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e'
const ids = new Proxy({}, { get: () => id })

/** The route's example as a person would type it. */
export function exampleOf(route: Route, fields: readonly Field[]): string {
  const body = route.example?.({ merchantAccountId: 'default', unique: '1', ids })
  const query = Object.entries(route.exampleQuery ?? {})
  return [
    ...nameOperation(route),
    ...[...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => argumentOf(route, name)),
    ...query.flatMap(([name, value]) => [flagOf({ name }), quote(value)]),
    ...(route.raw ? ['--data', '@message.json'] : []),
    ...(body === undefined ? [] : bodyOptions(withoutOthers(body as object, fields), fields)),
  ].join(' ')
}

const argumentOf = ({ exampleParams }: Route, name: string): string =>
  exampleParams?.[name] ?? (name === 'merchant_account_id' ? 'default' : id)

/** An example works as it is where it does not name what only some have: a resource that it does not need. */
export const withoutOthers = (body: object, fields: readonly Pick<Field, 'name' | 'isRequired'>[]): object =>
  Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => value !== id || fields.some((field) => field.name === name && field.isRequired),
    ),
  )

function bodyOptions(body: object, fields: readonly Field[]): string[] {
  const options = optionsOf(body, new Map(fields.map((field) => [field.name, field])), '')
  return options ?? ['--data', quote(JSON.stringify(body))]
}

/** Undefined where something cannot be said by options. */
function optionsOf(value: object, fields: ReadonlyMap<string, Field>, inside: string): string[] | undefined {
  const parts = Object.entries(value).map(([name, entry]) => optionOf(inside + name, entry, fields))
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined
}

function optionOf(name: string, value: unknown, fields: ReadonlyMap<string, Field>): string[] | undefined {
  const field = fields.get(name)
  if (!field || value === null) return undefined
  const flag = flagOf(field)
  if (typeof value === 'boolean') return [value ? flag : `--no-${flag.slice(2)}`]
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.flatMap((item) => [flag, textOf(item)])
  if (typeof value !== 'object') return [flag, textOf(value)]
  return optionsOf(value, fields, `${name}.`) ?? [flag, textOf(value)]
}

const textOf = (value: unknown): string => quote(typeof value === 'string' ? value : JSON.stringify(value))

/** For a shell. */
const quote = (text: string): string =>
  /^[\w.,:/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
