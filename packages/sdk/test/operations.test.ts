import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Florin, List } from '@florin/sdk'
import { beforeAll, expect, test } from 'vitest'
import type { Route } from '../../../src/http/route.ts'
import { routes } from '../../../src/http/routes.ts'
import { signatureHeaders } from '../../../src/webhooks/sign.ts'
import { type Answer, useApi } from '../../../test/api.ts'
import { furnish, waitFor } from '../../../test/every-route/instance.ts'
import { accountHeader, goodRequest, paramNames } from '../../../test/every-route/requests.ts'
import { type Ask, fill, type Run } from '../../../test/every-route/run.ts'
import { methodOf } from './by-name.ts'
import { caught } from './caught.ts'

/* Every operation of the route list, called by its name in the SDK with the example of its route, on a real API. */

const api = useApi()
beforeAll(() => furnish(api, 'default'))

interface Seen {
  method: string
  url: string
  status: number
}
const seen: Seen[] = []

let florin: Florin
beforeAll(() => {
  florin = new Florin({
    baseUrl: api.url(),
    privateKey: api.owner().privateKeyPem,
    maxRetries: 0,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      seen.push({ method: init?.method ?? '', url: input as string, status: response.status })
      return response
    },
  })
})

async function gather(stream: unknown): Promise<unknown[]> {
  const items: unknown[] = []
  for await (const item of stream as AsyncIterable<unknown>) items.push(item)
  return items
}

/** Sends what a request to the route would say through the method of that name. */
async function ask(of: Route, { params = {}, body, rawBody, query, headers = {} }: Ask): Promise<Answer> {
  const method = methodOf(florin, of)
  if (!method) throw new Error(`${of.id} has no method`)
  const { [accountHeader]: merchantAccountId, ...others } = headers
  const result = method(
    ...paramNames(of).map((name) => params[name]),
    ...(of.raw ? [{ body: rawBody, headers: others }] : []),
    ...(of.body ? [body] : []),
    ...(of.query ? [Object.fromEntries(new URLSearchParams(query))] : []),
    { merchantAccountId },
  )
  const answer = await (result instanceof List ? result.page() : of.streams ? gather(result) : result)
  const { status = 0 } = seen.at(-1) ?? {}
  return { status, headers: new Headers(), text: JSON.stringify(answer), body: answer as Answer['body'] }
}

test.each(routes.map((of) => [of.id, of] as const))('%s has a method that does it', async (_id, of) => {
  const run = {
    routes,
    ask,
    wait: (params: Record<string, string>, account: string) => waitFor(api, params, account),
  } as unknown as Run
  const good = await goodRequest(run, of)
  const { status, body } = await ask(of, good)
  const { method, url } = seen.at(-1) ?? {}
  expect([method, url, status]).toEqual([
    of.method,
    `${api.url()}${fill(of.path, good.params ?? {})}${good.query ?? ''}`,
    of.returns[0],
  ])
  expect(body === undefined).toBe(of.returns[1] === undefined && !of.streams)
})

test('the client has nothing that is no operation', () => {
  const called = new Set(routes.map((of) => methodOf(florin, of)?.name))
  const found: string[] = []
  const walk = (node: object) => {
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(node))) found.push(name)
    for (const [name, child] of Object.entries(node)) if (name !== 'transport') walk(child as object)
  }
  walk(florin)
  const methods = found.filter((name) => name !== 'constructor')
  expect(methods).toHaveLength(routes.length)
  expect(called.size).toBeGreaterThan(10)
})

test('for await walks over all pages, each item once, and pages() page by page', async () => {
  const merchantAccountId = 'other'
  const made: string[] = []
  for (let index = 0; index < 7; index += 1) made.push((await florin.buyers.create({}, { merchantAccountId })).id)
  const before = seen.length
  const walked: string[] = []
  for await (const buyer of florin.buyers.list({ limit: 3 }, { merchantAccountId })) walked.push(buyer.id)
  expect(walked).toEqual(made.toReversed())
  expect(seen.length - before).toBe(3)

  const sizes: number[] = []
  for await (const page of florin.buyers.list({ limit: 3 }, { merchantAccountId }).pages())
    sizes.push(page.items.length)
  expect(sizes).toEqual([3, 3, 1])
  const first = await florin.buyers.list({ limit: 3 }, { merchantAccountId }).page()
  const second = await florin.buyers.list({ limit: 3, cursor: first.next_cursor ?? '' }, { merchantAccountId }).page()
  expect(second.items.map(({ id }) => id)).toEqual(walked.slice(3, 6))
  for await (const _none of florin.buyers.list({ search: 'nobody' }, { merchantAccountId }))
    throw new Error('found one')
})

test('any request has the token, the account and the errors of the methods, and its answer comes as it is', async () => {
  const merchantAccountId = 'other'
  const { id } = await florin.buyers.create({ display_name: 'Ada' }, { merchantAccountId })
  const list = { method: 'GET', path: '/buyers', query: { limit: 1, search: 'Ada' } } as const
  const response = await florin.request(list, { merchantAccountId })
  expect(response.headers.get('content-type')).toContain('application/json')
  expect(await response.json()).toMatchObject({ limit: 1, items: [{ id, display_name: 'Ada' }] })
  const error = await caught(florin.request({ method: 'GET', path: `/buyers/${id}` }))
  expect([error.code, error.reason]).toEqual(['not_found', error.message])
  const anonymous = florin.request({ ...list, open: true })
  expect((await caught(anonymous)).code).toBe('unauthorized')
})

test('several values of a filter are all taken', async () => {
  const page = await florin.transactions.list({ status: ['capture_succeeded', 'authorization_voided'] }).page()
  expect(new URL(seen.at(-1)?.url ?? '').searchParams.getAll('status')).toEqual([
    'capture_succeeded',
    'authorization_voided',
  ])
  expect(new Set(page.items.map(({ status }) => status))).toEqual(
    new Set(['capture_succeeded', 'authorization_voided']),
  )
})

test('prefer answers with what became of the action', async () => {
  const card = { method: 'card', number: '4111111111111111', expiration_date: '12/30' } as const
  const payment = await florin.transactions.create({ amount: 1299, currency: 'EUR', payment_method: card })
  const captured = await florin.transactions.capture(payment.id, {}, { prefer: 'transaction-capture' })
  expect(captured.type).toBe('transaction-capture')
})

test('the feed gives events, and ends when its reader does', async () => {
  const position = '00000000-0000-7000-8000-000000000000'
  const buyer = await florin.buyers.create({ display_name: 'Ada' })
  for await (const event of florin.events.feed({ position, name: ['buyer.created'], wait: 60 })) {
    if (event.name === 'buyer.created' && event.target.id === buyer.id) {
      expect(event.target.display_name).toBe('Ada')
      break
    }
  }
})

test('a value that is taken says whose it is', async () => {
  const { id } = await florin.buyers.create({ external_identifier: 'taken' })
  const error = await caught(florin.buyers.create({ external_identifier: 'taken' }))
  expect([error.code, error.status, error.resourceId]).toEqual(['duplicate_record', 409, id])
  expect(error.requestId).toMatch(/./)
})

test('both shapes of a validation failure become details', async () => {
  const details = await caught(florin.transactions.create({ amount: -1, currency: 'euro' }))
  expect(details.code).toBe('bad_request')
  expect(details.details.map(({ location, pointer }) => [location, pointer])).toEqual([
    ['body', '/amount'],
    ['body', '/currency'],
  ])
  expect(details.message).toContain('body /amount: Must be at least 0')
  expect(details.reason).toBe('Request failed validation')
  const detail = await caught(florin.apiKeyPairs.create({ display_name: '', role_ids: ['x'] }))
  expect([detail.status, detail.code]).toEqual([422, 'bad_request'])
  expect(detail.details).toContainEqual(
    expect.objectContaining({ location: 'body', pointer: '/role_ids/0', type: 'type_error.uuid' }),
  )
})

test('what the roles of a key do not cover is forbidden; what is not there is not found', async () => {
  const reader = new Florin({ baseUrl: api.url(), privateKey: api.owner().privateKeyPem, scopes: ['buyers.read'] })
  expect((await caught(reader.transactions.list().page())).code).toBe('forbidden')
  expect((await caught(reader.buyers.get('01900000-0000-7000-8000-000000000000'))).code).toBe('not_found')
})

test('without a key or a token only open operations are called', async () => {
  const session = await florin.checkout.sessions.create({ amount: 1299, currency: 'EUR' })
  const browser = new Florin({ baseUrl: api.url() })
  await browser.checkout.sessions.fields.update(session.id, {
    payment_method: { method: 'card', number: '4111111111111111', expiration_date: '12/30' },
  })
  await expect(browser.buyers.list().page()).rejects.toThrow('give Florin a privateKey')
  await expect(browser.signToken()).rejects.toThrow('needs a privateKey')
})

/** A delivery of an event, signed as Florin does it. */
function deliver(name: string) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const body = JSON.stringify({ name, target: { amount: 1299 } })
  const headers = signatureHeaders({ prefix: 'X-Service-', id: '1', now: new Date(), body, secrets: [secret] })
  return { body, headers, secret }
}

const node = async (...args: string[]) => (await promisify(execFile)('node', args, { cwd: import.meta.dirname })).stdout

test('it runs where there is nothing of Node, only what the web has', async () => {
  const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']
  const delivery = JSON.stringify(deliver('buyer.created'))
  const printed = await node(...options, 'web-only.ts', api.url(), api.owner().privateKeyPem, delivery)
  expect(JSON.parse(printed)).toEqual({
    isFound: true,
    code: 'not_found',
    seen: 'buyer.created',
    event: 'buyer.created',
    process: 'undefined',
    Buffer: 'undefined',
  })
})

test('what its README shows does what it says', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)
  expect(blocks.length).toBeGreaterThan(4)
  const { body, headers, secret } = deliver('transaction.captured')
  const shown = blocks.join('\n').replace('http://127.0.0.1:8080', api.url()).replace('wait: 60', 'wait: 0')
  const code = `
    const pem = ${JSON.stringify(api.owner().privateKeyPem)}, secret = ${JSON.stringify(secret)}
    ${shown}
    const request = new Request('http://127.0.0.1', { method: 'POST', body: ${JSON.stringify(body)}, headers: ${JSON.stringify(headers)} })
    console.log((await receive(request)).status, (await receive(new Request('http://127.0.0.1'))).status)`
  const printed = await node('--input-type=module-typescript', '-e', code)
  expect(printed).toMatch(/^capture_succeeded\n(.* 1299\n)+\d+ .*\n200\n1299\n204 400\n$/s)
})
