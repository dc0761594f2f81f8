import { beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { newId } from '../ids.ts'
import { createLog } from '../platform/log.ts'
import { connect, type Database } from '../platform/postgres.ts'
import { partitionUpkeep } from './partitions.ts'
import { realClocks } from '../clocks.ts'

const database = useDatabase()
let db: Database

beforeAll(() => {
  db = connect({ url: database.url('florin_worker'), applicationName: 'test', poolSize: 1, onError: () => undefined })
  return () => db.close()
})

const upkeep = () =>
  partitionUpkeep({ auditMonths: 12, eventMonths: 1, deliveryMonths: 2 }).run(
    {
      db,
      now: () => new Date(),
      clocks: realClocks,
      log: createLog({ level: 'silent', process: 'test' }),
      signal: new AbortController().signal,
    },
    {},
  )
const partitions = async (parent: string) =>
  (
    await database.query<{ name: string }>(
      'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1',
      [parent],
    )
  ).map(({ name }) => name)
const month = (offset: number) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1))
    .toISOString()
    .slice(0, 7)
    .replace('-', '')
}

test('upkeep makes this month and the three ahead, whatever is missing', async () => {
  await database.query(
    `drop table events_${month(2)}, audit_logs_${month(3)}, webhook_deliveries_${month(1)}, webhook_attempts_${month(2)}`,
  )
  await upkeep()
  for (const parent of ['events', 'audit_logs', 'webhook_deliveries', 'webhook_attempts']) {
    expect(await partitions(parent)).toEqual([0, 1, 2, 3].map((offset) => `${parent}_${month(offset)}`))
  }
})

async function makePartition(parent: string, offset: number): Promise<void> {
  const [from, to] = [month(offset), month(offset + 1)].map(
    (text) => `${text.slice(0, 4)}-${text.slice(4)}-01T00:00:00Z`,
  )
  const bounds = await database.query<{ low: string; high: string }>(
    'select florin_id_floor($1) as low, florin_id_floor($2) as high',
    [from, to],
  )
  await database.query(
    `set role florin_migrate; create table ${parent}_${month(offset)} partition of ${parent} for values from ('${bounds[0]?.low}') to ('${bounds[0]?.high}'); reset role`,
  )
}

test.each([
  ['events', 1],
  ['webhook_deliveries', 2],
  ['webhook_attempts', 2],
])('upkeep drops what is past its retention from %s and nothing younger', async (parent, months) => {
  for (const offset of [-1, -2, -3, -4]) await makePartition(parent, offset)
  await upkeep()
  // So many months are kept: the oldest one's rows may be that young until this month is over.
  expect((await partitions(parent))[0]).toBe(`${parent}_${month(-months)}`)
})

test('an id made now falls into the partition of this month', async () => {
  await database.query(
    `insert into events (id, name, resource_type, resource_id, sequence, target, created_at) values ($1, 'x', 'x', 'x', 1, '{}', now())`,
    [newId()],
  )
  const rows = await database.query<{ at: string }>('select tableoid::regclass::text as at from events')
  expect(rows).toEqual([{ at: `events_${month(0)}` }])
})
