import type { TSchema } from 'typebox'
import type { Field, Manifest, Operation, Parameter } from '../src/cli/operations/manifest.ts'
import { areas } from '../src/http/areas.ts'
import { nameOperation } from '../src/http/operation-names.ts'
import { type Route, scopesOf } from '../src/http/route.ts'
import { chooseColumns } from './operation-columns.ts'
import { exampleOf } from './operation-examples.ts'

/** What the parts of a JSON schema that fields are made of look like. */
export interface Schema {
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  const?: unknown
  oneOf?: Schema[]
  anyOf?: Schema[]
}

/** src/cli/operations/manifest.json: the operations as commands. One line each, so that a change can be read. */
export function renderManifest(routes: readonly Route[]): string {
  const { groups, operations } = describeOperations(routes)
  const lines = (items: readonly unknown[]) => items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')
  return `{\n  "groups": [\n${lines(groups)}\n  ],\n  "operations": [\n${lines(operations)}\n  ]\n}\n`
}

function describeOperations(routes: readonly Route[]): Manifest {
  const operations = routes.map((route) => describe(route))
  const names = [...new Set(operations.map(({ name: [group = ''] }) => group))].toSorted()
  return { groups: names.map((name) => ({ name, description: areas[name]?.[1] ?? '' })), operations }
}

function describe(route: Route): Operation {
  const fields = fieldsOf(route.body as Schema | undefined)
  return {
    id: route.id,
    name: nameOperation(route),
    method: route.method,
    path: route.path,
    summary: route.summary,
    description: route.description ?? '',
    scopes: scopesOf(route),
    account: route.merchantAccount,
    parameters: parametersOf(route),
    filters: fieldsOf(route.query as Schema | undefined),
    body: bodyOf(route),
    fields,
    isPaged: route.paged ?? false,
    isIdempotent: route.idempotent ?? false,
    isStream: route.streams ?? false,
    ...(route.prefers !== undefined && { prefers: route.prefers }),
    ...columnsOf(route.returns[1]),
    example: exampleOf(route, fields),
  }
}

function bodyOf({ body, bodyOptional, raw }: Route): Operation['body'] {
  if (raw) return 'raw'
  if (!body) return 'none'
  return bodyOptional ? 'optional' : 'required'
}

const parametersOf = ({ path, params }: Route): Parameter[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => ({
    name,
    description: (params?.properties as Record<string, Schema> | undefined)?.[name]?.description ?? '',
  }))

function columnsOf(answer: TSchema | undefined): Pick<Operation, 'columns'> {
  const item = (answer as Schema | undefined)?.properties?.['items']?.items
  return item ? { columns: chooseColumns(item) } : {}
}

/** The properties of an object, and of the objects in it; of a union, those of all its kinds. */
function fieldsOf(schema: Schema | undefined, inside = ''): Field[] {
  const kinds = schema?.oneOf ?? schema?.anyOf ?? (schema ? [schema] : [])
  const properties = new Map<string, Schema[]>()
  for (const kind of kinds) {
    for (const [name, property] of Object.entries(kind.properties ?? {})) {
      properties.set(name, [...(properties.get(name) ?? []), property])
    }
  }
  return [...properties].flatMap(([name, variants]) => {
    const isRequired = inside === '' && kinds.every(({ required = [] }) => required.includes(name))
    return [fieldOf(inside + name, variants, isRequired), ...fieldsOf(variants[0], `${inside}${name}.`)]
  })
}

function fieldOf(name: string, variants: readonly Schema[], isRequired: boolean): Field {
  const [first = {}] = variants
  const isList = typesOf(first).includes('array')
  const values = isList ? [first.items ?? {}] : variants
  const choices = [...new Set(values.flatMap(choicesOf))]
  return {
    name,
    kind: kindOf(values),
    ...(isList && { isList }),
    ...(isRequired && { isRequired }),
    ...(choices.length > 0 && values.every((value) => choicesOf(value).length > 0) && { choices }),
    ...(first.description !== undefined && { description: first.description }),
  }
}

const typesOf = ({ type = [] }: Schema): string[] => (Array.isArray(type) ? type : [type])

const choicesOf = (schema: Schema): string[] =>
  (schema.enum ?? [schema.const]).filter((value): value is string => typeof value === 'string')

function kindOf(variants: readonly Schema[]): Field['kind'] {
  const kinds = new Set(
    variants.map((schema): Field['kind'] => {
      const scalars = (['boolean', 'integer', 'number', 'string'] as const).filter((type) =>
        typesOf(schema).includes(type),
      )
      if (scalars.length === 0 && choicesOf(schema).length > 0) return 'string'
      return scalars.length === 1 && scalars[0] ? scalars[0] : 'json'
    }),
  )
  const [kind = 'json', other] = kinds
  return other === undefined ? kind : 'json'
}
