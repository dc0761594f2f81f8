import { beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../../test/database.ts'
import { insertDelivery, insertSubscription } from '../../../test/webhooks.ts'
import { realClocks, realTime } from '../../clocks.ts'
import { newId, timeOfId } from '../../ids.ts'
import { createLog } from '../../platform/log.ts'
import { connect, type Database } from '../../platform/postgres.ts'
import { expireWebhookDeliveries } from './jobs.ts'
import { failExpired } from './store.ts'

const database = useDatabase()
let db: Database

beforeAll(() => {
  db = connect({ url: database.url('florin_worker'), applicationName: 'test', poolSize: 1, onError: () => undefined })
  return () => db.close()
})

const expire = () =>
  expireWebhookDeliveries.run(
    {
      db,
      now: realTime.now,
      clocks: realClocks,
      log: createLog({ level: 'silent', process: 'test' }),
      signal: new AbortController().signal,
    },
    {},
  )
const statusOf = async (id: string) =>
  (await database.query('select status, next_attempt_at, error from webhook_deliveries where id = $1', [id]))[0]
const minute = 60_000

test('what was not delivered in its time has failed; what may still be on its way has not', async () => {
  const subscriptionId = await insertSubscription(database)
  const make = (expiresInMs: number) => insertDelivery(database, { subscriptionId, expiresInMs })
  const [expired, ending, lasting] = [await make(-2 * minute), await make(-minute / 2), await make(minute)]
  const over = await insertDelivery(database, { subscriptionId, status: 'succeeded', expiresInMs: -2 * minute })
  await expire()
  expect(await statusOf(expired)).toEqual({ status: 'failed', next_attempt_at: null, error: 'expired' })
  for (const id of [ending, lasting]) expect(await statusOf(id)).toMatchObject({ status: 'pending', error: null })
  expect(await statusOf(over)).toMatchObject({ status: 'succeeded' })
})

test('what failed last is still said', async () => {
  const id = await insertDelivery(database, {
    subscriptionId: await insertSubscription(database),
    expiresInMs: -2 * minute,
  })
  await database.query(`update webhook_deliveries set error = 'timeout' where id = $1`, [id])
  await expire()
  expect(await statusOf(id)).toEqual({ status: 'failed', next_attempt_at: null, error: 'timeout' })
})

test('a big backlog expires in parts, and all of it in one run', async () => {
  const ids = Array.from({ length: 2_500 }, newId)
  const subscriptionId = await insertSubscription(database)
  await database.query(
    `insert into webhook_deliveries (merchant_account_id, id, subscription_id, event_id, origin, status, next_attempt_at, expires_at,
       created_at, updated_at)
     select 'default', id, $3, id, 'event', 'pending', moment, moment - interval '1 hour', moment, moment
     from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
    [ids, ids.map(timeOfId), subscriptionId],
  )
  const pending = async () =>
    (
      await database.query(`select from webhook_deliveries where subscription_id = $1 and status = 'pending'`, [
        subscriptionId,
      ])
    ).length
  expect(await failExpired(db, new Date(), 1_000)).toBe(1_000)
  expect(await pending()).toBe(1_500)
  await expire()
  expect(await pending()).toBe(0)
})
