import { newId } from '../../src/ids.ts'
import type { Json } from './answers.ts'
import type { Property } from './requests.ts'
import type { Ask } from './run.ts'

const typeOf = (value: unknown) =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'number' ? 'number' : typeof value

/** A value of a JSON type that the schema does not take; undefined if it takes anything. */
function unfitValue({ type, enum: values, const: constant }: Property): unknown {
  const types = type ? [type].flat() : (values ?? (constant === undefined ? [] : [constant])).map(typeOf)
  if (types.length === 0) return undefined
  const isTaken = (value: unknown) =>
    types.includes(typeOf(value)) || (typeof value === 'number' && types.includes('integer'))
  return [['unfit'], true, 1.5, 'unfit', { unfit: true }].find((value) => !isTaken(value))
}

/** Texts that cannot be a query parameter of this schema. */
export function unfitTexts(property: Property): string[] {
  const { type, format, enum: values, minimum, maximum, minLength = 0, maxLength } = property.items ?? property
  const types = [type].flat()
  if (types.includes('integer')) {
    const beyond = [minimum === undefined ? [] : [minimum - 1], maximum === undefined ? [] : [maximum + 1]].flat()
    return ['', 'x', '1.5', '1e1', '0x1', '%201', '+1', '01', '9'.repeat(30), 'NaN', 'null', ...beyond.map(String)]
  }
  if (types.includes('boolean')) return ['', 'yes', '1', 'TRUE', 'null']
  if (values) return ['', 'no-such-value', String(values[0]).toUpperCase(), '%00']
  if (format === 'uuid') return ['', 'x', newId().toUpperCase(), newId().replaceAll('-', ''), `{${newId()}}`, '%00']
  if (format === 'date-time')
    return ['', 'now', 'infinity', '2026-11-15', '2026-11-15T12:00:00', '2026-02-30T00:00:00Z']
  return ['a%00b', ...(minLength > 0 ? [''] : []), ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)])]
}

interface BadBody {
  place: string
  body: unknown
}

/** The example with one thing wrong at a time: each required field missing, each field of a wrong type, an unknown field. */
export function badBodies(schema: Property, example: unknown, pointer = ''): BadBody[] {
  if (schema.items && Array.isArray(example)) {
    return badBodies(schema.items, example[0], `${pointer}/0`).map(({ place, body }) => ({
      place,
      body: [body, ...example.slice(1)],
    }))
  }
  const good = example as Json
  const kind = schema.discriminator?.propertyName
  if (kind !== undefined && typeOf(example) === 'object') {
    const branch = schema.oneOf?.find(({ properties }) => properties?.[kind]?.const === good[kind])
    if (!branch) throw new Error(`the example is of no known kind at ${pointer}`)
    const unknown = { place: `body ${pointer}/${kind} type_error.enum`, body: { ...good, [kind]: 'no-such-kind' } }
    return [unknown, ...badBodies(branch, example, pointer)]
  }
  if (!schema.properties || typeOf(example) !== 'object') return []
  const bad: BadBody[] = [{ place: `body ${pointer}/not_a_field value_error.extra`, body: { ...good, not_a_field: 1 } }]
  for (const [name, property] of Object.entries(schema.properties)) {
    const place = `body ${pointer}/${name}`
    if (schema.required?.includes(name)) {
      const { [name]: _left, ...rest } = good
      bad.push({ place: `${place} value_error.missing`, body: rest })
    }
    const unfit = unfitValue(property)
    if (unfit !== undefined) bad.push({ place, body: { ...good, [name]: unfit } })
    bad.push(
      ...badBodies(property, good[name], `${pointer}/${name}`).map((inner) => ({
        place: inner.place,
        body: { ...good, [name]: inner.body },
      })),
    )
  }
  return bad
}

/** As much as can be wrong with the fields of a body at once. */
export function worstBody(schema: Property): { places: string[]; body: Json } {
  const [branch] = schema.oneOf ?? []
  if (branch && schema.discriminator) return worstOfKind(branch, schema.discriminator.propertyName)
  const body: Json = { not_a_field: 1 }
  const places = ['body /not_a_field value_error.extra']
  for (const [index, [name, property]] of Object.entries(schema.properties ?? {}).entries()) {
    const unfit = unfitValue(property)
    const isLeftOut = schema.required?.includes(name) && index % 2 === 0
    if (!isLeftOut && unfit === undefined) continue
    places.push(`body /${name}`)
    if (!isLeftOut) body[name] = unfit
  }
  return { places, body }
}

/** All but the kind itself: with that one wrong, nobody can tell what the rest should be. */
function worstOfKind(branch: Property, kind: string): { places: string[]; body: Json } {
  const { places, body } = worstBody(branch)
  const left = places.filter((place) => place !== `body /${kind}`)
  return { places: left, body: { ...body, [kind]: branch.properties?.[kind]?.const } }
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
export const unreadableBodies: [name: string, body: string | Uint8Array, headers?: Record<string, string>][] = [
  ['not JSON', '{"display_name":'],
  ['a trailing comma', '{"a":1,}'],
  ['a byte order mark', '\ufeff{}'],
  ['a form', 'display_name=x', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['text', '{}', { 'content-type': 'text/plain' }],
  ['no type at all', '{}', { 'content-type': 'garbage' }],
  ['a multipart form', '{}', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['another JSON type', '{}', { 'content-type': 'application/json-patch+json' }],
  ['one byte too large', `"${'x'.repeat(1024 * 1024 - 1)}"`],
  ['2 MiB', `"${'x'.repeat(2 * 1024 * 1024)}"`],
  ['too deep', nested(33)],
  ['far too deep', nested(200_000)],
  ['unbalanced and deep', '['.repeat(200_000)],
  ['__proto__', '{"__proto__":{"polluted":true}}'],
  ['__proto__ inside', '{"a":[{"__proto__":null}]}'],
  ['__proto__ escaped', '{"\\u005f_proto__":{"polluted":true}}'],
  ['constructor.prototype', '{"constructor":{"prototype":{"polluted":true}}}'],
  ['invalid UTF-8', Uint8Array.from([0x22, 0xc3, 0x28, 0x22])],
  ['an encoded surrogate', Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
  ['compressed', '{}', { 'content-encoding': 'gzip' }],
]

/** A few of them, for answers that must not depend on the body at all. */
export const garbage = unreadableBodies
  .filter(([name]) => ['not JSON', 'text', 'no type at all', '2 MiB', 'invalid UTF-8'].includes(name))
  .map(([, rawBody, headers = {}]): Ask => ({ rawBody, headers }))
