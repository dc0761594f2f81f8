import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../../test/database.ts'
import { workOf } from '../../../test/list-plans/plan.ts'
import { newId } from '../../ids.ts'
import type { Position } from '../../page.ts'
import type { Accounts } from '../../platform/accounts.ts'
import type { Db } from '../../platform/postgres.ts'
import type { Sql } from '../../platform/sql.ts'
import { type EventFilter, listEventRows } from './store.ts'

/* What PostgreSQL reads for a list of events, on a table so big that reading too much shows. No time is measured. */

const database = useDatabase()
const size = 60_000
let client: pg.Client
let middle = ''

beforeAll(async () => {
  await database.query(
    `insert into merchant_accounts (id, list_id, display_name, account_updater_enabled, async_network_tokens_enabled, created_at, updated_at)
     select 'account-' || number, gen_random_uuid(), 'x', false, false, now(), now() from generate_series(1, 10) as number`,
  )
  // Nearly all are of one account and one name; the rare ones are the oldest.
  await database.query(
    `insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
     select florin_id_floor(now() + make_interval(secs => number * 0.001)),
       case when number % 1000 = 0 then 'account-' || 1 + number / 1000 % 10 else 'account-1' end,
       case when number < 30 then 'gift-card.deleted' else 'transaction.authorized' end, 'x', 'resource-' || number / 3, 1, '{}', now()
     from generate_series(1, ${size}) as number`,
  )
  await database.query('analyze events')
  const [row] = await database.query<{ id: string }>(`select id from events order by id offset ${size / 2} limit 1`)
  middle = row?.id ?? ''
  client = new pg.Client({ connectionString: database.url('florin_api') })
  await client.connect()
})
afterAll(() => client.end())

async function rowsRead(accounts: Accounts, filter: EventFilter, position?: Position) {
  const statements: Sql[] = []
  const db: Db = { inTransaction: true, run: async (statement) => (statements.push(statement), []) }
  await listEventRows(db, accounts, filter, { limit: 20, position, seal: String })
  const [statement] = statements
  if (!statement) throw new Error('nothing was asked')
  return workOf(client, statement, (table) => table.startsWith('events_'))
}

const some: Accounts = ['account-1', 'account-2', 'account-3']
const filters: Record<string, EventFilter> = {
  nothing: {},
  'a common name': { names: ['transaction.authorized'] },
  'a rare name': { names: ['gift-card.deleted'] },
  'a name that never happened': { names: ['refund.failed'] },
  'several names': { names: ['gift-card.deleted', 'transaction.authorized', 'refund.failed'] },
  'a resource': { resourceId: 'resource-7' },
  'a resource and a name': { resourceId: 'resource-7', names: ['transaction.authorized'] },
  'no resource': { resourceId: newId() },
}

test.each(Object.entries(filters))(
  'a list by %s touches a page of rows for each account and name',
  async (_name, filter) => {
    for (const accounts of [['account-1'], ['account-2'], some, 'all'] as Accounts[]) {
      for (const position of [undefined, { direction: 'older', inclusive: false, id: middle } as const]) {
        const scans = (accounts === 'all' ? 11 : accounts.length) * (filter.names?.length ?? 1)
        const work = await rowsRead(accounts, filter, position)
        const partitions = 4
        expect
          .soft(work.rows, [JSON.stringify(accounts), ...work.plan].join('\n'))
          .toBeLessThan(scans * (22 + 2 * partitions) + 30)
      }
    }
  },
)
