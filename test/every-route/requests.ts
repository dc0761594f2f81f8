import { randomBytes, randomUUID } from 'node:crypto'
import { connect as openSocket } from 'node:net'
import type { TSchema } from 'typebox'
import { signNotification } from '../../src/connectors/sandbox/mock-card/notification.ts'
import type { Route } from '../../src/http/route.ts'
import { newId } from '../../src/ids.ts'
import type { Answer, RequestOptions } from '../api.ts'
import type { Json } from './answers.ts'
import type { Ask, Params, Run } from './run.ts'

export const accountHeader = 'X-Service-Merchant-Account-ID'
const unique = () => randomBytes(6).toString('hex')

/** Makes the resources that a path names, in an account, by the POST routes on the paths before them. */
export async function makeParams(run: Run, of: Route, account: string): Promise<Params> {
  const params: Params = {}
  for (const name of paramNames(of)) {
    params[name] = of.exampleParams?.[name] ?? (await makeResource(run, of, name, { params, account }))
  }
  return params
}

/** One resource, as the route that asks for it wants it. What no POST makes comes with the resource it is listed under. */
async function makeResource(
  run: Run,
  of: Route,
  name: string,
  { params, account }: { params: Params; account: string },
): Promise<string> {
  const before = of.path.slice(0, of.path.indexOf(`/{${name}}`))
  const maker = makerOf(run.routes, before)
  if (!maker) return firstListed(run, of, before, { params, account })
  // The path before it is its maker's; where it is not, what is on that path is made first.
  const on = maker.path === before ? params : await makeParams(run, { ...maker, given: of.given ?? {} }, account)
  const { body } = bodyOf(maker, account, await makeNeeds(run, maker, account))
  const made = await run.ask(maker, {
    params: on,
    ...accountOf(maker, account),
    body: { ...(body as Json), ...of.given?.[name] },
  })
  const { id } = made.body as { id?: unknown }
  if (made.status >= 300 || typeof id !== 'string') throw new Error(`${maker.id} made nothing: ${made.text}`)
  return id
}

function makerOf(routes: readonly Route[], path: string): Route | undefined {
  const makers = routes.filter(({ method, example }) => method === 'POST' && example)
  const end = path.slice(path.lastIndexOf('/'))
  return makers.find((maker) => maker.path === path) ?? makers.find((maker) => maker.path.endsWith(end))
}

async function firstListed(
  run: Run,
  of: Route,
  path: string,
  { params, account }: { params: Params; account: string },
): Promise<string> {
  const list = run.routes.find((route) => route.method === 'GET' && route.path === path)
  const first = async () => {
    const listed = list && (await run.ask(list, { params, ...accountOf(list, account) }))
    const { items } = (listed?.body ?? {}) as { items?: { id: string }[] }
    return items?.[0]?.id
  }
  const id = (await first()) ?? (await run.wait(params, account).then(first))
  if (id === undefined)
    throw new Error(`${of.path}: no POST ${path} with an example makes one, and none is listed there`)
  return id
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
  if (of.raw) return signedMessage(of)
  if (!of.body) return {}
  if (!of.example) throw new Error(`${of.id} has a body but no example`)
  return { body: of.example({ merchantAccountId: account, unique: unique(), ids }) }
}

/** News about nothing, signed with the secret of the service that the route says it is given. */
function signedMessage(of: Route): RequestOptions {
  const { fields = [] } = (of.given?.['payment_service_id'] ?? {}) as { fields?: { key: string; value: string }[] }
  const secret = fields.find(({ key }) => key === 'webhook_secret')?.value ?? ''
  const body = Buffer.from(JSON.stringify({ id: unique(), reference: randomUUID() }))
  return { rawBody: body, headers: signNotification({ secret, body, now: new Date() }) }
}

/** The same with more headers. */
export const withHeaders = (request: Ask, headers: Record<string, string> | undefined): Ask => ({
  ...request,
  headers: { ...request.headers, ...headers },
})

export const queryOf = ({ exampleQuery }: Route) =>
  exampleQuery ? { query: `?${new URLSearchParams(exampleQuery).toString()}` } : {}

/** Everything a request needs to succeed. */
export async function goodRequest(run: Run, of: Route, account = 'default'): Promise<Ask> {
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
  discriminator?: { propertyName: string }
  oneOf?: Property[]
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
