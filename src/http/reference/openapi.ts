// The parts of an OpenAPI 3.1 document that the reference page reads.

export interface Reference {
  $ref: string
}

export type Schema = boolean | SchemaObject

export interface SchemaObject {
  $ref?: string
  title?: string
  description?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  examples?: unknown[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: Schema
  required?: string[]
  minProperties?: number
  maxProperties?: number
  readOnly?: boolean
  writeOnly?: boolean
  deprecated?: boolean
  allOf?: Schema[]
  oneOf?: Schema[]
  anyOf?: Schema[]
}

export interface Example {
  summary?: string
  value?: unknown
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  deprecated?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}

export interface MediaType {
  schema?: Schema
  example?: unknown
  examples?: Record<string, Example | Reference>
}

export interface RequestBody {
  required?: boolean
  description?: string
  content?: Record<string, MediaType>
}

export interface Response {
  description?: string
  content?: Record<string, MediaType>
}

export interface Operation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  deprecated?: boolean
  parameters?: (Parameter | Reference)[]
  requestBody?: RequestBody | Reference
  responses?: Record<string, Response | Reference>
  security?: Record<string, string[]>[]
  /** Any one of these scopes is enough. */
  'x-florin-scope'?: string[]
}

export const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const
export type Method = (typeof methods)[number]

export type PathItem = { [method in Method]?: Operation } & { parameters?: (Parameter | Reference)[] }

export interface SecurityScheme {
  type: string
  description?: string
  scheme?: string
  bearerFormat?: string
  in?: string
  name?: string
}

interface ErrorEntry {
  status: number | string
  code: string
  message?: string
  meaning?: string
}

export interface OpenApi {
  info?: { title?: string; version?: string; description?: string }
  servers?: { url: string; description?: string }[]
  security?: Record<string, string[]>[]
  tags?: { name: string; description?: string }[]
  paths?: Record<string, PathItem>
  webhooks?: Record<string, PathItem | Reference>
  components?: {
    schemas?: Record<string, Schema>
    securitySchemes?: Record<string, SecurityScheme | Reference>
  }
  'x-florin-errors'?: ErrorEntry[]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The document comes from our own generator, so its outline is checked and the rest is taken at its word. */
export const asOpenApi = (document: unknown): OpenApi => {
  if (!isRecord(document) || typeof document['openapi'] !== 'string' || !document['openapi'].startsWith('3.'))
    throw new Error('not an OpenAPI 3 document')
  for (const key of ['info', 'paths', 'webhooks', 'components'])
    if (document[key] !== undefined && !isRecord(document[key])) throw new Error(`${key} must be an object`)
  return document
}

/** Follows `#/…` references; undefined when one leads nowhere, outside the document or in a circle. */
export const resolve = <T extends object>(document: OpenApi, value: T | Reference | undefined): T | undefined => {
  let current: unknown = value
  for (let hops = 0; hops < 32; hops += 1) {
    if (!isRecord(current)) return undefined
    const { $ref } = current
    if (typeof $ref !== 'string') return current as T
    if (!$ref.startsWith('#/')) return undefined
    current = $ref
      .slice(2)
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, part) => (isRecord(at) && Object.hasOwn(at, part) ? at[part] : undefined), document)
  }
  return undefined
}

/** The JSON form of a body, or its first form. */
export const contentOf = (
  holder: RequestBody | Response | undefined,
): { type: string; media: MediaType } | undefined => {
  const entries = Object.entries(holder?.content ?? {})
  const chosen = entries.find(([type]) => type.includes('json')) ?? entries[0]
  return chosen && { type: chosen[0], media: chosen[1] }
}
