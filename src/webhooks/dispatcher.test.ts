import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { emit } from '../events/outbox.ts'
import type { EventTarget } from '../events/catalog.ts'
import { newId, timeOfId } from '../ids.ts'
import { createLog } from '../platform/log.ts'
import { connect, type Database, transact } from '../platform/postgres.ts'
import { type Dispatcher, type Sent, startDispatcher } from './dispatcher.ts'
import { mostAtOnce } from './endpoint.ts'
import type { EndpointRow, EventRow } from './store.ts'

/* Events on their way from the queue to endpoints. The endpoints are the outside world, and played here. */

const database = useDatabase()
let db: Database
let api: Database
let dispatchers: Dispatcher[] = []
let received: { url: string; event: string }[] = []
const fine = { statusCode: 204, error: null }
let answers: (endpoint: EndpointRow, event: EventRow) => Sent | Promise<Sent> = () => fine

beforeAll(() => {
  const open = (role: 'florin_worker' | 'florin_api') =>
    connect({ url: database.url(role), applicationName: 'test', poolSize: 5, onError: () => undefined })
  db = open('florin_worker')
  api = open('florin_api')
})
afterAll(() => Promise.all([db.close(), api.close()]))

function start(): Dispatcher {
  const dispatcher = startDispatcher({
    db,
    send: async (endpoint, event) => {
      received.push({ url: endpoint.url, event: event.id })
      return await answers(endpoint, event)
    },
    now: () => new Date(),
    log: createLog({ level: 'silent', process: 'test' }),
  })
  dispatchers.push(dispatcher)
  return dispatcher
}
afterEach(async () => {
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()))
  dispatchers = []
  received = []
  answers = () => fine
  await database.query(
    'delete from webhook_attempts; delete from webhook_deliveries; delete from webhook_subscriptions',
  )
})

async function subscribe(
  change: { account?: string; names?: string[]; active?: boolean; url?: string } = {},
): Promise<string> {
  const id = newId()
  await database.query(
    `insert into webhook_subscriptions (merchant_account_id, id, url, active, event_names, creator_name, created_at, updated_at)
      values ($1, $2, $3, $4, $5, 'test', $6, $6)`,
    [
      change.account ?? 'default',
      id,
      change.url ?? `https://${id}.example.com/`,
      change.active ?? true,
      change.names ?? null,
      timeOfId(id),
    ],
  )
  return id
}

const happen = (account: string | null = 'default') =>
  transact({ db: api, accounts: 'all' as const }, async (ctx) => {
    const target = { type: 'buyer', id: newId() } as EventTarget<'buyer.created'>
    await emit(ctx, 'buyer.created', { target, merchantAccountId: account, sequence: 1 })
  })

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 30_000
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it did not happen')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const statuses = async () => {
  const rows = await database.query<{
    status: string
    attempts: number
    status_code: number | null
    error: string | null
  }>('select status, attempts, status_code, error from webhook_deliveries order by id')
  return rows.map(({ status, attempts, status_code, error }) => [status, attempts, status_code ?? error])
}
const isQueueEmpty = async () => (await database.query('select from event_queue')).length === 0
const isOver = async () => (await isQueueEmpty()) && (await statuses()).every(([status]) => status !== 'pending')
const dueNow = () => database.query("update webhook_deliveries set next_attempt_at = now() where status = 'pending'")

describe('an event', () => {
  test('is told to every subscription that wants it, of its account and of the instance, and to no other', async () => {
    const told = [await subscribe(), await subscribe({ account: '*' }), await subscribe({ names: ['buyer.created'] })]
    await subscribe({ account: 'another' })
    await subscribe({ names: ['buyer.deleted'] })
    await subscribe({ active: false })
    start()
    await happen()
    await until(async () => (await statuses()).length === 3 && (await isOver()))
    expect(received.map(({ url }) => url).sort()).toEqual(told.map((id) => `https://${id}.example.com/`).sort())
    expect(await statuses()).toEqual([1, 2, 3].map(() => ['succeeded', 1, 204]))
    const attempts = await database.query('select number, status_code from webhook_attempts')
    expect(attempts).toEqual([1, 2, 3].map(() => ({ number: 1, status_code: 204 })))
  })

  test('of the whole instance is told to its subscriptions alone', async () => {
    await subscribe()
    await subscribe({ account: '*' })
    start()
    await happen(null)
    await until(async () => (await statuses()).length === 1 && (await isOver()))
    expect(received.length).toBe(1)
  })

  test('leaves the queue when nobody wants it', async () => {
    start()
    await happen()
    await until(isQueueEmpty)
    expect(await statuses()).toEqual([])
  })

  test('is told once by three dispatchers at once', async () => {
    await subscribe()
    for (let index = 0; index < 300; index += 1) await happen()
    for (let index = 0; index < 3; index += 1) start()
    await until(async () => (await statuses()).length === 300 && (await isOver()))
    expect(new Set(received.map(({ event }) => event)).size).toBe(300)
    expect(received.length).toBe(300)
  })
})

describe('an attempt that fails', () => {
  test('is made again when its time has come', async () => {
    await subscribe()
    answers = () => (received.length === 1 ? { statusCode: 500, error: null } : fine)
    start()
    await happen()
    await until(async () => (await statuses())[0]?.[1] === 1)
    expect(await statuses()).toEqual([['pending', 1, 500]])
    await dueNow()
    await until(isOver)
    expect(await statuses()).toEqual([['succeeded', 2, 204]])
  })

  test('is the last one where the event is too old', async () => {
    await subscribe()
    answers = () => ({ statusCode: null, error: 'timeout' })
    start()
    await happen()
    await until(async () => (await statuses())[0]?.[1] === 1)
    await database.query("update webhook_deliveries set expires_at = now() + interval '1 second'")
    await dueNow()
    await until(isOver)
    expect(await statuses()).toEqual([['failed', 2, 'timeout']])
  })

  test('with 410 makes the subscription inactive', async () => {
    const id = await subscribe()
    answers = () => ({ statusCode: 410, error: null })
    start()
    await happen()
    await until(
      async () =>
        (await database.query('select from webhook_subscriptions where id = $1 and not active', [id])).length === 1,
    )
  })
})

test('an endpoint that fails is left alone, and does not keep others waiting', async () => {
  const [dead, alive] = [await subscribe({ url: 'https://dead.example.com/' }), await subscribe()]
  answers = ({ id }) => (id === dead ? { statusCode: null, error: 'timeout' } : fine)
  start()
  for (let index = 0; index < 200; index += 1) await happen()
  await until(async () => received.filter(({ url }) => url.includes(alive)).length === 200)
  const tries = received.filter(({ url }) => url.includes('dead')).length
  expect(tries).toBeLessThanOrEqual(48)
})

test('an endpoint that does not answer takes no place of another: all of the others are told before it says a word', async () => {
  const [silent, alive] = [await subscribe({ url: 'https://silent.example.com/' }), await subscribe()]
  const { promise: end, resolve: speak } = Promise.withResolvers<Sent>()
  answers = ({ id }) => (id === silent ? end : fine)
  start()
  for (let index = 0; index < 200; index += 1) await happen()
  try {
    await until(() => received.filter(({ url }) => url.includes(alive)).length === 200)
    expect(received.filter(({ url }) => url.includes('silent')).length).toBe(mostAtOnce)
  } finally {
    speak(fine)
  }
})

test('a subscription that is made inactive is sent nothing more, and what it was to be sent stays', async () => {
  const id = await subscribe()
  answers = async () => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    return fine
  }
  start()
  for (let index = 0; index < 200; index += 1) await happen()
  await until(async () => received.length > 10 && (await isQueueEmpty()))
  await database.query('update webhook_subscriptions set active = false where id = $1', [id])
  const stoppedBy = Date.now() + 2_000
  await until(() => Date.now() > stoppedBy)
  const count = received.length
  await until(() => Date.now() > stoppedBy + 500)
  expect(received.length).toBe(count)
  expect(count).toBeLessThan(200)
  expect((await statuses()).filter(([status]) => status === 'pending').length).toBeGreaterThan(0)
})

test('what a dispatcher had taken when it died is sent by another, after the lease', async () => {
  await subscribe()
  await happen()
  const { relay } = await import('./relay.ts')
  const { taken } = await relay(db, { limit: 10, now: new Date(), leaseMs: 60_000, wants: () => true })
  expect(taken.length).toBe(1)
  start()
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(received).toEqual([])
  await dueNow()
  await until(isOver)
  expect(received.length).toBe(1)
})
