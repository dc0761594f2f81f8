import { Ajv2020 } from 'ajv/dist/2020.js'
import { errorTable } from '../../src/errors.ts'
import type { Route } from '../../src/http/route.ts'
import type { Answer } from '../api.ts'

export type Json = Record<string, unknown>

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: {
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    uri: (text: string) => URL.canParse(text),
  },
})
const compiled = new Map<unknown, (value: unknown) => boolean>()

function schemaProblem(openapi: Json, schema: Json, value: unknown): string | undefined {
  const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components: openapi['components'] })
  compiled.set(schema, validate)
  return validate(value)
    ? undefined
    : `does not fit its schema: ${JSON.stringify((validate as { errors?: unknown }).errors)}`
}

function at(value: unknown, ...keys: string[]): Json | undefined {
  return keys.reduce<unknown>((node, key) => (node as Json | undefined)?.[key], value) as Json | undefined
}

function responseOf(openapi: Json, operation: Json | undefined, status: number): Json | undefined {
  const response = at(operation, 'responses', String(status))
  const reference = response?.['$ref']
  return typeof reference === 'string' ? at(openapi, ...reference.replace('#/', '').split('/')) : response
}

/** What is wrong with an answer, whatever was asked: its headers, its status, and its body against openapi.json. */
export function answerProblems(openapi: Json, asked: Route, method: string, answer: Answer): string[] {
  const { status, headers, text } = answer
  const problems: string[] = []
  const add = (wrong: boolean, problem: string) => wrong && problems.push(problem)
  add(!/^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? ''), 'has no X-Request-Id')
  add(headers.get('cache-control') !== 'no-store', 'may be cached')
  add(status >= 500, 'is a fault of ours')

  // Answers to other methods are documented with the operations that exist.
  const helps = headers.get('link') ?? ''
  add(status >= 400 && !/^<\/docs\/errors\/\w+>; rel="help"$/.test(helps), 'leads to no page about the error')
  const operation = at(openapi, 'paths', asked.path, (method === 'HEAD' ? 'GET' : asked.method).toLowerCase())
  const response = responseOf(openapi, operation, status)
  add(!operation, 'is not in openapi.json')
  add(operation !== undefined && !response, 'has a status that openapi.json does not list')
  if (method !== 'HEAD' && at(response, 'content', 'text/event-stream')) {
    add(headers.get('content-type') !== 'text/event-stream; charset=utf-8', 'is no stream by its content type')
    return problems
  }
  const schema = at(response, 'content', 'application/json', 'schema')
  if (method === 'HEAD' || !schema) {
    add(text !== '', 'has a body although none is documented')
    return problems
  }
  add(headers.get('content-type') !== 'application/json; charset=utf-8', 'is not JSON by its content type')
  const mismatch = schemaProblem(openapi, schema, answer.body)
  if (mismatch) problems.push(mismatch)
  if (status < 400) return problems

  add(/"(input|stack)"/.test(text), 'hands the input or a stack back')
  add(status === 401 && !headers.get('www-authenticate')?.startsWith('Bearer realm='), 'has no challenge')
  add(status === 422 && !helps.includes('/bad_request>'), 'leads to the page of another error')
  if (status === 422) return problems
  const { code, status: said } = answer.body as { code?: string; status?: number }
  add(!helps.includes(`/${code}>`), 'leads to the page of another error')
  add(said !== status, 'says another status than it has')
  add(errorTable[code as keyof typeof errorTable]?.[0] !== status, 'has a code of another status')
  return problems
}
