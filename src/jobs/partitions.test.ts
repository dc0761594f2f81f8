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
  partitionUpkeep({ auditMonths: 12, eventMonths: 1 }).run(
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
  await database.query(`drop table events_${month(2)}, audit_logs_${month(3)}`)
  await upkeep()
  for (const parent of ['events', 'audit_logs']) {
    expect(await partitions(parent)).toEqual([0, 1, 2, 3].map((offset) => `${parent}_${month(offset)}`))
  }
})

test('upkeep drops what is past its retention and nothing younger', async () => {
  for (const offset of [-1, -2, -3]) {
    const [from, to] = [month(offset), month(offset + 1)].map(
      (text) => `${text.slice(0, 4)}-${text.slice(4)}-01T00:00:00Z`,
    )
    const bounds = await database.query<{ low: string; high: string }>(
      'select florin_id_floor($1) as low, florin_id_floor($2) as high',
      [from, to],
    )
    await database.query(
      `set role florin_migrate; create table events_${month(offset)} partition of events for values from ('${bounds[0]?.low}') to ('${bounds[0]?.high}'); reset role`,
    )
  }
  await upkeep()
  // One month is kept: last month's rows may be that young until this month is over.
  expect((await partitions('events'))[0]).toBe(`events_${month(-1)}`)
})

test('an id made now falls into the partition of this month', async () => {
  await database.query(
    `insert into events (id, name, resource_type, resource_id, sequence, target, created_at) values ($1, 'x', 'x', 'x', 1, '{}', now())`,
    [newId()],
  )
  const rows = await database.query<{ at: string }>('select tableoid::regclass::text as at from events')
  expect(rows).toEqual([{ at: `events_${month(0)}` }])
})
