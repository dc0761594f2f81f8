import { type OpenApi, resolve, type Schema, type SchemaObject } from './openapi.ts'

/** A schema as a reader sees it: references followed, `allOf` merged, "or null" set apart. */
export interface Shape {
  /** The component it is, if it has a name. */
  name: string | undefined
  schema: SchemaObject
  nullable: boolean
  /** What `oneOf` or `anyOf` leaves to choose from. */
  alternatives: Schema[]
}

const componentPrefix = '#/components/schemas/'

const merge = (left: SchemaObject, right: SchemaObject): SchemaObject => {
  const merged = { ...left, ...right }
  if (left.properties && right.properties) merged.properties = { ...left.properties, ...right.properties }
  if (left.required && right.required) merged.required = [...new Set([...left.required, ...right.required])]
  return merged
}

const isNull = (schema: Schema): boolean =>
  typeof schema === 'object' && (schema.type === 'null' || schema.const === null)

/** `seen` holds the references being followed: a schema that is nothing but itself ends as "any". */
const follow = (document: OpenApi, source: Schema, seen: readonly string[]): Shape => {
  let name: string | undefined
  let nullable = false
  let schema: SchemaObject = {}
  if (typeof source === 'boolean') return { name, schema, nullable, alternatives: [] }

  const { $ref, allOf = [], oneOf, anyOf, ...own } = source
  const parts: Schema[] = [...allOf]
  if ($ref !== undefined && !seen.includes($ref)) {
    const target = resolve<SchemaObject>(document, { $ref })
    if (target) parts.unshift(target)
    if ($ref.startsWith(componentPrefix)) name = $ref.slice(componentPrefix.length)
  }
  const trail = $ref === undefined ? seen : [...seen, $ref]

  let alternatives: Schema[] = []
  const absorb = (part: Schema): void => {
    const shape = follow(document, part, trail)
    schema = merge(schema, shape.schema)
    nullable ||= shape.nullable
    alternatives = [...alternatives, ...shape.alternatives]
    // `allOf` with one reference is how a description is put beside one; it is still that component.
    if (parts.length <= 1) name ??= shape.name
  }
  for (const part of parts) absorb(part)

  const options = [...(oneOf ?? []), ...(anyOf ?? [])]
  const choices = options.filter((option) => !isNull(option))
  nullable ||= choices.length < options.length
  const [only] = choices
  const consts = choices.map((choice) => (typeof choice === 'object' ? choice.const : undefined))
  if (choices.length === 1 && only !== undefined) absorb(only)
  else if (choices.length > 1 && !consts.includes(undefined)) {
    const type = typeof only === 'object' ? only.type : undefined
    schema = merge(schema, { enum: consts, ...(type === undefined ? {} : { type }) })
  } else alternatives = [...alternatives, ...choices]

  schema = merge(schema, own)
  const types = [schema.type ?? []].flat()
  if (types.includes('null') || schema.enum?.includes(null)) {
    nullable = true
    const rest = types.filter((type) => type !== 'null')
    schema = { ...schema, type: rest.length === 1 && rest[0] !== undefined ? rest[0] : rest }
    if (schema.enum) schema.enum = schema.enum.filter((value) => value !== null)
  }
  return { name, schema, nullable, alternatives }
}

export const shapeOf = (document: OpenApi, schema: Schema | undefined): Shape => follow(document, schema ?? {}, [])

export const typeOf = ({ schema }: Shape): string | undefined => {
  const [type] = [schema.type ?? []].flat()
  if (type !== undefined) return type
  if (schema.properties || schema.additionalProperties !== undefined || schema.patternProperties) return 'object'
  if (schema.items !== undefined) return 'array'
  const value = schema.const ?? schema.enum?.[0]
  return value === undefined ? undefined : typeof value
}

/** The schema of the values of a map, with the pattern its keys follow if there is one. */
export const mapOf = ({ schema }: Shape): { keys: string | undefined; values: Schema } | undefined => {
  const [pattern] = Object.entries(schema.patternProperties ?? {})
  if (pattern) return { keys: pattern[0], values: pattern[1] }
  const { additionalProperties } = schema
  return typeof additionalProperties === 'object' ? { keys: undefined, values: additionalProperties } : undefined
}
