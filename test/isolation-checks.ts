import { randomBytes, randomUUID } from 'node:crypto'
import { isOpen } from '../src/http/browsers.ts'
import type { Route, Sample } from '../src/http/route.ts'
import { routes } from '../src/http/routes.ts'
import { newId } from '../src/ids.ts'
import { type Answer, type KeyPair, type RequestOptions, send, type TestApi } from './api.ts'
import { signNotification } from '../src/connectors/sandbox/mock-card/notification.ts'
import { cardOf, testCards } from './every-state.ts'
import { giftCard, makeGiftCardService } from './gift-cards.ts'
import { afterDays } from './statements.ts'
import { fillWebhooks } from './webhooks.ts'

/*
 * What a caller of one merchant account can get out of the API, compared with what is in the tables. Everything is read from
 * the list of routes and from the tables that have a policy, so a new area is covered by being there.
 */

export const accountHeader = 'X-Service-Merchant-Account-ID'

export interface Party {
  account: string
  pair: KeyPair
  token: string
}

export interface World {
  api: TestApi
  parties: [Party, Party, Party]
  /** Path of a collection → account → id of a resource in it. */
  made: Map<string, Map<string, string>>
}

type Row = Record<string, unknown>
/** All rows of the tables that have a policy, with the accounts each belongs to; none: the whole instance. */
export type Tables = Map<string, { row: Row; accounts: readonly string[] }[]>

/** Three accounts that each have a key pair of their own and one of everything that can be made. */
export async function buildWorld(api: TestApi): Promise<World> {
  const party = async (name: string): Promise<Party> => {
    const account = `isolated-${name}-${randomBytes(6).toString('hex')}`
    await api.makeAccount(account)
    const pair = await api.makeKeyPair({ merchantAccountIds: [account] })
    return { account, pair, token: await api.makeToken(pair) }
  }
  const parties: World['parties'] = [await party('a'), await party('b'), await party('c')]
  // A key pair of two accounts belongs to neither: whoever reaches only one of them must not see it.
  for (const [index, { account }] of parties.entries()) {
    await api.makeKeyPair({ merchantAccountIds: [account, parties[(index + 1) % 3]?.account ?? ''] })
  }
  const made = new Map<string, Map<string, string>>()
  for (const { account, pair } of parties) {
    // The account itself is the resource that stands for it among merchant accounts.
    remember(made, '/merchant-accounts', account, account)
    remember(made, '/api-key-pairs', account, pair.id)
    // That of the example is not active, and stored cards need one that is.
    remember(made, '/gift-card-services', account, await makeGiftCardService(api, {}, { [accountHeader]: account }))
    const requestor = randomBytes(6).toString('hex')
    await succeed(api, 'PUT', `/merchant-accounts/${account}`, {
      body: {
        visa_network_tokens_requestor_id: `requestor-${requestor}`,
        visa_network_tokens_app_id: `application-${requestor}`,
      },
    })
    // What is under other resources, or names them, comes after them.
    const makers = routes.filter(({ method, example }) => method === 'POST' && example)
    const rank = ({ path, needs }: Route) => 10 * path.split('{').length + (needs?.length ?? 0)
    for (const route of makers.toSorted((left, right) => rank(left) - rank(right))) {
      if (made.get(route.path)?.has(account)) continue
      const { body } = await succeed(api, 'POST', fillOwn(made, route.path, account), {
        body: route.example?.(sampleOf(made, account)),
        headers: {
          ...(route.merchantAccount !== 'none' && { [accountHeader]: account }),
          ...(route.idempotent && { 'Idempotency-Key': sharedKey }),
        },
      })
      if (typeof body['id'] === 'string') remember(made, route.path, account, body['id'])
    }
    await afterDays(api, made.get('/transactions')?.get(account) ?? '', 2, { [accountHeader]: account })
    await payForReview(api, made, account)
    await payWithGiftCard(api, account)
    await sendBuyersAway(api, account)
    await fillWebhooks(api.database, account)
    await rememberListed(api, made, account)
  }
  return { api, parties, made }
}

/** A payment that somebody is to look at. */
async function payForReview(api: TestApi, made: World['made'], account: string): Promise<void> {
  const headers = { [accountHeader]: account }
  const guard = made.get('/anti-fraud-services')?.get(account)
  await succeed(api, 'PUT', `/anti-fraud-services/${guard}`, { headers, body: { active: true } })
  const example = routes.find(({ id }) => id === 'createTransaction')?.example?.(sampleOf(made, account)) as object
  const buyer = { billing_details: { email_address: 'review@example.com' } }
  await succeed(api, 'POST', '/transactions', { headers, body: { ...example, buyer } })
}

/** A stored one, so that the payment names it. */
async function payWithGiftCard(api: TestApi, account: string): Promise<void> {
  const headers = { [accountHeader]: account }
  const { body: stored } = await succeed(api, 'POST', '/gift-cards', { headers, body: giftCard(500) })
  const gift_cards = [{ id: stored['id'], amount: 500 }]
  await succeed(api, 'POST', '/transactions', {
    headers,
    body: { amount: 500, currency: 'EUR', country: 'DE', gift_cards },
  })
}

/** What no example does: buyers who are asked, and a message of the provider. */
async function sendBuyersAway(api: TestApi, account: string): Promise<void> {
  const headers = { [accountHeader]: account }
  const back = { redirect_url: 'https://shop.example.com/' }
  const serve = (change: object) =>
    succeed(api, 'POST', '/payment-services', {
      headers,
      body: {
        display_name: 'Asks',
        fields: [
          { key: 'merchant_id', value: 'x' },
          { key: 'webhook_secret', value: secret },
        ],
        accepted_currencies: ['EUR'],
        accepted_countries: ['DE'],
        ...change,
      },
    })
  const { body: cards } = await serve({ payment_service_definition_id: 'mock-card', three_d_secure_enabled: true })
  await serve({ payment_service_definition_id: 'mock-redirect' })
  const pay = (change: object) =>
    succeed(api, 'POST', '/transactions', {
      headers,
      body: { amount: 1299, currency: 'EUR', country: 'DE', payment_service_id: cards['id'], ...change },
    })
  await pay({ payment_method: { ...cardOf(testCards.approved), ...back } })
  const method = { method: 'custom_redirect', country: 'DE', currency: 'EUR', ...back }
  await succeed(api, 'POST', '/payment-methods', { headers, body: method })
  const { body: pending } = await pay({ payment_method: cardOf(testCards.pending) })
  const [attempt] = await api.database.query<{ id: string }>('select id from attempts where transaction_id = $1', [
    pending['id'],
  ])
  const message = Buffer.from(JSON.stringify({ id: 'a-message', reference: attempt?.id }))
  await succeed(api, 'POST', `/payment-services/${String(cards['id'])}/notifications`, {
    rawBody: message.toString(),
    headers: signNotification({ secret, body: message, now: new Date() }),
  })
}

const secret = 'a secret of every service'

/** The same for every account: a key that were not the account's own would answer with what another one did. */
const sharedKey = 'everybody-uses-this-key'

/** What no POST of its own makes: it is listed under what it came with, or has a second path. */
async function rememberListed(api: TestApi, made: World['made'], account: string): Promise<void> {
  for (const { path } of routes) {
    const before = path.slice(0, Math.max(0, path.lastIndexOf('/{')))
    if (before === '' || !path.endsWith('}') || made.get(before)?.has(account)) continue
    const end = before.slice(before.lastIndexOf('/'))
    const twin = [...made.keys()].find((known) => known.endsWith(end) && made.get(known)?.has(account))
    const id = twin ? made.get(twin)?.get(account) : await firstListed(api, made, before, account)
    if (id !== undefined) remember(made, before, account, id)
  }
}

async function firstListed(api: TestApi, made: World['made'], path: string, account: string) {
  if (!routes.some((route) => route.method === 'GET' && route.path === path)) return undefined
  const { body } = await api.request<{ items?: { id?: string }[] }>('GET', fillOwn(made, path, account), {
    headers: { [accountHeader]: account },
  })
  return body.items?.[0]?.id
}

/** What an example of this account may name. */
function sampleOf(made: World['made'], account: string): Sample {
  const ids: Record<string, string> = {}
  for (const { path } of routes) {
    const [, before = '', name = ''] = /^(.*)\/\{(\w+)\}$/.exec(path) ?? []
    ids[name] = made.get(before)?.get(account) ?? randomUUID()
  }
  return { merchantAccountId: account, unique: randomBytes(6).toString('hex'), ids }
}

function remember(made: World['made'], path: string, account: string, id: string): void {
  made.set(path, new Map([...(made.get(path) ?? []), [account, id]]))
}

async function succeed(api: TestApi, method: string, path: string, options: RequestOptions): Promise<Answer> {
  const answer = await api.request(method, path, options)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

/** A path with the parameters of one account's own resources; an unknown id where there is none. */
function fillOwn(made: World['made'], path: string, account: string): string {
  return path.replaceAll(
    /\{\w+\}/g,
    (_match, offset: number) => made.get(path.slice(0, offset - 1))?.get(account) ?? newId(),
  )
}

/** Tables whose rows say in a way of their own whose they are. */
const ownWay: Record<string, (row: Row, tables: ReadonlyMap<string, Row[]>) => readonly string[]> = {
  merchant_accounts: ({ id }) => [String(id)],
  api_key_pair_roles: ({ api_key_pair_id }, tables) =>
    (tables.get('api_key_pairs')?.find(({ id }) => id === api_key_pair_id)?.['merchant_account_ids'] ?? []) as string[],
}

function accountsOf(table: string, row: Row, tables: ReadonlyMap<string, Row[]>): readonly string[] {
  const own = ownWay[table]
  if (own) return own(row, tables)
  if (Array.isArray(row['merchant_account_ids'])) return row['merchant_account_ids'] as string[]
  if (!('merchant_account_id' in row)) {
    throw new Error(
      `${table} has a policy but no merchant_account_id: say in test/isolation-checks.ts whose its rows are`,
    )
  }
  const account = row['merchant_account_id']
  return typeof account === 'string' ? [account] : []
}

/** Tables with a policy, whether or not it is in force at the moment. */
export async function walledTables(api: TestApi): Promise<string[]> {
  const rows = await api.database.query<{ tablename: string }>(
    "select distinct tablename::text from pg_policies where schemaname = 'public' order by 1",
  )
  return rows.map(({ tablename }) => tablename)
}

export async function readTables(api: TestApi): Promise<Tables> {
  const raw = new Map<string, Row[]>()
  for (const table of await walledTables(api)) {
    const rows = await api.database.query<{ row: Row }>(`select to_jsonb(t) as row from ${table} t`)
    raw.set(
      table,
      rows.map(({ row }) => row),
    )
  }
  return new Map(
    [...raw].map(([table, rows]) => [table, rows.map((row) => ({ row, accounts: accountsOf(table, row, raw) }))]),
  )
}

/** Row level security belongs to accounts; with it off, only the stores' predicates are left. */
export async function disableRowLevelSecurity(api: TestApi): Promise<void> {
  for (const table of await walledTables(api)) {
    await api.database.query(`alter table ${table} disable row level security`)
    await api.database.query(`alter table ${table} no force row level security`)
  }
}

export const belongsTo = (account: string, accounts: readonly string[]) =>
  accounts.length > 0 && accounts.every((id) => id === account)

const telling = /(^id|_id|_ids|thumbprint)$/

function valuesOf(row: Row): string[] {
  return Object.entries(row)
    .filter(([name]) => telling.test(name) && name !== 'role_id' && name !== 'request_id')
    .flatMap(([, value]) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter((value): value is string => typeof value === 'string' && value.length >= 7)
}

/** Ids and the like that an account's caller has, and those it must never see. */
function markersOf(account: string, readings: readonly Tables[]): { own: Set<string>; foreign: Set<string> } {
  const own = new Set([account])
  const foreign = new Set<string>()
  for (const { row, accounts } of readings.flatMap((tables) => [...tables.values()].flat())) {
    for (const value of valuesOf(row)) (belongsTo(account, accounts) ? own : foreign).add(value)
  }
  for (const value of own) foreign.delete(value)
  return { own, foreign }
}

/** Rows that are not the account's, as text; the moment of a key's last use is written by the service itself. */
export function othersOf(account: string, tables: Tables): Set<string> {
  const others = [...tables].flatMap(([table, rows]) =>
    rows
      .filter(({ accounts }) => !belongsTo(account, accounts))
      .map(({ row: { last_used_at: _ignored, ...row } }) => `${table} ${JSON.stringify(row)}`),
  )
  return new Set(others)
}

interface Shape {
  properties?: Record<string, { items?: unknown; format?: string }>
  /** The first is that of the example. */
  oneOf?: Shape[]
}

interface Question extends RequestOptions {
  method: string
  path: string
}

export interface Findings {
  asked: number
  /** How many answers held something of the caller's own: a caller who sees nothing at all proves nothing. */
  ownSeen: number
  problems: string[]
}

/** Everything worth asking on behalf of one party: every route × ids × header values × filters × bodies that name others. */
function* questions({ parties, made }: World, party: Party, tables: Tables): Generator<Question> {
  const { account, token } = party
  const others = parties.filter((other) => other !== party).map((other) => other.account)
  const [first = '', second = ''] = others
  const { foreign } = markersOf(account, [tables])
  const sample = [...foreign].filter((_value, index) => index % Math.ceil(foreign.size / 20) === 0)
  const headerValues = [
    undefined,
    '',
    account,
    '*',
    first,
    second,
    'default',
    `${account},${first}`,
    `${first},${account}`,
    `${account}, ${first}`,
    first.toUpperCase(),
    'no-such-account',
    `${account}' or true --`,
  ]
  const paths = (route: Route): string[] => {
    if (!route.path.includes('{')) return [route.path]
    // Where the id is the credential, whoever knows another account's may use it; here nobody does.
    if (isOpen(route)) return [fillOwn(made, route.path, account), fillOwn(new Map(), route.path, account)]
    const owners = route.method === 'DELETE' ? others : [account, ...others]
    const filled = owners.map((owner) => fillOwn(made, route.path, owner))
    return [...filled, ...sample.slice(0, 3).map((id) => route.path.replaceAll(/\{\w+\}/g, id))]
  }
  const bodies = (route: Route): unknown[] => {
    if (!route.body) return [undefined]
    const example = (owner: string) => route.example?.(sampleOf(made, owner)) as Row
    // Free text is the caller's own to fill, with the name of somebody else's resource too; references are not.
    const { properties, oneOf } = route.body as Shape
    const references = Object.entries(properties ?? oneOf?.[0]?.properties ?? {}).filter(
      ([name, { items, format }]) => /_ids?$/.test(name) && (items !== undefined || format === 'uuid'),
    )
    const named = references.flatMap(([name, { items }]) =>
      [...others, ...sample.slice(0, 3)].map((value) => ({
        ...example(account),
        [name]: items ? [account, value] : value,
      })),
    )
    return [example(account), ...others.map(example), ...named]
  }

  for (const route of routes) {
    const filters = Object.keys(route.query?.properties ?? {}).filter((name) => name !== 'cursor' && name !== 'limit')
    for (const path of paths(route)) {
      for (const value of headerValues) {
        const headers: Record<string, string> = value === undefined ? {} : { [accountHeader]: value }
        if (route.method === 'GET') {
          const start = `${path}?limit=100`
          yield { method: 'GET', path: route.paged ? start : path, token, headers }
          // The other values of the header are refused, or mean the same, whatever else is asked.
          for (const filter of [undefined, account, '*', first].includes(value) ? filters : []) {
            for (const id of sample.slice(0, 3))
              yield { method: 'GET', path: `${start}&${filter}=${encodeURIComponent(id)}`, token, headers }
          }
        } else if (value === undefined || value === first || value === '*') {
          for (const body of bodies(route)) {
            yield { method: route.method, path, token, headers, body }
            if (!route.idempotent) continue
            yield { method: route.method, path, token, headers: { ...headers, 'Idempotency-Key': sharedKey }, body }
          }
        }
      }
    }
  }
}

/** What an answer shows, without the one name of the contract that has the name of an account in it. */
const shown = (text: string) => text.replaceAll('"network_tokens_default"', '')

/** Thousands of requests one after the other: minutes on a busy machine. */
export const leakTimeoutMs = 600_000

/**
 * Asks everything for every party, or only of some paths, and reports each foreign id in an answer, and each foreign row that changed. The
 * parties have the same of everything: when they share, each question is asked by one of them, by chance this or that one.
 */
export async function findLeaks(
  world: World,
  { about = /^/, isShared = false }: { about?: RegExp; isShared?: boolean } = {},
): Promise<Findings> {
  const problems: string[] = []
  let asked = 0
  let ownSeen = 0
  const first = Math.floor(Math.random() * world.parties.length)
  for (const [turn, party] of world.parties.entries()) {
    const before = await readTables(world.api)
    const heard: { question: Question; text: string }[] = []
    for (const [index, question] of [...questions(world, party, before)].entries()) {
      if (!about.test(question.path) || (isShared && (index + first) % world.parties.length !== turn)) continue
      for (let path: string | undefined = question.path, pages = 0; path !== undefined && pages < 20; pages += 1) {
        const answer: Answer = await send(world.api.url(), question.method, path, question)
        asked += 1
        heard.push({ question, text: shown(answer.text) })
        if (answer.status >= 500) problems.push(`${describe(party, question)}: ${answer.status}`)
        const next: unknown = answer.body['next_cursor']
        path = typeof next === 'string' ? `${question.path}&cursor=${next}` : undefined
      }
    }
    const after = await readTables(world.api)
    const { own, foreign } = markersOf(party.account, [before, after])
    // Most answers are the same refusals.
    const distinct = new Set(heard.map(({ text }) => text))
    const leaks = new Map([...distinct].map((text) => [text, [...foreign].filter((value) => text.includes(value))]))
    const withOwn = new Set([...distinct].filter((text) => [...own].some((value) => text.includes(value))))
    for (const { question, text } of heard) {
      const leaked = leaks.get(text) ?? []
      if (leaked.length > 0) problems.push(`${describe(party, question)}: shows ${leaked.slice(0, 3).join(', ')}`)
      if (withOwn.has(text)) ownSeen += 1
    }
    const [left, right] = [othersOf(party.account, before), othersOf(party.account, after)]
    for (const row of left)
      if (!right.has(row)) problems.push(`${party.account} changed or removed ${row.slice(0, 200)}`)
    for (const row of right) if (!left.has(row)) problems.push(`${party.account} made or changed ${row.slice(0, 200)}`)
  }
  return { asked, ownSeen, problems }
}

const describe = ({ account }: Party, { method, path, headers, body }: Question) =>
  `${account} ${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body) ?? ''}`

/** Reads of all parties at once and in random order, each judged by what its caller may see. */
export async function findMixUps(
  world: World,
  { requests, atOnce }: { requests: number; atOnce: number },
): Promise<Findings> {
  const tables = await readTables(world.api)
  const callers = world.parties.map((party) => ({
    party,
    ...markersOf(party.account, [tables]),
    reads: [...questions(world, party, tables)].filter(({ method }) => method === 'GET'),
  }))
  const problems: string[] = []
  let asked = 0
  let ownSeen = 0
  const work = async () => {
    while (asked < requests) {
      asked += 1
      const caller = callers[Math.floor(Math.random() * callers.length)]
      const question = caller?.reads[Math.floor(Math.random() * caller.reads.length)]
      if (!caller || !question) continue
      const { status, text } = await send(world.api.url(), 'GET', question.path, question)
      const leaked = [...caller.foreign].find((value) => shown(text).includes(value))
      if (status >= 500 || leaked !== undefined)
        problems.push(`${describe(caller.party, question)}: ${status}, ${leaked ?? ''}`)
      if ([...caller.own].some((value) => text.includes(value))) ownSeen += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { asked, ownSeen, problems }
}
