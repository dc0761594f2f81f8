import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../../test/database.ts'
import { lastIdOf, newId } from '../../ids.ts'
import type { PageRequest } from '../../page.ts'
import type { Accounts } from '../../platform/accounts.ts'
import type { Db } from '../../platform/postgres.ts'
import { type Sql, toQuery } from '../../platform/sql.ts'
import { type DeliveryFilter, listDeliveryRows } from './store.ts'

/** What PostgreSQL reads for a page, on a table so big that reading too much shows. No time is measured. */

const database = useDatabase()
const subscriptionId = newId()
const eventId = newId()
let api: pg.Client

beforeAll(async () => {
  // Nearly all were delivered, of one busy account; a few old ones were not, and another account has a few.
  await database.query(
    `insert into webhook_deliveries (merchant_account_id, id, subscription_id, event_id, origin, status, expires_at, created_at, updated_at)
     select case when number % 1000 = 1 then 'small' else 'busy' end,
       (left(florin_id_floor(now())::text, 14) || '7' || lpad(to_hex(number), 3, '0') || '-8000-' || lpad(to_hex(number), 12, '0'))::uuid,
       case when number % 50 = 0 then $1::uuid else gen_random_uuid() end,
       case when number <= 5 then $2::uuid else gen_random_uuid() end,
       'event', case when number <= 100 then 'failed' else 'succeeded' end, now(), now(), now()
     from generate_series(1, 60000) as number`,
    [subscriptionId, eventId],
  )
  await database.query('analyze webhook_deliveries')
  api = new pg.Client({ connectionString: database.url('florin_api') })
  await api.connect()
})
afterAll(() => api.end())

/** Blocks of tables and indexes that the statement of a page looks at. */
async function blocksFor(accounts: Accounts, filter: DeliveryFilter, page: PageRequest): Promise<number> {
  let statement: Sql | undefined
  const db: Db = {
    inTransaction: false,
    run: async (asked) => {
      statement = asked
      return []
    },
  }
  await listDeliveryRows(db, accounts, filter, page)
  if (!statement) throw new Error('nothing was asked')
  const { text, values } = toQuery(statement)
  const { rows } = await api.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
    values,
  )
  const plan = rows[0]?.['QUERY PLAN'][0].Plan
  return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)
}

const first: PageRequest = { limit: 20, position: undefined, seal: () => '' }
const second: PageRequest = {
  ...first,
  position: { direction: 'older', inclusive: false, id: lastIdOf(Date.now()) },
}
const cases: [name: string, accounts: Accounts, filter: DeliveryFilter][] = [
  ['all of an account', ['busy'], {}],
  ['all of an account that has few', ['small'], {}],
  ['all of several accounts', ['busy', 'small'], {}],
  ['all of all accounts', 'all', {}],
  ['of a subscription', ['busy'], { subscriptionId }],
  ['of an event', ['busy'], { eventId }],
  ['of no event', ['busy'], { eventId: newId() }],
  ['undelivered ones, which are old', ['busy'], { statuses: ['pending', 'failed'] }],
  ['failed ones, which are old', ['busy'], { statuses: ['failed'] }],
  ['undelivered ones of a subscription', ['busy'], { subscriptionId, statuses: ['pending', 'failed'] }],
  ['undelivered ones of an account that has none', ['small'], { statuses: ['pending'] }],
]

test.each(cases)('a page of deliveries reads little: %s', async (_name, accounts, filter) => {
  for (const page of [first, second]) expect(await blocksFor(accounts, filter, page)).toBeLessThan(400)
})

test('this notices a list that reads too much', async () => {
  const { count } =
    (await database.query<{ count: number }>('select count(*)::integer as count from webhook_deliveries'))[0] ?? {}
  expect(count).toBe(60_000)
  await database.query('drop index webhook_deliveries_undelivered')
  expect(await blocksFor(['busy'], { statuses: ['pending', 'failed'] }, first)).toBeGreaterThan(400)
})
