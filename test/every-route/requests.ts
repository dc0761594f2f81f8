import { randomBytes, randomUUID } from 'node:crypto'
import { connect as openSocket } from 'node:net'
import type { TSchema } from 'typebox'
import type { Route } from '../../src/http/route.ts'
import { newId } from '../../src/ids.ts'
import type { Answer, RequestOptions } from '../api.ts'
import type { Json } from './answers.ts'
import type { Params, Run } from './run.ts'

export const accountHeader = 'X-Service-Merchant-Account-ID'
const unique = () => randomBytes(6).toString('hex')

/** Makes the resources that a path names, in an account, by the POST routes on the paths before them. */
export async function makeParams(run: Run, of: Route, account: string): Promise<Params> {
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

export const accountOf = ({ merchantAccount }: Route, account: string): RequestOptions =>
  merchantAccount === 'none' ? {} : { headers: { [accountHeader]: account } }

/** Ids of resources that the route's example names. */
async function makeNeeds(run: Run, of: Route, account: string): Promise<Params> {
  const ids: Params = {}
  for (const name of of.needs ?? []) {
    const holder = run.routes.find(({ path }) => path.endsWith(`/{${name}}`))
    if (!holder) throw new Error(`${of.id} needs a {${name}}, which no path has`)
    Object.assign(ids, await makeParams(run, holder, account))
  }
  return ids
}

/** Where the request is refused before anybody looks for the resource, any id will do. */
const anyIds: Params = new Proxy({}, { get: () => randomUUID() })

export function bodyOf(of: Route, account: string, ids = anyIds): RequestOptions {
  if (!of.body) return {}
  if (!of.example) throw new Error(`${of.id} has a body but no example`)
  return { body: of.example({ merchantAccountId: account, unique: unique(), ids }) }
}

export const queryOf = ({ exampleQuery }: Route) =>
  exampleQuery ? { query: `?${new URLSearchParams(exampleQuery).toString()}` } : {}

/** Everything a request needs to succeed. */
export async function goodRequest(run: Run, of: Route, account = 'default') {
  const [params, ids] = [await makeParams(run, of, account), await makeNeeds(run, of, account)]
  return { params, ...accountOf(of, account), ...bodyOf(of, account, ids), ...queryOf(of) }
}

export const paramNames = ({ path }: Route) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

export type Property = {
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

export const propertiesOf = (schema: TSchema | undefined) =>
  Object.entries((schema as Property | undefined)?.properties ?? {}) as [string, Property][]

export const unknownId = (of: Route, name: string) =>
  propertiesOf(of.params).find(([key]) => key === name)?.[1].format === 'uuid' ? newId() : `unknown-${unique()}`

export const unknownParams = (of: Route): Params =>
  Object.fromEntries(paramNames(of).map((name) => [name, unknownId(of, name)]))

/** One request over a plain socket, for what an HTTP client would not send. */
export function raw(url: string, request: string): Promise<Answer> {
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
