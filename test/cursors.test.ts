import { createDecipheriv, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ValidationFailure } from '../src/errors.ts'
import { type CursorCodec, createCursorCodec } from '../src/http/cursor.ts'
import { openPage } from '../src/http/pages.ts'
import type { Route } from '../src/http/route.ts'
import { routes } from '../src/http/routes.ts'
import { newId } from '../src/ids.ts'
import { type Api, startApi } from '../src/main/api.ts'
import type { Position } from '../src/page.ts'
import { Secret } from '../src/platform/secret.ts'
import type { Collection } from '../src/schema.ts'
import { type Answer, apiConfig, send, useApi } from './api.ts'
import { insertSubscription } from './webhooks.ts'
import { giftCard, makeGiftCardService } from './gift-cards.ts'

/** npm run proof:lists. */
const isLong = process.env['ALL_CURSORS'] !== undefined

const lists = routes.filter(({ paged }) => paged)
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

interface Request {
  route: Pick<Route, 'id' | 'paged'>
  query: Record<string, unknown>
  caller: { keyPairId: string; accountHeader: string | undefined }
}

/** A cursor with the request it comes in; `why` says what is wrong with it. */
interface Forgery extends Request {
  why: string
  cursor: string
}

function seal(codec: CursorCodec, { route, query, caller }: Request, position: Position): string {
  return openPage(route, query, caller, codec).seal(position)
}

/** Forgeries that are not refused, or refused as anything but a value of `cursor` that does not fit. */
function acceptedForgeries(codec: CursorCodec, forgeries: Iterable<Forgery>): { tried: number; problems: string[] } {
  const problems: string[] = []
  let tried = 0
  for (const { why, cursor, route, query, caller } of forgeries) {
    tried += 1
    try {
      openPage(route, { ...query, cursor }, caller, codec)
      problems.push(`${why}: accepted ${cursor}`)
    } catch (error) {
      const [detail, ...others] = error instanceof ValidationFailure ? error.details : []
      const isRefusal = detail?.location === 'query' && detail.pointer === 'cursor' && others.length === 0
      if (!isRefusal) problems.push(`${why}: ${String(error)} for ${cursor}`)
    }
  }
  return { tried, problems }
}

/** Everything that can be done to the text of a cursor. */
function* mutations(cursor: string): Generator<[why: string, cursor: string]> {
  for (let index = 0; index < cursor.length; index += 1) {
    for (const letter of alphabet) {
      if (letter !== cursor[index]) yield ['another letter', cursor.slice(0, index) + letter + cursor.slice(index + 1)]
    }
    yield ['a letter left out', cursor.slice(0, index) + cursor.slice(index + 1)]
    yield ['a letter doubled', cursor.slice(0, index) + cursor[index] + cursor.slice(index)]
    for (const letter of '= \n\0+/%.é\u{1f600}') {
      yield ['a letter put in', cursor.slice(0, index) + letter + cursor.slice(index)]
      yield ['a strange letter', cursor.slice(0, index) + letter + cursor.slice(index + 1)]
    }
    yield ['truncated', cursor.slice(0, index)]
    yield ['the beginning cut off', cursor.slice(index + 1)]
  }
  for (const letter of `${alphabet}= \n\0+/`) {
    yield ['extended', cursor + letter]
    yield ['extended at the front', letter + cursor]
  }
  const bytes = Buffer.from(cursor, 'base64url')
  const twins = [
    ['as base64', bytes.toString('base64')],
    ['with padding', `${cursor}==`],
    ['as hex', bytes.toString('hex')],
    ['encoded twice', Buffer.from(cursor).toString('base64url')],
    ['in upper case', cursor.toUpperCase()],
    ['in lower case', cursor.toLowerCase()],
    ['backwards', cursor.split('').reverse().join('')],
    ['twice', cursor + cursor],
    ['in quotes', `"${cursor}"`],
    ['with a space', ` ${cursor}`],
    [
      'percent-encoded',
      cursor
        .split('')
        .map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
        .join(''),
    ],
  ] as const
  for (const [why, text] of twins) if (text !== cursor) yield [why, text]
  for (let index = 0; index < bytes.length; index += 1) {
    for (const bit of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ bit
      yield ['a byte changed', changed.toString('base64url')]
    }
    const [before, after] = [bytes.subarray(0, index), bytes.subarray(index)]
    yield ['a byte put in', Buffer.concat([before, Buffer.from([0]), after]).toString('base64url')]
    yield ['a byte left out', Buffer.concat([before, bytes.subarray(index + 1)]).toString('base64url')]
    if (index > 0) yield ['rotated', Buffer.concat([after, before]).toString('base64url')]
  }
}

/** Texts that never were a cursor. */
function* strangers(count: number): Generator<[why: string, cursor: string]> {
  yield ['empty', '']
  for (const text of [
    'null',
    'undefined',
    '0',
    '{}',
    '[]',
    'true',
    "' or true --",
    '../../etc/passwd',
    '\0',
    'é',
    '\u{1f600}',
    newId(),
  ]) {
    yield ['a well-known text', text]
  }
  for (let index = 0; index < count; index += 1) {
    const length = index % 1_100
    const letters = randomBytes(length)
    yield ['random letters', [...letters].map((byte) => alphabet[byte & 63]).join('')]
    yield ['random bytes', letters.toString('base64url')]
    yield ['random text', letters.toString('utf8')]
    yield ['as long as a cursor', randomBytes(49).toString('base64url')]
    yield ['random UTF-16', letters.toString('utf16le').slice(0, 200)]
  }
}

const position = (direction: Position['direction'] = 'older', inclusive = false): Position => ({
  direction,
  inclusive,
  id: newId(),
})
const everyPosition = () => [position(), position('newer'), position('older', true), position('newer', true)]
const requestFor = (route: Pick<Route, 'id' | 'paged'>): Request => ({
  route,
  query: { limit: 20, kind: 'x' },
  caller: { keyPairId: newId(), accountHeader: 'default' },
})

/** Cursors that are good, for another request. */
function* misplaced(codec: CursorCodec, request: Request): Generator<Forgery> {
  const { route, query, caller } = request
  const others: [string, Request][] = [
    ...lists
      .filter(({ id }) => id !== route.id)
      .map((other): [string, Request] => ['another list', { ...request, route: other }]),
    ['another key pair', { ...request, caller: { ...caller, keyPairId: newId() } }],
    ['no key pair', { ...request, caller: { ...caller, keyPairId: '' } }],
    ...['other', '*', 'DEFAULT', 'default ', undefined].map((accountHeader): [string, Request] => [
      'another account header',
      { ...request, caller: { ...caller, accountHeader } },
    ]),
    ['a filter changed', { ...request, query: { ...query, kind: 'y' } }],
    ['a filter of another type', { ...request, query: { ...query, kind: ['x'] } }],
    ['a filter more', { ...request, query: { ...query, search: 'x' } }],
    ['a filter less', { ...request, query: { limit: 20 } }],
    ['a filter renamed', { ...request, query: { limit: 20, kind2: 'x' } }],
  ]
  for (const [why, other] of others) {
    for (const at of everyPosition()) {
      yield { ...request, why, cursor: seal(codec, other, at) }
      yield { ...other, why, cursor: seal(codec, request, at) }
    }
  }
}

/** Two good cursors of the same request, mixed. */
function* splices(codec: CursorCodec, request: Request): Generator<Forgery> {
  const [left, right] = [position(), position('newer')].map((at) => Buffer.from(seal(codec, request, at), 'base64url'))
  if (!left || !right) return
  for (let cut = 5; cut < left.length; cut += 1) {
    const mixed = Buffer.concat([left.subarray(0, cut), right.subarray(cut)])
    // The bytes on one side of the cut may be the same by chance.
    if (mixed.equals(left) || mixed.equals(right)) continue
    yield { ...request, why: 'two cursors mixed', cursor: mixed.toString('base64url') }
  }
}

function* forgeries(codec: CursorCodec, perList: { cursors: number; strangers: number }): Generator<Forgery> {
  for (const route of lists) {
    const request = requestFor(route)
    for (let index = 0; index < perList.cursors; index += 1) {
      const good = seal(codec, request, everyPosition()[index % 4] ?? position())
      for (const [why, cursor] of mutations(good)) yield { ...request, why, cursor }
      yield* misplaced(codec, request)
      yield* splices(codec, request)
    }
    for (const [why, cursor] of strangers(perList.strangers)) yield { ...request, why, cursor }
    const stranger = createCursorCodec([randomBytes(32)])
    for (const at of everyPosition())
      yield { ...request, why: 'sealed by another key', cursor: seal(stranger, request, at) }
  }
}

describe('a sealed cursor', () => {
  const keys = [randomBytes(32), randomBytes(32), randomBytes(32)] as const

  const [perList, wanted] = isLong
    ? [{ cursors: 4, strangers: 400 }, 100_000]
    : [{ cursors: 1, strangers: 100 }, 25_000]

  test(`is refused after any change and in any other request: more than ${wanted} of them`, () => {
    const codec = createCursorCodec([keys[0], keys[1]])
    const { tried, problems } = acceptedForgeries(codec, forgeries(codec, perList))
    expect(problems).toEqual([])
    expect(tried).toBeGreaterThan(wanted)
  })

  test('opens in its own request, whatever the limit', () => {
    const codec = createCursorCodec([keys[0]])
    for (const route of lists) {
      const request = requestFor(route)
      for (const at of everyPosition()) {
        const cursor = seal(codec, request, at)
        expect(cursor.length).toBeLessThanOrEqual(1000)
        for (const limit of [1, 20, 100]) {
          const page = openPage(route, { kind: 'x', limit, cursor }, request.caller, codec)
          expect([page.position, page.limit]).toEqual([at, limit])
        }
      }
    }
  })

  test('opens with every key of the ring in any order, and with no other', () => {
    const [old, current, next] = keys
    const request = requestFor({ id: 'listThings', paged: true })
    const sealedBy = (...ring: Buffer[]) => seal(createCursorCodec(ring), request, position())
    const opens = (cursor: string, ...ring: Buffer[]) =>
      acceptedForgeries(createCursorCodec(ring), [{ ...request, why: '', cursor }]).problems.length === 1
    // A rotation: the new key is handed to every process first, then it seals, then the old one goes.
    const rings = [[old], [old, current], [current, old], [current]]
    const opened = rings.map((sealing) => rings.map((opening) => opens(sealedBy(...sealing), ...opening)))
    expect(opened).toEqual([
      [true, true, true, false],
      [true, true, true, false],
      [false, true, true, true],
      [false, true, true, true],
    ])
    expect(opens(sealedBy(old), next, current)).toBe(false)
    expect(opens(sealedBy(old), next, current, old)).toBe(true)
  })

  test('never shows the id it stands on, and never looks the same twice', () => {
    const codec = createCursorCodec([keys[0]])
    const request = requestFor({ id: 'listThings', paged: true })
    const at = position()
    const cursors = Array.from({ length: 1_000 }, () => seal(codec, request, at))
    expect(new Set(cursors).size).toBe(1_000)
    const id = at.id.replaceAll('-', '')
    expect(cursors.filter((cursor) => Buffer.from(cursor, 'base64url').toString('hex').includes(id))).toEqual([])
  })
})

describe('the checker', () => {
  const key = randomBytes(32)
  const sound = createCursorCodec([key])

  test('notices a codec that does not bind a cursor to its request', () => {
    const unbound: CursorCodec = { seal: (at) => sound.seal(at, ''), open: (cursor) => sound.open(cursor, '') }
    const { problems } = acceptedForgeries(unbound, forgeries(unbound, { cursors: 1, strangers: 1 }))
    for (const why of ['another list', 'another key pair', 'another account header', 'a filter changed']) {
      expect(problems).toContainEqual(expect.stringContaining(`${why}: accepted`))
    }
  })

  test('notices a codec that takes more than one spelling', () => {
    const lenient: CursorCodec = {
      seal: sound.seal,
      open: (cursor, binding) =>
        sound.open(Buffer.from(cursor, 'base64url').subarray(0, 49).toString('base64url'), binding),
    }
    const { problems } = acceptedForgeries(lenient, forgeries(lenient, { cursors: 1, strangers: 1 }))
    for (const why of ['as base64', 'with padding', 'extended', 'another letter']) {
      expect(problems).toContainEqual(expect.stringContaining(`${why}: accepted`))
    }
  })

  test('notices a codec that decrypts without checking the tag, and one that throws', () => {
    const open = (cursor: string): Position | undefined => {
      const sealed = Buffer.from(cursor, 'base64url')
      if (sealed.length !== 49 || sealed.toString('base64url') !== cursor) return undefined
      const plain = createDecipheriv('aes-256-gcm', key, sealed.subarray(4, 16)).update(sealed.subarray(16, 33))
      return { direction: 'older', inclusive: false, id: plain.subarray(1).toString('hex') }
    }
    const { problems } = acceptedForgeries({ ...sound, open }, forgeries(sound, { cursors: 1, strangers: 1 }))
    expect(problems).toContainEqual(expect.stringContaining('a byte changed: accepted'))
    const throwing = () => {
      throw new RangeError('bad offset')
    }
    const faults = acceptedForgeries({ ...sound, open: throwing }, forgeries(sound, { cursors: 1, strangers: 1 }))
    expect(faults.problems).toHaveLength(faults.tried)
  })
})

const sampling = isLong ? { letters: 7, others: 1, least: 2_000 } : { letters: 97, others: 4, least: 200 }

describe.each(lists.map((route) => [route.path, route] as const))('over HTTP, GET %s', (_path, route) => {
  const refusals = async (
    requests: Iterable<[why: string, cursor: string, query?: string, headers?: Record<string, string>]>,
    token = api.token(),
  ) => {
    const problems: string[] = []
    const queue = [...requests].filter(([, cursor]) => cursor.isWellFormed())
    const tried = queue.length
    const work = async () => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        const [why, cursor, query = '', headers = {}] = next
        const answer = await list(route, { cursor, query, headers, token })
        if (!isCursorRefusal(route, answer))
          problems.push(`${why}: ${answer.status} ${answer.text.slice(0, 200)} for ${cursor}`)
      }
    }
    await Promise.all(Array.from({ length: 16 }, work))
    return { tried, problems }
  }

  test('changed and foreign cursors are refused as such, none is a fault', async () => {
    const good = await firstCursor(route)
    const every = [...mutations(good), ...strangers(60)]
    // A few hundred of them; all go to the codec directly.
    const stepOf = (why: string) => (why === 'another letter' ? sampling.letters : sampling.others)
    const sample = every.filter(([why], index) => index % stepOf(why) === 0)
    const { tried, problems } = await refusals(sample)
    expect(problems).toEqual([])
    expect(tried).toBeGreaterThan(sampling.least)
  })

  test("cursors of other lists, key pairs, account headers and filters are refused, and the list's own is not", async () => {
    const good = await firstCursor(route)
    const foreign = await Promise.all(lists.filter(({ id }) => id !== route.id).map((other) => firstCursor(other)))
    const filters = Object.entries(route.query?.properties ?? {}).flatMap(([name, schema]) =>
      name === 'cursor' || name === 'limit' ? [] : [`&${name}=${encodeURIComponent(fitting(schema as Schema))}`],
    )
    const header = (value: string) => ({ 'X-Service-Merchant-Account-ID': value })
    const elsewhere = route.path.includes('{') ? [await firstCursor(route, otherOwners)] : []
    const { problems } = await refusals([
      ...elsewhere.map((cursor): [string, string] => ['the same list of another resource', cursor]),
      ...foreign.map((cursor): [string, string] => ['another list', cursor]),
      ...filters.map((query): [string, string, string] => ['another filter', good, query]),
      ['another account header', good, '', header('other')],
      ['another account header', good, '', header('default')],
    ])
    expect(problems).toEqual([])
    expect((await refusals([['another key pair', good]], otherToken)).problems).toEqual([])
    for (const query of ['', '&limit=2', '&limit=100', '&not_a_parameter=1']) {
      expect((await list(route, { cursor: good, query })).status).toBe(200)
    }
  })

  test('a cursor goes on working while its key is handed on, in both orders of the keys', async () => {
    const cursor = await firstCursor(route)
    for (const { url } of rotated) {
      const answer = await list(route, { cursor, url })
      expect(answer.status).toBe(200)
      // What the process with the new key hands out, the one with both keys in the other order takes too.
      const back = answer.body.previous_cursor ?? ''
      for (const other of rotated) expect((await list(route, { cursor: back, url: other.url })).status).toBe(200)
    }
    const answer = await list(route, { cursor, url: stranger.url })
    expect(isCursorRefusal(route, answer)).toBe(true)
  })
})

const [oldKey, newKey, strangeKey] = [randomBytes(32), randomBytes(32), randomBytes(32)].map((key) =>
  key.toString('base64'),
)
const api = useApi({ cursorKeys: new Secret(oldKey ?? '') })
let otherToken: string
/** What has lists of its own, by the name of its path parameter. */
type Owners = Readonly<Record<string, string>>
let owners: Owners
let otherOwners: Owners
let rotated: Api[]
let stranger: Api

beforeAll(async () => {
  const card = { method: 'card', number: '4111111111111111', expiration_date: '12/30' }
  const service = {
    display_name: 'Cards',
    payment_service_definition_id: 'mock-card',
    fields: [{ key: 'merchant_id', value: 'shop' }],
    accepted_currencies: ['EUR'],
    accepted_countries: ['DE'],
  }
  const guard = { anti_fraud_service_definition_id: 'mock-anti-fraud', display_name: 'Fraud checks', active: false }
  const scenario = { conditions: {}, outcome: { version: '2.2.0', authentication: { transaction_status: 'Y' } } }
  await makeGiftCardService(api)
  for (let index = 0; index < 3; index += 1) {
    await makeGiftCardService(api, { active: false })
    await api.request('POST', '/gift-cards', { body: giftCard(5000) })
    await api.makeKeyPair({ merchantAccountIds: ['default'] })
    await api.request('POST', '/buyers', { body: {} })
    await api.request('POST', '/payment-methods', { body: card })
    await api.request('POST', '/payment-services', { body: service })
    await api.request('POST', '/anti-fraud-services', { body: guard })
    await api.request('POST', '/simulator-rules', { body: { conditions: {}, outcome: {} } })
    await api.request('POST', '/three-ds-scenarios', { body: scenario })
  }
  const pay = async () => {
    const body = { amount: 100, currency: 'EUR', country: 'DE', payment_method: card }
    return (await api.request<{ id: string }>('POST', '/transactions', { body })).body.id
  }
  const subscribe = async () => {
    const subscriptionId = await insertSubscription(api.database)
    const body = { created_at_gte: new Date().toISOString() }
    for (let index = 0; index < 3; index += 1) {
      await api.request('POST', `/webhook-subscriptions/${subscriptionId}/replay`, { body })
      await api.request('POST', `/webhook-subscriptions/${subscriptionId}/test`)
    }
    return subscriptionId
  }
  owners = { transaction_id: await pay(), subscription_id: await subscribe() }
  otherOwners = { transaction_id: await pay(), subscription_id: await subscribe() }
  otherToken = await api.makeToken(await api.makeKeyPair())
  const start = (keys: string) =>
    startApi(apiConfig(api.database.url('florin_api'), { cursorKeys: new Secret(keys) }), () => undefined)
  rotated = [await start(`${newKey},${oldKey}`), await start(`${oldKey},${newKey}`)]
  stranger = await start(`${newKey},${strangeKey}`)
})
afterAll(async () => {
  for (const process of [...rotated, stranger]) await process.close()
})

function list(
  route: Route,
  {
    cursor,
    query = '',
    headers = {},
    token = api.token(),
    url = api.url(),
    of = owners,
  }: {
    cursor?: string
    query?: string
    headers?: Record<string, string>
    token?: string
    url?: string
    of?: Owners
  },
): Promise<Answer<Collection<unknown>>> {
  const start = cursor === undefined ? '?limit=1' : `?cursor=${encodeURIComponent(cursor)}`
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => of[name] ?? '')
  return send(url, 'GET', path + start + query, { token, headers })
}

async function firstCursor(route: Route, of = owners): Promise<string> {
  const { body } = await list(route, { of })
  if (route.id === 'listPaymentServiceDefinitions') return endOf(route)
  if (!body.next_cursor) throw new Error(`${route.path} needs two items for this test`)
  return body.next_cursor
}

/** Of a list that comes with the service and is too short for a second page: beyond its last item, sealed as the api does. */
function endOf(route: Route): string {
  const caller = { keyPairId: api.owner().id, accountHeader: undefined }
  const end = { ...position(), id: '00000000-0000-0000-0000-000000000000' }
  return seal(createCursorCodec([Buffer.from(oldKey ?? '', 'base64')]), { route, query: {}, caller }, end)
}

function isCursorRefusal({ validation }: Route, { status, body }: Answer<unknown>): boolean {
  const { details, detail } = body as {
    details?: { location: string; pointer: string }[]
    detail?: { loc: string[] }[]
  }
  const places = [
    ...(details ?? []).map(({ location, pointer }) => `${location} ${pointer}`),
    ...(detail ?? []).map(({ loc }) => loc.join(' ')),
  ]
  return (
    status === (validation === 'detail' ? 422 : 400) &&
    places.length > 0 &&
    places.every((place) => place === 'query cursor')
  )
}

interface Schema {
  type?: string | string[]
  format?: string
  enum?: string[]
  items?: Schema
  minimum?: number
  example?: string
}

/** A text that fits the schema of a query parameter. */
function fitting({ type, format, enum: values, items, minimum = 1, example }: Schema): string {
  if (items) return fitting(items)
  if (values?.[0] !== undefined) return values[0]
  if (format === 'uuid') return newId()
  if (example !== undefined) return example
  const types = [type].flat()
  if (types.includes('integer')) return String(minimum)
  return types.includes('boolean') ? 'true' : 'xxxx'
}
