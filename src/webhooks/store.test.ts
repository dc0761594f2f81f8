import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { insertSubscription } from '../../test/webhooks.ts'
import { newId, timeOfId } from '../ids.ts'
import { connect, type Database, type Db, transact } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { claimDue, takeEvents, writeResults } from './store.ts'

/* What a dead endpoint leaves behind is in nobody's way: rows are counted here, not milliseconds. */

const parked = 30_000
const database = useDatabase()
let db: Database
let subscriptionIds: string[] = []
beforeAll(async () => {
  db = connect({ url: database.url('florin_worker'), applicationName: 'test', poolSize: 1, onError: () => undefined })
  subscriptionIds = [await insertSubscription(database), await insertSubscription(database)]
  const ids = Array.from({ length: parked }, () => newId())
  await database.query(
    `with made as (select * from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)),
      event as (
        insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
        select id, 'default', 'buyer.created', 'buyer', id::text, 1, '{}', moment from made
      )
    insert into webhook_deliveries (merchant_account_id, id, subscription_id, event_id, origin, status, next_attempt_at, expires_at,
      created_at, updated_at)
    select 'default', id, $3, id, 'event', 'pending', moment, moment + interval '7 days', moment, moment from made`,
    [ids, ids.map(timeOfId), subscriptionIds[0]],
  )
  await database.query('analyze events, webhook_deliveries')
})
afterAll(() => db.close())

const inTransaction = <Result>(work: (db: Db) => Promise<Result>) =>
  transact({ db, accounts: 'all' as const }, ({ db }) => work(db))

/** What it answers, and how many rows of events and deliveries it has looked at. */
const counting = <Result>(work: (db: Db) => Promise<Result>) =>
  inTransaction(async (db) => {
    const count = async () => {
      const [found] = await db.run<{ rows: number }>(sql`
        select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as rows from pg_stat_xact_all_tables
        where relname ~ '^(events|webhook_deliveries)_'`)
      return found?.rows ?? 0
    }
    const before = await count()
    const result = await work(db)
    return { result, read: (await count()) - before }
  })

const claim = (db: Db, room: number) => {
  const now = new Date()
  return claimDue(
    db,
    subscriptionIds.map((subscriptionId) => ({ subscriptionId, room })),
    { now, leaseUntil: new Date(now.getTime() + 45_000) },
  )
}

test('a claim looks at the rows that it takes and no others, oldest first, however many are parked', async () => {
  const { result: claimed, read } = await counting((db) => claim(db, 10))
  expect(claimed.length).toBe(10)
  expect(claimed.map(({ id }) => id)).toEqual(claimed.map(({ id }) => id).toSorted())
  expect(read).toBeGreaterThanOrEqual(10)
  expect(read).toBeLessThanOrEqual(100)
  const next = await inTransaction((db) => claim(db, 10))
  expect((next[0]?.id ?? '') > (claimed.at(-1)?.id ?? '')).toBe(true)
})

test('results are written to their deliveries, and no others are looked at', async () => {
  const claimed = await inTransaction((db) => claim(db, 20))
  const { read } = await counting((db) => {
    const results = claimed.map(({ merchant_account_id, id: delivery_id }) => {
      const id = newId()
      const outcome = { status: 'succeeded' as const, next_attempt_at: null, status_code: 204, error: null }
      return { merchant_account_id, delivery_id, id, number: 1, ...outcome, duration_ms: 1, created_at: timeOfId(id) }
    })
    return writeResults(db, results, new Date())
  })
  expect(read).toBeGreaterThanOrEqual(20)
  expect(read).toBeLessThanOrEqual(100)
  const done = await database.query("select id from webhook_deliveries where status = 'succeeded' order by id")
  expect(done.map(({ id }) => id)).toEqual(claimed.map(({ id }) => id))
})

test('a queued event is found among many', async () => {
  await database.query('insert into event_queue (event_id) select id from events order by id limit 5')
  const { result: taken, read } = await counting((db) => takeEvents(db, { limit: 500, forStream: false }))
  expect(new Set(taken.map(({ id }) => id)).size).toBe(5)
  expect(read).toBeLessThanOrEqual(20)
})
