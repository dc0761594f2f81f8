import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { insertDelivery, insertSubscription } from '../../test/webhooks.ts'
import { newId, timeOfId } from '../ids.ts'
import { createLog } from '../platform/log.ts'
import { connect, type Database } from '../platform/postgres.ts'
import { createResultWriter } from './results.ts'

const database = useDatabase()
let db: Database
let lostAnswers = 0

beforeAll(() => {
  db = connect({ url: database.url('florin_worker'), applicationName: 'test', poolSize: 1, onError: () => undefined })
  // The first commit is made, and nobody hears of it.
  db.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
    client.query = (async (...args: unknown[]) => {
      const result = await query(...args)
      if (args[0] === 'commit' && lostAnswers++ === 0) throw new Error('Connection terminated unexpectedly')
      return result
    }) as typeof client.query
  })
})
afterAll(() => db.close())

test('results whose commit was not answered are written once, and those after them too', async () => {
  const results = createResultWriter({
    db,
    now: () => new Date(),
    log: createLog({ level: 'silent', process: 'test' }),
  })
  const subscriptionId = await insertSubscription(database)
  const write = async () => {
    const [deliveryId, id] = [await insertDelivery(database, { subscriptionId }), newId()]
    await results.add({
      merchant_account_id: 'default',
      delivery_id: deliveryId,
      id,
      number: 1,
      status: 'succeeded',
      next_attempt_at: null,
      status_code: 204,
      error: null,
      duration_ms: 1,
      created_at: timeOfId(id),
    })
  }
  await write()
  await write()
  expect(lostAnswers).toBeGreaterThan(1)
  expect(await database.query('select number, status_code from webhook_attempts')).toEqual([
    { number: 1, status_code: 204 },
    { number: 1, status_code: 204 },
  ])
  expect(await database.query('select status, attempts from webhook_deliveries')).toEqual([
    { status: 'succeeded', attempts: 1 },
    { status: 'succeeded', attempts: 1 },
  ])
})
