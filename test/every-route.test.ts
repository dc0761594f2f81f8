import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect as openSocket } from 'node:net'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadSigningKey } from '../src/areas/api-key-pairs/operations.ts'
import { audit } from '../src/areas/audit-logs/operations.ts'
import { merchantAccountExists, oldestMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import type { Context } from '../src/context.ts'
import { errorTable, forbidden, notFound } from '../src/errors.ts'
import { buildApp } from '../src/http/app.ts'
import { createAuthenticator } from '../src/http/authenticate.ts'
import { createCursorCodec } from '../src/http/cursor.ts'
import { createKeyRing } from '../src/http/key-ring.ts'
import { createAccountDirectory } from '../src/http/merchant-account.ts'
import { describeApi } from '../src/http/openapi.ts'
import { type Route, route, scopesOf } from '../src/http/route.ts'
import { routes } from '../src/http/routes.ts'
import { newId } from '../src/ids.ts'
import { includesAccount } from '../src/platform/accounts.ts'
import { createLog } from '../src/platform/log.ts'
import { connect, type Database, transact } from '../src/platform/postgres.ts'
import { Body, Constant, DateTime, Enum, Nullable, Uuid } from '../src/schema.ts'
import { allScopes } from '../src/scopes.ts'
import { type Answer, type KeyPair, type RequestOptions, send, useApi } from './api.ts'

/*
 * What holds for every operation, read from the list of routes: a new route is covered without a new test. The checks are
 * functions that return problems, so that the end of this file can show that they find the mistakes they are there for.
 */

type Json = Record<string, unknown>

/** An API to check, and what is needed to call it. */
interface Subject {
  routes: readonly Route[]
  url: string
  openapi: Json
  /** Reaches all merchant accounts. */
  owner: string
  /** Reaches the account `default` only. */
  bound: string
  sign: (scopes: readonly string[]) => Promise<string>
  /** Audit rows by id of the request that made them. */
  auditRows: (requestIds: readonly string[]) => Promise<Map<string, number>>
}

interface Ask extends RequestOptions {
  method?: string
  /** Instead of the route's own with its parameters filled in. */
  path?: string
  params?: Params
  query?: string
}
type Params = Record<string, string>

/** One check of one route: it asks, and writes down what is wrong. */
interface Run extends Subject {
  ask(route: Route, options?: Ask): Promise<Answer>
  note(answer: Answer, problem: string | false): void
}
type Check = (run: Run, route: Route) => Promise<void>

const accountHeader = 'X-Service-Merchant-Account-ID'
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const isWrite = (of: Route) => of.method !== 'GET' && scopesOf(of).some((scope) => scope.endsWith('.write'))
const unique = () => randomBytes(6).toString('hex')
const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right)

async function problemsOf(subject: Subject, check: Check, checked: Route): Promise<string[]> {
  const problems: string[] = []
  const asked: { label: string; requestId: string; rows: number }[] = []
  const labels = new Map<Answer, string>()
  const run: Run = {
    ...subject,
    async ask(of, { method = of.method, path: wanted, params = {}, query = '', ...options } = {}) {
      const path = (wanted ?? fill(of.path, params)) + query
      const answer = await send(subject.url, method, path, { token: subject.owner, ...options })
      const label = `${method} ${path.slice(0, 150)} → ${answer.status} ${answer.text.slice(0, 300)}`
      labels.set(answer, label)
      problems.push(...answerProblems(subject.openapi, of, method, answer).map((found) => `${label}: ${found}`))
      const succeeded = answer.status < 300 && method === of.method
      asked.push({
        label,
        requestId: answer.headers.get('x-request-id') ?? '',
        rows: succeeded && isWrite(of) ? 1 : 0,
      })
      return answer
    },
    note(answer, problem) {
      if (problem) problems.push(`${labels.get(answer) ?? `${answer.status} ${answer.text}`}: ${problem}`)
    },
  }
  await check(run, checked)
  const rows = await subject.auditRows(asked.map(({ requestId }) => requestId))
  for (const { label, requestId, rows: expected } of asked) {
    const found = rows.get(requestId) ?? 0
    if (found !== expected) problems.push(`${label}: left ${found} audit rows instead of ${expected}`)
  }
  return problems
}

const fill = (path: string, params: Params) =>
  path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => params[name] ?? '00000000-0000-7000-8000-000000000000')

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

function answerProblems(openapi: Json, asked: Route, method: string, answer: Answer): string[] {
  const { status, headers, text } = answer
  const problems: string[] = []
  const add = (wrong: boolean, problem: string) => wrong && problems.push(problem)
  add(!/^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? ''), 'has no X-Request-Id')
  add(headers.get('cache-control') !== 'no-store', 'may be cached')
  add(status >= 500, 'is a fault of ours')

  // Answers to other methods are documented with the operations that exist.
  const operation = at(openapi, 'paths', asked.path, (method === 'HEAD' ? 'GET' : asked.method).toLowerCase())
  const response = responseOf(openapi, operation, status)
  add(!operation, 'is not in openapi.json')
  add(operation !== undefined && !response, 'has a status that openapi.json does not list')
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
  if (status === 422) return problems
  const { code, status: said } = answer.body as { code?: string; status?: number }
  add(said !== status, 'says another status than it has')
  add(errorTable[code as keyof typeof errorTable]?.[0] !== status, 'has a code of another status')
  return problems
}

/** Makes the resources that a path names, in an account, by the POST routes on the paths before them. */
async function makeParams(run: Run, of: Route, account: string): Promise<Params> {
  const params: Params = {}
  for (const name of paramNames(of)) {
    const before = of.path.slice(0, of.path.indexOf(`/{${name}}`))
    const maker = run.routes.find(({ method, path }) => method === 'POST' && path === before)
    if (!maker?.example) throw new Error(`${of.path}: no POST ${before} with an example makes a {${name}}`)
    const made = await run.ask(maker, { params, ...accountOf(maker, account), ...bodyOf(maker, account) })
    const { id } = made.body as { id?: unknown }
    if (made.status >= 300 || typeof id !== 'string') throw new Error(`${maker.id} made nothing: ${made.text}`)
    params[name] = id
  }
  return params
}

const accountOf = ({ merchantAccount }: Route, account: string): RequestOptions =>
  merchantAccount === 'none' ? {} : { headers: { [accountHeader]: account } }

function bodyOf(of: Route, account: string): RequestOptions {
  if (!of.body) return {}
  if (!of.example) throw new Error(`${of.id} has a body but no example`)
  return { body: of.example({ merchantAccountId: account, unique: unique() }) }
}

/** Everything a request needs to succeed. */
async function goodRequest(run: Run, of: Route, account = 'default') {
  return { params: await makeParams(run, of, account), ...accountOf(of, account), ...bodyOf(of, account) }
}

const paramNames = ({ path }: Route) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

type Property = {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  items?: Property
  properties?: Record<string, Property>
  required?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}
const propertiesOf = (schema: TSchema | undefined) =>
  Object.entries((schema as Property | undefined)?.properties ?? {}) as [string, Property][]

const unknownId = (of: Route, name: string) =>
  propertiesOf(of.params).find(([key]) => key === name)?.[1].format === 'uuid' ? newId() : `unknown-${unique()}`

const unknownParams = (of: Route): Params =>
  Object.fromEntries(paramNames(of).map((name) => [name, unknownId(of, name)]))

/** The last two are the client's doing: it gives up the connection of a HEAD. */
const differing = new Set(['x-request-id', 'date', 'connection', 'keep-alive'])

/** Status, body and headers without what differs by nature. */
const comparable = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !differing.has(name)),
})

/** Where a validation failure points to, in either of its shapes, as `location pointer type`. */
function failures({ body }: Answer): string[] {
  const { details, detail } = body as {
    details?: { location: string; pointer: string; type: string }[]
    detail?: { loc: (string | number)[]; type: string }[]
  }
  const escape = (part: string | number) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')
  return [
    ...(details ?? []).map(({ location, pointer, type }) => `${location} ${pointer} ${type}`),
    ...(detail ?? []).map(({ loc: [location, ...parts], type }) =>
      location === 'body'
        ? `body ${parts.map((part) => `/${escape(part)}`).join('')} ${type}`
        : `${location} ${parts.join('/')} ${type}`,
    ),
  ].sort()
}

/** A refusal in the shape of the operation that names exactly these places: `body /name`, or `body /name type`. */
function refusalProblem(of: Route, answer: Answer, places: readonly string[]): string | false {
  const status = of.validation === 'detail' ? 422 : 400
  if (answer.status !== status) return `should be ${status}`
  const found = failures(answer)
  const missed = places.filter(
    (place) => !found.some((failure) => failure === place || failure.startsWith(`${place} `)),
  )
  const extra = found.filter((failure) => !places.some((place) => failure === place || failure.startsWith(`${place} `)))
  return missed.length + extra.length > 0 && `should name ${places.join(', ')}`
}

/** A body that cannot be looked into: 400 with the empty pointer on every operation. */
const unreadableProblem = (answer: Answer) =>
  (answer.status !== 400 || !same(failures(answer), ['body  value_error.unknown'])) && 'should be 400, empty pointer'

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
function unfitTexts(property: Property): string[] {
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
function badBodies(schema: Property, example: unknown, pointer = ''): BadBody[] {
  if (schema.items && Array.isArray(example)) {
    return badBodies(schema.items, example[0], `${pointer}/0`).map(({ place, body }) => ({
      place,
      body: [body, ...example.slice(1)],
    }))
  }
  if (!schema.properties || typeOf(example) !== 'object') return []
  const good = example as Json
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
function worstBody(schema: Property): { places: string[]; body: Json } {
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

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const unreadableBodies: [name: string, body: string | Uint8Array, headers?: Record<string, string>][] = [
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
const garbage = unreadableBodies
  .filter(([name]) => ['not JSON', 'text', 'no type at all', '2 MiB', 'invalid UTF-8'].includes(name))
  .map(([, rawBody, headers = {}]): Ask => ({ rawBody, headers }))

const needsToken: Check = async (run, of) => {
  const params = unknownParams(of)
  const refuse = async (options: Ask) => {
    const answer = await run.ask(of, { token: '', params, ...options })
    run.note(answer, answer.status !== 401 && 'should be 401')
    run.note(answer, failures(answer).length > 0 && 'says more than that there is no token')
  }
  await refuse({})
  for (const token of ['x', 'a.b.c', `${run.owner}x`, run.owner.slice(0, -2)]) await refuse({ token })
  await refuse({ headers: { authorization: `Basic ${btoa('a:b')}` } })
  await refuse({ headers: { [accountHeader]: 'x'.repeat(300) }, query: '?limit=x' })
  if (of.method === 'GET') return
  for (const options of garbage) await refuse(options)
}

const needsScope: Check = async (run, of) => {
  const scopes = scopesOf(of)
  const without = await run.sign(allScopes.filter((scope) => !scopes.includes(scope)))
  const params = unknownParams(of)
  for (const options of [
    {},
    { headers: { [accountHeader]: 'x'.repeat(300) }, query: '?limit=x' },
    ...(of.method === 'GET' ? [] : garbage),
  ]) {
    const answer = await run.ask(of, { token: without, params, ...options })
    run.note(answer, answer.status !== 403 && 'should be 403')
  }
  for (const scope of scopes) {
    const answer = await run.ask(of, { ...(await goodRequest(run, of)), token: await run.sign([scope]) })
    const refused = answer.headers.get('www-authenticate')?.includes('insufficient_scope')
    run.note(answer, refused === true && `should be open to a token with ${scope} alone`)
  }
}

const knowsItsMethods: Check = async (run, of) => {
  const shape = (path: string) => path.replaceAll(/\{\w+\}/g, '{}')
  const known = run.routes.filter(({ path }) => shape(path) === shape(of.path)).map(({ method }) => method as string)
  const allow = [...known, ...(known.includes('GET') ? ['HEAD'] : [])].sort().join(', ')
  for (const method of methods.filter((name) => !known.includes(name))) {
    for (const token of ['', run.owner, run.bound]) {
      for (const options of [{}, { query: '?limit=x' }, ...(method === 'GET' ? [] : garbage)]) {
        const answer = await run.ask(of, { method, token, ...options })
        run.note(answer, answer.status !== 405 && 'should be 405')
        run.note(answer, answer.headers.get('allow') !== allow && `should allow ${allow}`)
      }
    }
  }
}

const pathsAreExact: Check = async (run, of) => {
  const exact = fill(of.path, unknownParams(of))
  const upper = exact.replace(/[a-z]/, (letter) => letter.toUpperCase())
  // The router takes an empty id for an id; the operation below then says that there is no such thing.
  const isCollection = run.routes.some(({ path }) => path.startsWith(`${of.path}/{`))
  const near = [
    ...(isCollection ? [] : [`${exact}/`]),
    `${exact}/x/y/z`,
    `/x${exact}`,
    `/${exact}`,
    upper,
    `${exact}/%zz`,
    `${exact}%ff`,
  ]
  for (const path of near) {
    for (const method of new Set(['GET', of.method])) {
      for (const token of ['', run.owner]) {
        const answer = await run.ask(of, { method, token, path, ...(method !== 'GET' && { rawBody: '{' }) })
        const { type, code, status, message, details } = answer.body
        const expected = ['error', 'not_found', 404, errorTable.not_found[1], []]
        run.note(answer, !same([type, code, status, message, details], expected) && 'should be 404')
      }
    }
  }
}

const idsAreChecked: Check = async (run, of) => {
  for (const [name, property] of propertiesOf(of.params)) {
    const ids = property.format === 'uuid' ? ['x', newId().toUpperCase(), newId().replaceAll('-', ''), '%00'] : ['%00']
    for (const id of ids) {
      const answer = await run.ask(of, { ...bodyOf(of, 'default'), params: { ...unknownParams(of), [name]: id } })
      run.note(answer, refusalProblem(of, answer, [`path ${name}`]))
    }
    const long = await run.ask(of, {
      ...bodyOf(of, 'default'),
      params: { ...unknownParams(of), [name]: 'x'.repeat(2_000) },
    })
    run.note(long, ![400, 404, 422].includes(long.status) && 'should be refused')
  }
}

const hidesOtherAccounts: Check = async (run, of) => {
  for (const name of paramNames(of)) {
    const [own, foreign] = [await makeParams(run, of, 'default'), await makeParams(run, of, 'other')]
    const ask = (params: Params, token: string, account: string) =>
      run.ask(of, { params, token, ...bodyOf(of, account), ...accountOf(of, account) })
    const unknown = await ask({ ...own, [name]: unknownId(of, name) }, run.bound, 'default')
    run.note(unknown, unknown.status !== 404 && 'an unknown id should be 404')
    for (const params of [{ ...own, [name]: foreign[name] ?? '' }, foreign]) {
      const hidden = await ask(params, run.bound, 'default')
      run.note(
        hidden,
        !same(comparable(hidden), comparable(unknown)) && "another account's id should be answered like an unknown one",
      )
    }
    const seen = await ask(foreign, run.owner, 'other')
    run.note(seen, seen.status !== of.returns[0] && 'should still be there for those who reach it')
  }
}

const refusesEarlyData: Check = async (run, of) => {
  const isSafe = of.method === 'GET'
  for (const token of isSafe ? [run.owner] : [run.owner, '']) {
    const good = await goodRequest(run, of)
    const headers = { ...(good as RequestOptions).headers, 'early-data': '1' }
    const answer = await run.ask(of, { ...good, token, headers })
    run.note(answer, answer.status !== (isSafe ? of.returns[0] : 425) && `should be ${isSafe ? of.returns[0] : 425}`)
  }
}

const refusesRepeatedHeaders: Check = async (run, of) => {
  const host = new URL(run.url).host
  const bearer = `Bearer ${run.owner}`
  for (const [name, ...values] of [
    ['Host', host, host],
    ['Host', host, 'elsewhere.example'],
    ['Authorization', bearer, bearer],
    ['authorization', bearer, 'Bearer x'],
    [accountHeader, 'default', 'default'],
    [accountHeader, 'default', 'other'],
    ['Content-Type', 'application/json', 'text/plain'],
    ['Idempotency-Key', 'a', 'b'],
  ] as [string, string, string][]) {
    const single = { Host: host, Authorization: bearer, Connection: 'close' }
    const lines = [
      `${of.method} ${fill(of.path, unknownParams(of))} HTTP/1.1`,
      ...Object.entries(single).flatMap(([key, value]) =>
        key.toLowerCase() === name.toLowerCase() ? [] : [`${key}: ${value}`],
      ),
      ...values.map((value, index) => `${index === 0 ? name : name.toUpperCase()}: ${value}`),
    ]
    const answer = await raw(run.url, `${lines.join('\r\n')}\r\n\r\n`)
    for (const problem of answerProblems(run.openapi, of, of.method, answer)) run.note(answer, problem)
    const [failure = ''] = failures(answer)
    const isNamed = failure.toLowerCase() === `header ${name.toLowerCase()} value_error.conflict`
    run.note(answer, (answer.status !== 400 || !isNamed) && `should refuse two ${name}`)
  }
}

const checksItsQuery: Check = async (run, of) => {
  const properties = propertiesOf(of.query)
  const good = { params: unknownParams(of), ...bodyOf(of, 'default') }
  for (const [name, property] of properties) {
    for (const text of unfitTexts(property)) {
      const answer = await run.ask(of, { ...good, query: `?${name}=${text}` })
      run.note(answer, refusalProblem(of, answer, [`query ${name}`]))
    }
    if (property.items) continue
    const twice = await run.ask(of, { ...good, query: `?${name}=1&${name}=2` })
    run.note(twice, refusalProblem(of, twice, [`query ${name}`]))
  }
  if (properties.length > 1) {
    const bad = properties.flatMap(([name, property]) =>
      unfitTexts(property)
        .map((text) => ({ name, text }))
        .slice(0, 1),
    )
    const answer = await run.ask(of, { ...good, query: `?${bad.map(({ name, text }) => `${name}=${text}`).join('&')}` })
    run.note(
      answer,
      refusalProblem(
        of,
        answer,
        bad.map(({ name }) => `query ${name}`),
      ),
    )
  }
  const ignored = await run.ask(of, { ...(await goodRequest(run, of)), query: '?not_a_parameter=1&__proto__=1&%zz' })
  run.note(ignored, ignored.status !== of.returns[0] && 'should ignore parameters it does not know')
}

const checksItsBody: Check = async (run, of) => {
  if (of.method === 'GET') return
  const params = unknownParams(of)
  for (const [name, rawBody, headers = {}] of unreadableBodies) {
    const answer = await run.ask(of, { params, rawBody, headers })
    const problem = unreadableProblem(answer)
    run.note(answer, problem && `${name} ${problem}`)
  }
  const head = `${of.method} ${fill(of.path, params)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${run.owner}\r\nContent-Type: application/json\r\n`
  const size = 1024 * 1024 + 1
  const chunked = await raw(
    run.url,
    `${head}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${' '.repeat(size)}\r\n0\r\n\r\n`,
  )
  run.note(chunked, unreadableProblem(chunked))
  if (!of.body) return

  const schema = of.body as Property
  const example = bodyOf(of, 'default').body
  for (const rawBody of ['null', '', ...(schema.properties ? ['[]', '1', 'true', '"x"'] : [])]) {
    const answer = await run.ask(of, { params, rawBody })
    run.note(answer, refusalProblem(of, answer, ['body ']))
  }
  for (const { place, body } of badBodies(schema, example)) {
    const answer = await run.ask(of, { params, body })
    run.note(answer, refusalProblem(of, answer, [place]))
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (![property.type].flat().includes('string')) continue
    for (const text of ['a\0b', '\0', 'a\ud800', '\udc00b']) {
      const answer = await run.ask(of, { params, body: { ...(example as Json), [name]: text } })
      run.note(answer, refusalProblem(of, answer, [`body /${name}`]))
    }
  }
  for (const key of ['a\0', '\ud800']) {
    const answer = await run.ask(of, { params, body: { ...(example as Json), [key]: 1 } })
    run.note(answer, answer.status !== (of.validation === 'detail' ? 422 : 400) && 'should be refused')
  }
}

const reportsEverythingAtOnce: Check = async (run, of) => {
  const query = propertiesOf(of.query).flatMap(([name, property]) =>
    unfitTexts(property)
      .map((text) => ({ place: `query ${name}`, text: `${name}=${text}` }))
      .slice(0, 1),
  )
  const ids = paramNames(of).map((name) => ({ place: `path ${name}`, name }))
  const worst = of.body ? worstBody(of.body as Property) : { places: [], body: undefined }
  const places = [...ids.map(({ place }) => place), ...query.map(({ place }) => place), ...worst.places]
  if (places.length === 0) return
  const answer = await run.ask(of, {
    params: Object.fromEntries(ids.map(({ name }) => [name, '%00'])),
    query: `?${query.map(({ text }) => text).join('&')}`,
    ...(worst.body && { body: worst.body }),
  })
  run.note(answer, refusalProblem(of, answer, places))
}

const takesTheAccountHeader: Check = async (run, of) => {
  const ask = async (account: string, token = run.owner) => {
    const good = await goodRequest(run, of)
    return run.ask(of, { ...good, token, headers: { [accountHeader]: account } })
  }
  const expectStatus = (answer: Answer, status: number, why: string) =>
    run.note(answer, answer.status !== status && `${why} should be ${status}`)
  const [success] = of.returns
  if (of.merchantAccount === 'none') {
    for (const account of ['default', 'no-such-account', 'x'.repeat(256), '*', '']) {
      expectStatus(await ask(account), success, `the header ${account.slice(0, 20)}, ignored here,`)
    }
    return
  }
  for (const account of ['default', '']) expectStatus(await ask(account), success, 'an account within reach')
  const unknown = await ask('no-such-account')
  expectStatus(unknown, 404, 'an unknown account')
  const hidden = await ask('other', run.bound)
  run.note(hidden, !same(comparable(hidden), comparable(unknown)) && 'should be answered like an unknown account')
  for (const account of ['default,other', 'DEFAULT', 'x'.repeat(255), "default' or true --", '**']) {
    for (const token of [run.owner, run.bound]) expectStatus(await ask(account, token), 404, 'no account')
  }
  const long = await ask('x'.repeat(256))
  const isNamed = same(failures(long), [`header ${accountHeader} value_error.length`])
  run.note(long, (long.status !== 400 || !isNamed) && 'should be 400, too long')
  const all = await ask('*')
  if (of.merchantAccount === 'list') return expectStatus(all, success, 'all accounts')
  const isRefused = same(failures(all), [`header ${accountHeader} value_error.unsupported`])
  run.note(all, (all.status !== 400 || !isRefused) && 'should be 400, one account only')
}

const succeeds: Check = async (run, of) => {
  const answer = await run.ask(of, await goodRequest(run, of))
  run.note(answer, answer.status !== of.returns[0] && `should be ${of.returns[0]}`)
}

const answersHead: Check = async (run, of) => {
  if (of.method !== 'GET') return
  const good = await goodRequest(run, of)
  for (const options of [
    good,
    { ...good, token: '' },
    { ...good, params: unknownParams(of) },
    { ...good, query: '?limit=0' },
  ]) {
    const get = await run.ask(of, options)
    const head = await run.ask(of, { ...options, method: 'HEAD' })
    // The time a key was last used may have been written in between, which changes the length.
    const strip = (answer: Answer) =>
      comparable(answer).headers.filter(([name]) => name !== 'content-length' || get.status >= 400)
    run.note(head, !same([head.status, head.text, strip(head)], [get.status, '', strip(get)]) && 'should be like GET')
  }
}

const checks: Record<string, Check> = {
  'succeeds with its example, and a change leaves one audit row': succeeds,
  'answers 401 without a valid token, whatever else is wrong': needsToken,
  'answers 403 to a token with every scope but its own, whatever else is wrong': needsScope,
  'answers other methods with 405 and those it has': knowsItsMethods,
  'is at its path only; anything near it is 404': pathsAreExact,
  'refuses ids that cannot be': idsAreChecked,
  "answers another account's id exactly like an unknown one": hidesOtherAccounts,
  'answers early data with 425 unless it is safe': refusesEarlyData,
  'refuses headers sent twice': refusesRepeatedHeaders,
  'refuses query values that do not fit and names each': checksItsQuery,
  'refuses bodies that do not fit and names each field': checksItsBody,
  'reports everything that is wrong in one answer': reportsEverythingAtOnce,
  'takes the merchant account header as declared': takesTheAccountHeader,
  'answers HEAD like GET without a body': answersHead,
}

/** One request over a plain socket, for what an HTTP client would not send. */
function raw(url: string, request: string): Promise<Answer> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = openSocket(Number(port), hostname, () => socket.write(request))
    socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on(
      'error',
      (error: NodeJS.ErrnoException) => error.code !== 'EPIPE' && error.code !== 'ECONNRESET' && reject(error),
    )
    socket.on('close', () => {
      const [head = '', text = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n', 2)
      const [statusLine = '', ...lines] = head.split('\r\n')
      const headers = new Headers(
        lines.map((line): [string, string] => [
          line.slice(0, line.indexOf(':')),
          line.slice(line.indexOf(':') + 1).trim(),
        ]),
      )
      const body = text.startsWith('{') ? (JSON.parse(text) as Json) : {}
      resolve({ status: Number(statusLine.split(' ')[1] ?? 0), headers, text, body })
    })
  })
}

const api = useApi()
let bound: KeyPair
let boundToken: string

const subjectOf = (url: string, list: readonly Route[], openapi: Json): Subject => ({
  routes: list,
  url,
  openapi,
  owner: api.token(),
  bound: boundToken,
  sign: (scopes) => api.makeToken(api.owner(), { scopes }),
  auditRows: async (requestIds) => {
    const rows = await api.database.query<{ request_id: string; count: string }>(
      'select request_id, count(*) from audit_logs where request_id = any($1) group by 1',
      [requestIds],
    )
    return new Map(rows.map(({ request_id, count }) => [request_id, Number(count)]))
  },
})

beforeAll(async () => {
  bound = await api.makeKeyPair({ merchantAccountIds: ['default'] })
  boundToken = await api.makeToken(bound)
})

const written = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8')) as Json

describe.each(routes.map((of) => [`${of.method} ${of.path}`, of] as const))('%s', (_name, of) => {
  test.each(Object.entries(checks))('%s', async (_guarantee, check) => {
    expect(await problemsOf(subjectOf(api.url(), routes, written), check, of)).toEqual([])
  })
})

test('no prototype was polluted on the way', () => {
  expect({}).not.toHaveProperty('polluted')
})

const Probe = Type.Object(
  { type: Constant('probe'), id: Uuid(), merchant_account_id: Type.String(), name: Type.String() },
  { title: 'Probe' },
)
const ProbeBody = Body(
  {
    name: Type.String({ minLength: 1, maxLength: 20 }),
    kind: Type.Optional(Nullable(Enum(['one', 'two']))),
    owner: Body({ name: Type.String(), tags: Type.Optional(Type.Array(Type.String())) }),
    parts: Type.Optional(Type.Array(Body({ number: Type.Integer() }))),
  },
  { title: 'ProbeBody' },
)
const ProbePath = Type.Object({ probe_id: Uuid() })
const probeExample = () => ({ name: 'Probe', owner: { name: 'x', tags: ['a'] }, parts: [{ number: 1 }] })

interface StoredProbe {
  type: 'probe'
  id: string
  merchant_account_id: string
  name: string
}

type Mistake =
  | 'none'
  | 'no audit row'
  | 'two audit rows'
  | 'an audit row of a refused change'
  | 'the account is ignored'
  | 'another account is forbidden'
  | 'a fault'
  | 'unknown fields are taken'
  | 'not described'

/** A resource of one merchant account, in memory, with a mistake in it; the way to see what a check makes of that mistake. */
function probeRoutes(mistake: Mistake): Route[] {
  const stored = new Map<string, StoredProbe>()
  const common = { merchantAccount: 'one', summary: 'Probe' } as const
  const record = (ctx: Context, action: 'created' | 'updated' | 'deleted', probe: StoredProbe) =>
    transact(ctx, async (inside) => {
      const { id, name, merchant_account_id } = probe
      const rows = mistake === 'no audit row' ? 0 : mistake === 'two audit rows' ? 2 : 1
      for (let row = 0; row < rows; row += 1) {
        await audit(inside, action, { type: 'probe', id, name, merchantAccountId: merchant_account_id })
      }
      return probe
    })
  const find = (ctx: Context, id: string): StoredProbe => {
    const probe = stored.get(id)
    if (!probe) throw notFound()
    if (mistake === 'the account is ignored' || includesAccount(ctx.accounts, probe.merchant_account_id)) return probe
    throw mistake === 'another account is forbidden' ? forbidden('It belongs to somebody else') : notFound()
  }
  const taken = mistake === 'unknown fields are taken' ? { ...ProbeBody, additionalProperties: true } : ProbeBody
  return [
    route({
      id: 'listProbes',
      method: 'GET',
      path: '/roles/probes',
      scope: ['roles.read', 'reports.read'],
      ...common,
      merchantAccount: 'list',
      query: Type.Object({
        since: Type.Optional(DateTime()),
        kinds: Type.Optional(Type.Array(Enum(['one', 'two']))),
        big: Type.Optional(Type.Boolean()),
        probe_id: Type.Optional(Uuid()),
      }),
      returns: [200, Type.Object({ items: Type.Array(Probe) }, { title: 'Probes' })],
      handle: (ctx) => ({
        items: [...stored.values()]
          .filter((probe) => includesAccount(ctx.accounts, probe.merchant_account_id))
          .slice(0, 5),
      }),
    }),
    route({
      id: 'createProbe',
      method: 'POST',
      path: '/roles/probes',
      scope: 'roles.write',
      ...common,
      body: taken,
      example: probeExample,
      returns: [201, Probe],
      handle: async (ctx, { body }) => {
        const [account = ''] = ctx.accounts
        const probe = { type: 'probe', id: newId(), merchant_account_id: account, name: body.name } as const
        stored.set(probe.id, probe)
        return record(ctx, 'created', probe)
      },
    }),
    route({
      id: 'getProbe',
      method: 'GET',
      path: '/roles/probes/{probe_id}',
      scope: 'roles.read',
      ...common,
      params: ProbePath,
      returns: [200, Probe],
      handle: (ctx, { params }) => {
        if (mistake === 'a fault') throw new TypeError('cannot read properties of undefined')
        return find(ctx, params.probe_id)
      },
    }),
    route({
      id: 'updateProbe',
      method: 'PUT',
      path: '/roles/probes/{probe_id}',
      scope: 'roles.write',
      ...common,
      params: ProbePath,
      body: taken,
      example: probeExample,
      returns: [200, Probe],
      handle: async (ctx, { params }) => {
        if (mistake === 'an audit row of a refused change') {
          const [account = ''] = ctx.accounts
          await record(ctx, 'updated', { type: 'probe', id: newId(), merchant_account_id: account, name: 'x' })
        }
        return record(ctx, 'updated', find(ctx, params.probe_id))
      },
    }),
    route({
      id: 'deleteProbe',
      method: 'DELETE',
      path: '/roles/probes/{probe_id}',
      scope: 'roles.write',
      ...common,
      params: ProbePath,
      returns: [204],
      handle: async (ctx, { params }) => {
        const probe = find(ctx, params.probe_id)
        await record(ctx, 'deleted', probe)
        stored.delete(probe.id)
      },
    }),
  ]
}

describe('the checks', () => {
  const open: { close(): unknown }[] = []
  let db: Database

  beforeAll(() => {
    db = connect({
      url: api.database.url('florin_api'),
      applicationName: 'test',
      poolSize: 4,
      onError: () => undefined,
    })
  })
  afterAll(async () => {
    for (const app of open) await app.close()
    await db.close()
  })

  /** The whole edge with these routes instead of the real ones. */
  async function serve(mistake: Mistake): Promise<Subject> {
    const probes = probeRoutes(mistake)
    const now = () => new Date()
    const keys = createKeyRing((thumbprint) => loadSigningKey(db, thumbprint))
    const app = buildApp({
      routes: probes,
      files: [],
      authenticate: createAuthenticator({ keys, now, concurrency: 1, onUse: () => undefined }),
      accounts: createAccountDirectory({
        exists: (id) => merchantAccountExists(db, id),
        oldest: () => oldestMerchantAccount(db),
      }),
      cursors: createCursorCodec([randomBytes(32)]),
      db,
      now,
      log: createLog({ level: 'silent', process: 'test' }),
      metrics: { observeRequest: () => undefined },
      headerPrefix: 'X-Service-',
      isDraining: () => false,
      baseUrl: () => '',
    })
    open.push(app)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const openapi = describeApi(mistake === 'not described' ? [] : probes)
    return subjectOf(`http://127.0.0.1:${port}`, probes, openapi)
  }

  async function allProblems(mistake: Mistake, used: readonly Check[]): Promise<string[]> {
    const subject = await serve(mistake)
    const problems: string[] = []
    for (const of of subject.routes) {
      for (const check of used) problems.push(...(await problemsOf(subject, check, of)))
    }
    return problems
  }

  test('find nothing wrong with routes that are right, whatever kind they are of', async () => {
    expect(await allProblems('none', Object.values(checks))).toEqual([])
  })

  test.each<[Mistake, Check, RegExp]>([
    ['no audit row', succeeds, /POST \/roles\/probes → 201 .*left 0 audit rows instead of 1/],
    ['two audit rows', succeeds, /DELETE .* → 204 .*left 2 audit rows instead of 1/],
    ['an audit row of a refused change', hidesOtherAccounts, /PUT .* → 404 .*left 1 audit rows instead of 0/],
    [
      'the account is ignored',
      hidesOtherAccounts,
      /GET .* → 200 .*another account's id should be answered like an unknown one/,
    ],
    [
      'another account is forbidden',
      hidesOtherAccounts,
      /DELETE .* → 403 .*another account's id should be answered like an unknown one/,
    ],
    ['a fault', succeeds, /GET .* → 500 .*is a fault of ours/],
    ['unknown fields are taken', checksItsBody, /POST .* → 201 .*should be 400/],
    ['not described', succeeds, /is not in openapi\.json/],
  ])('report a route with this mistake: %s', async (mistake, check, problem) => {
    expect(await allProblems(mistake, [check])).toContainEqual(expect.stringMatching(problem))
  })

  test('report a path whose resources nothing can make', async () => {
    const subject = await serve('none')
    const [, , get] = subject.routes
    const list = subject.routes.filter(({ method }) => method !== 'POST')
    await expect(problemsOf({ ...subject, routes: list }, succeeds, get as Route)).rejects.toThrow(
      /no POST \/roles\/probes/,
    )
  })
})
