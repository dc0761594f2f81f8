import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the command line knows of the API. Written by `npm run generate` from the route list, which itself takes far longer to load. */
export interface Manifest {
  groups: readonly Group[]
  operations: readonly Operation[]
}

/** The operations of one first path segment. */
export interface Group {
  name: string
  description: string
}

export interface Operation {
  /** As in the reference. */
  id: string
  /** The words of the command: `transactions refunds create`. */
  name: readonly string[]
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  summary: string
  description: string
  /** Any one of them is enough; none where no token is needed. */
  scopes: readonly string[]
  /** Whether it acts upon one merchant account, and whether `*` may be said. */
  account: 'none' | 'one' | 'list' | 'instance'
  /** Of the path, in order. */
  parameters: readonly Parameter[]
  /** Of the query. */
  filters: readonly Field[]
  /** `raw` is anything, byte by byte. */
  body: 'none' | 'optional' | 'required' | 'raw'
  /** Of the body, and of the objects in it. */
  fields: readonly Field[]
  isPaged: boolean
  isIdempotent: boolean
  isStream: boolean
  /** What `Prefer: resource=` may name. */
  prefers?: string
  /** Of the table, where the answer is a list. */
  columns?: readonly string[]
  /** Arguments of a command that works, as they are typed. */
  example: string
}

export interface Parameter {
  name: string
  description: string
}

export interface Field {
  /** Where it is, with dots: `payment_method.number`. */
  name: string
  kind: 'string' | 'integer' | 'number' | 'boolean' | 'json'
  /** A list, of which the option gives one item each time. */
  isList?: true
  isRequired?: true
  choices?: readonly string[]
  description?: string
}

export const flagOf = ({ name }: Pick<Field, 'name'>): string => `--${name.replaceAll('_', '-')}`

export const loadManifest = (): Manifest =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'manifest.json'), 'utf8')) as Manifest
