import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import type { ApiRequest } from '../api-client.ts'
import { CommandError } from '../output.ts'
import { type Field, flagOf, type Operation } from './manifest.ts'
import { isObject, type Json } from './values.ts'

/** What was said on the command line, by field: texts as they were typed, or a flag. */
export type Given = ReadonlyMap<Field, readonly string[] | boolean>

export interface CallOptions {
  data?: string
  idempotencyKey?: string
  prefer?: string
  /** As `Name: value`. */
  header?: readonly string[]
}

/** The request that a command line stands for. No message of it repeats a value, which may be a card number. */
export async function requestOf(
  operation: Operation,
  values: readonly string[],
  given: Given,
  { data, idempotencyKey, prefer, header = [] }: CallOptions,
): Promise<ApiRequest> {
  return {
    method: operation.method,
    path: pathOf(operation, values),
    query: queryOf(operation, given),
    ...(operation.scopes.length === 0 && { open: true }),
    ...(operation.body === 'raw'
      ? { raw: { body: await readData(data ?? ''), headers: headersOf(header) } }
      : { body: await bodyOf(operation, given, data) }),
    options: {
      // So that an answer that is lost can be asked for again.
      ...(operation.isIdempotent && { idempotencyKey: idempotencyKey ?? randomUUID() }),
      ...(prefer !== undefined && { prefer }),
    },
  }
}

const headersOf = (lines: readonly string[]): Record<string, string> => ({
  'content-type': 'application/json',
  ...Object.fromEntries(lines.map(parseHeader)),
})

function parseHeader(text: string): [name: string, value: string] {
  const [, name, value] = /^([\w-]+):\s*([\x20-\x7E]*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name.toLowerCase(), value]
  throw new CommandError("--header must be a name and a value: --header 'Name: value'.")
}

function pathOf({ path, parameters }: Operation, values: readonly string[]): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const value = values[parameters.findIndex((parameter) => parameter.name === name)] ?? ''
    // A path with an empty part, or one of dots, is another path.
    if (/^\.{0,2}$/.test(value)) throw new CommandError(`<${name}> is not an id.`)
    return encodeURIComponent(value)
  })
}

function queryOf({ filters }: Operation, given: Given): Json {
  const said = filters.flatMap((field) => {
    const value = given.get(field)
    return value === undefined ? [] : [[field.name, valueOf(field, value)]]
  })
  return Object.fromEntries(said) as Json
}

async function bodyOf({ body, fields }: Operation, given: Given, data: string | undefined): Promise<Json | undefined> {
  if (body === 'none') return undefined
  const text = data === undefined ? undefined : await readData(data)
  const whole = text === undefined ? {} : parseObject(text)
  const said = fields.filter((field) => given.has(field))
  // From the outside in: a field of an object changes what was said of the object.
  for (const field of said) setAt(whole, field.name.split('.'), valueOf(field, given.get(field) ?? []))
  const isEmpty = text === undefined && said.length === 0
  return isEmpty && body === 'optional' ? undefined : whole
}

async function readData(data: string): Promise<string> {
  if (data === '-') return readAll(process.stdin)
  if (!data.startsWith('@')) return data
  const file = data.slice(1)
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`--data: the file ${file} cannot be read (${error.code}).`)
  })
}

function parseObject(text: string): Json {
  const value = parseJson(text)
  if (isObject(value)) return value
  throw new CommandError(
    '--data must be a JSON object. Put it into single quotes, or into a file: --data @body.json; --data - reads standard input.',
  )
}

function setAt(node: Json, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    node[name] = value
    return
  }
  const inner = isObject(node[name]) ? node[name] : {}
  node[name] = inner
  setAt(inner, rest, value)
}

/** Typed text as what the field holds. */
export function valueOf(field: Field, said: readonly string[] | boolean): unknown {
  if (typeof said === 'boolean') return said
  if (!field.isList) return itemOf(field, said.at(-1) ?? '')
  const [only = ''] = said
  const whole = said.length === 1 && only.startsWith('[') ? parseJson(only) : undefined
  return Array.isArray(whole) ? (whole as unknown[]) : said.map((text) => itemOf(field, text))
}

function itemOf(field: Field, text: string): unknown {
  const refuse = (wanted: string) => new CommandError(`${flagOf(field)} must be ${wanted}.`)
  if (field.choices && !field.choices.includes(text)) throw refuse(`one of ${field.choices.join(', ')}`)
  if (field.kind === 'integer' || field.kind === 'number') return numberOf(field, text, refuse)
  if (field.kind !== 'json') return text
  const value = parseJson(text)
  if (value === undefined) throw refuse('JSON, in single quotes')
  return value
}

function numberOf({ name, kind }: Field, text: string, refuse: (wanted: string) => CommandError): number {
  const value = Number(text)
  if (kind === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return value
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(value)) return value
  const isAmount = name.endsWith('amount')
  throw refuse(isAmount ? 'a whole number in the smallest unit of the currency: 1299 is 12.99' : 'a whole number')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
