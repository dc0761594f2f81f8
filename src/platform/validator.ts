import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { TSchema } from 'typebox'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const dateTime =
  /^(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** RFC 3339 with a time zone and a day that exists; PostgreSQL itself would take far more (`infinity`, `24:00`, no zone). */
function isDateTime(text: string): boolean {
  if (!dateTime.test(text)) return false
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10))
}

// Strict by choice: nothing is coerced, dropped or filled in here, and every error is reported (bodies are bounded).
const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  strictTypes: false,
  allowUnionTypes: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  verbose: false,
  formats: { uuid, uri: (text: string) => URL.canParse(text), 'date-time': isDateTime },
  keywords: ['example'],
  discriminator: true,
  inlineRefs: false,
})

export type { ErrorObject }

/** An alternative is compiled once and called, not once for each value of its tag: some have a hundred. */
const hoisted = new Map<unknown, { $ref: string }>()
const alternatives: ValidateFunction[] = []

function hoist(alternative: object): { $ref: string } {
  const known = hoisted.get(alternative)
  if (known) return known
  const reference = { $ref: `alternative-${hoisted.size}` }
  hoisted.set(alternative, reference)
  ajv.addSchema(withHoisted(alternative) as object, reference.$ref)
  const validate = ajv.getSchema(reference.$ref)
  if (validate) alternatives.push(validate as ValidateFunction)
  return reference
}

function withHoisted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withHoisted)
  if (typeof schema !== 'object' || schema === null) return schema
  const changed = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, withHoisted(value)]))
  return 'discriminator' in schema && 'oneOf' in schema
    ? { ...changed, oneOf: (schema.oneOf as object[]).map(hoist) }
    : changed
}

/** What is wrong with a value; nothing when it is valid. */
export type ProblemsOf = (value: unknown) => readonly ErrorObject[]

export function compile(schema: TSchema): ProblemsOf {
  const validate = ajv.compile(withHoisted(schema) as TSchema)
  return (value) => {
    if (validate(value)) return []
    const errors = validate.errors ?? []
    // Ajv's functions keep what they found until they are called again, with names and values of the request: a card number in the wrong
    // field would stay in memory.
    for (const used of [validate, ...alternatives]) used.errors = null
    return errors
  }
}
