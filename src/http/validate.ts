import type { TObject, TSchema } from 'typebox'
import { type ErrorDetail, ValidationFailure } from '../errors.ts'
import { compile, type ErrorObject, type ProblemsOf } from '../platform/validator.ts'
import type { Route } from './route.ts'

type Location = 'path' | 'query' | 'body'
export interface Validated {
  params: unknown
  query: Record<string, unknown>
  body: unknown
}

/** A function that checks all parts of a request at once and reports everything that is wrong with it. */
export function createValidator({ params, query, body, bodyOptional }: Route): (raw: Validated) => Validated {
  const checks: [Location, (raw: Validated) => unknown, (value: unknown) => readonly ErrorObject[]][] = []
  const add = (location: Location, schema: TSchema | undefined, pick: (raw: Validated) => unknown) => {
    if (!schema) return
    // When it is first needed: all of them together are half of what a process takes to start.
    let problemsOf: ProblemsOf | undefined
    const run = (value: unknown) => {
      problemsOf ??= compile(schema)
      return withKinds(schema, problemsOf(value))
    }
    checks.push([location, pick, run])
  }
  add('path', params, (raw) => raw.params)
  add('query', query, (raw) => raw.query)
  add('body', body, (raw) => raw.body)

  return (raw) => {
    const input = {
      ...raw,
      query: query ? parseQuery(query, raw.query) : {},
      ...(bodyOptional && raw.body === undefined && { body: {} }),
    }
    const details = checks.flatMap(([location, pick, run]) => {
      const value = pick(input)
      // A body is always needed where one is declared, so a missing one reads better than "must be object".
      if (location === 'body' && value === undefined) return [missingBody]
      return [...textProblems(location, value), ...run(value).map((error) => toDetail(location, error))]
    })
    if (details.length > 0) throw new ValidationFailure(details)
    return { ...input, query: withDefaults(query, input.query) }
  }
}

/** Ajv does not tell which values a discriminator takes, so they are looked up in the schema. */
function withKinds(schema: TSchema, errors: readonly ErrorObject[]): readonly ErrorObject[] {
  return errors.map((error) => {
    if (error.keyword !== 'discriminator') return error
    type Node = { oneOf?: { properties: Record<string, { const?: unknown; enum?: unknown[] }> }[] } & Record<
      string,
      unknown
    >
    const path = error.schemaPath.split('/').slice(1, -1).map(decodeURIComponent)
    const union = path.reduce((node, name) => node[name] as Node, schema as unknown as Node)
    const params = error.params as { tag: string }
    const kinds = (union.oneOf ?? []).flatMap(({ properties }) => {
      const tag = properties[params.tag]
      return tag?.enum ?? tag?.const
    })
    return { ...error, params: { ...params, kinds } }
  })
}

const missingBody: ErrorDetail = {
  location: 'body',
  pointer: '',
  message: 'A JSON body is required',
  type: 'value_error.missing',
}

type Property = { type?: string | string[]; items?: Property; default?: unknown }
const propertiesOf = (schema: TObject) => Object.entries(schema.properties as unknown as Record<string, Property>)

/** Text becomes what the schema expects where it is spelled exactly so; anything else stays text and fails the check. */
function parseQuery(schema: TObject, raw: Record<string, unknown>): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, property] of propertiesOf(schema)) {
    const value = raw[name]
    if (value === undefined) continue
    const { items } = property
    if (items) query[name] = (Array.isArray(value) ? value : [value]).map((item) => parseText(items, item))
    else query[name] = parseText(property, value)
  }
  return query
}

function parseText({ type }: Property, value: unknown): unknown {
  if (typeof value !== 'string') return value
  const types = Array.isArray(type) ? type : [type]
  if (types.includes('integer') && /^-?(0|[1-9]\d{0,15})$/.test(value)) return Number(value)
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

function withDefaults(schema: TObject | undefined, query: Record<string, unknown>): Record<string, unknown> {
  if (!schema) return query
  const filled = { ...query }
  for (const [name, property] of propertiesOf(schema)) {
    if (filled[name] === undefined && property.default !== undefined) filled[name] = property.default
  }
  return filled
}

/** PostgreSQL cannot store NUL and would silently replace a lone surrogate, so two different inputs could become one. */
function textProblems(location: Location, value: unknown): ErrorDetail[] {
  const problems: ErrorDetail[] = []
  const visit = (node: unknown, pointer: string): void => {
    if (typeof node === 'string') {
      if (!node.includes('\0') && node.isWellFormed()) return
      const message = 'Must not contain NUL characters or lone surrogates'
      problems.push({ location, pointer: pointerIn(location, pointer), message, type: 'value_error.pattern' })
    } else if (typeof node === 'object' && node !== null) {
      for (const [key, child] of Object.entries(node)) {
        visit(key, pointer)
        visit(child, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      }
    }
  }
  visit(value, '')
  return problems
}

/** JSON pointer in a body; elsewhere the parameter's name. */
function pointerIn(location: Location, pointer: string): string {
  return location === 'body' ? pointer : (pointer.split('/')[1] ?? '')
}

function toDetail(location: Location, error: ErrorObject): ErrorDetail {
  const { pointer, message, type } = describe(error)
  return { location, pointer: pointerIn(location, pointer), message, type }
}

const typeNames: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
}
const formats: Record<string, [type: string, message: string]> = {
  uuid: ['type_error.uuid', 'Must be a UUID in lower case with dashes'],
  'date-time': [
    'type_error.datetime',
    'Must be an RFC 3339 date and time with a time zone, such as 2026-11-15T12:30:00Z',
  ],
  uri: ['value_error.pattern', 'Must be an absolute URL'],
}

function describe({
  keyword,
  params,
  instancePath: at,
  message = 'Is not valid',
}: ErrorObject): Omit<ErrorDetail, 'location'> {
  const escape = (name: unknown) => String(name).replaceAll('~', '~0').replaceAll('/', '~1')
  const problem = (type: string, text: string, pointer = at) => ({ pointer, message: text, type })
  const p = params as Record<string, unknown>
  switch (keyword) {
    case 'required':
      return problem('value_error.missing', 'This field is required', `${at}/${escape(p['missingProperty'])}`)
    case 'additionalProperties':
      return problem(
        'value_error.extra',
        'This field is not known; remove it',
        `${at}/${escape(p['additionalProperty'])}`,
      )
    case 'type': {
      const types = [p['type']].flat().map(String)
      const wanted = types.find((type) => type !== 'null') ?? 'null'
      return problem(`type_error.${wanted}`, `Must be ${types.map((type) => typeNames[type] ?? type).join(' or ')}`)
    }
    case 'format': {
      const [type, text] = formats[String(p['format'])] ?? ['value_error.pattern', message]
      return problem(type, text)
    }
    case 'discriminator':
      return p['error'] === 'tag' && p['tagValue'] === undefined
        ? problem('value_error.missing', 'This field is required', `${at}/${escape(p['tag'])}`)
        : problem(
            'type_error.enum',
            `Must be one of ${(p['kinds'] as unknown[]).map(String).join(', ')}`,
            `${at}/${escape(p['tag'])}`,
          )
    case 'enum':
      return problem('type_error.enum', `Must be one of ${(p['allowedValues'] as unknown[]).map(String).join(', ')}`)
    case 'const':
      return problem('type_error.enum', `Must be ${String(p['allowedValue'])}`)
    case 'pattern':
      return problem('value_error.pattern', `Must match the pattern ${String(p['pattern'])}`)
    case 'minLength':
    case 'maxLength':
      return problem(
        'value_error.length',
        `Must have at ${keyword === 'minLength' ? 'least' : 'most'} ${String(p['limit'])} character(s)`,
      )
    case 'minItems':
    case 'maxItems':
      return problem(
        'value_error.length',
        `Must have at ${keyword === 'minItems' ? 'least' : 'most'} ${String(p['limit'])} item(s)`,
      )
    case 'minimum':
    case 'maximum':
      return problem(
        'value_error.range',
        `Must be at ${keyword === 'minimum' ? 'least' : 'most'} ${String(p['limit'])}`,
      )
    case 'uniqueItems':
      return problem('value_error.conflict', 'Must not hold the same item twice')
    default:
      return problem('value_error.unknown', message)
  }
}
