import { type MediaType, type OpenApi, resolve, type Example, type Schema, type SchemaObject } from './openapi.ts'
import { matching } from './pattern.ts'
import { mapOf, shapeOf, typeOf } from './shape.ts'

export type Direction = 'request' | 'response'

const byFormat: Record<string, string> = {
  uuid: '0198f3c2-7a41-7cc0-9d3e-5b2f6a81c4d7',
  'date-time': '2025-03-14T09:26:53Z',
  date: '2025-03-14',
  time: '09:26:53Z',
  duration: 'PT15M',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '203.0.113.7',
  ipv6: '2001:db8::7',
  uri: 'https://example.com/return',
  url: 'https://example.com/return',
  byte: 'Zmxvcmlu',
  password: 'correct horse battery staple',
}

/** Words that make a made-up value read like a real one, by the end of the property's name. */
const byName: [RegExp, string | number][] = [
  [/amount|total/i, 1250],
  [/currency/i, 'EUR'],
  [/country/i, 'NL'],
  [/language|locale/i, 'en'],
  [/email/i, 'ada@example.com'],
  [/(url|uri)$/i, 'https://example.com/return'],
  [/description/i, 'A short description'],
  [/reference/i, 'order-1042'],
  [/cursor|token/i, 'eyJpZCI6MTA0Mn0'],
  [/(At|_at|Date|_date|Time|_time)$/, '2025-03-14T09:26:53Z'],
  [/holder/i, 'Ada Example'],
  [/city/i, 'Amsterdam'],
  [/message|reason|note/i, 'A short explanation'],
  [/name/i, 'Example'],
  [/id$/i, 'a1b2c3'],
]

const hint = (name: string, type: 'string' | 'number'): string | number | undefined =>
  byName.find(([pattern, value]) => pattern.test(name) && typeof value === type)?.[1]

const text = (schema: SchemaObject, name: string): string => {
  const least = schema.minLength ?? 0
  const most = schema.maxLength ?? Number.POSITIVE_INFINITY
  const fits = (value: string | number | undefined): value is string =>
    typeof value === 'string' &&
    value.length >= least &&
    value.length <= most &&
    (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value))
  const candidates = [
    byFormat[schema.format ?? ''],
    hint(name, 'string'),
    schema.pattern === undefined ? undefined : matching(schema.pattern),
  ]
  const found = candidates.find((candidate) => {
    try {
      return fits(candidate)
    } catch {
      return false
    }
  })
  return String(found ?? 'string'.padEnd(least, 'x').slice(0, Math.min(most, 200)))
}

const number = (schema: SchemaObject, name: string, whole: boolean): number => {
  const step = schema.multipleOf ?? 1
  const least = schema.minimum ?? (schema.exclusiveMinimum === undefined ? undefined : schema.exclusiveMinimum + step)
  const most = schema.maximum ?? (schema.exclusiveMaximum === undefined ? undefined : schema.exclusiveMaximum - step)
  const wished = Number(hint(name, 'number') ?? (whole ? 1 : 1.5))
  const value = Math.min(Math.max(wished, least ?? wished), most ?? Math.max(wished, least ?? wished))
  return schema.multipleOf === undefined ? value : Math.ceil(value / step) * step
}

interface Spot {
  direction: Direction
  /** The property the value is for. */
  name: string
  /** The components it is inside of; one that contains itself is left out the second time. */
  trail: readonly string[]
}

const maxDepth = 6

/** Undefined means "leave it out". */
const build = (document: OpenApi, source: Schema, spot: Spot, depth: number): unknown => {
  const shape = shapeOf(document, source)
  const { schema, name, alternatives } = shape
  for (const given of [schema.example, schema.examples?.[0], schema.const, schema.default, schema.enum?.[0]])
    if (given !== undefined && given !== null) return given
  if (depth > maxDepth || (name !== undefined && spot.trail.includes(name))) return shape.nullable ? null : undefined

  const inside = { ...spot, trail: name === undefined ? spot.trail : [...spot.trail, name] }
  const chosen = alternatives[0] === undefined ? undefined : build(document, alternatives[0], inside, depth + 1)
  switch (typeOf(shape) ?? 'any') {
    case 'string':
      return text(schema, spot.name)
    case 'integer':
      return number(schema, spot.name, true)
    case 'number':
      return number(schema, spot.name, false)
    case 'boolean':
      return true
    case 'array': {
      const item = build(document, schema.items ?? {}, inside, depth + 1)
      return item === undefined ? [] : [item]
    }
    case 'object': {
      const fields: Record<string, unknown> = {}
      const required = new Set(schema.required)
      for (const [key, property] of Object.entries(schema.properties ?? {})) {
        const field = shapeOf(document, property).schema
        if (spot.direction === 'request' ? field.readOnly : field.writeOnly) continue
        // A request shows what must be sent and what somebody gave an example for; a response shows everything.
        const shown = field.example !== undefined || field.examples !== undefined
        if (spot.direction === 'request' && required.size > 0 && !required.has(key) && !shown) continue
        // `value` says nothing by itself; what it is the value of does.
        const value = build(document, property, { ...inside, name: key === 'value' ? spot.name : key }, depth + 1)
        if (value !== undefined) fields[key] = value
      }
      const map = mapOf(shape)
      if (map && Object.keys(fields).length === 0) {
        const value = build(document, map.values, { ...inside, name: 'value' }, depth + 1)
        if (value !== undefined) fields[(map.keys === undefined ? undefined : matching(map.keys)) ?? 'key'] = value
      }
      return typeof chosen === 'object' && chosen !== null ? { ...fields, ...chosen } : fields
    }
    case 'null':
      return null
    default:
      return chosen
  }
}

export const exampleOf = (document: OpenApi, schema: Schema, direction: Direction, name = ''): unknown =>
  build(document, schema, { direction, name, trail: [] }, 0)

/** The example given beside the schema, or else one made from the schema. */
export const mediaExample = (document: OpenApi, media: MediaType, direction: Direction): unknown => {
  if (media.example !== undefined) return media.example
  const [named] = Object.values(media.examples ?? {})
  const given = resolve<Example>(document, named)?.value
  if (given !== undefined) return given
  return media.schema === undefined ? undefined : exampleOf(document, media.schema, direction)
}
