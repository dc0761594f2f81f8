import type { Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { CommitUnknownError, connect, type Database, writeAtOnce } from './postgres.ts'
import { sql } from './sql.ts'

const database = useDatabase()
let db: Database
beforeAll(async () => {
  await database.query(`
    create table notes (account text not null, id integer primary key, text text not null check (text <> 'bad'));
    grant select, insert, update on notes to florin_api;
    alter table notes enable row level security;
    create policy notes_reach on notes using (florin_reaches(account));`)
  // One connection: a setting that outlived its statement would be seen by the next one.
  db = connect({ url: database.url('florin_api'), applicationName: 'test', poolSize: 1, onError: () => undefined })
})
afterAll(() => db.close())
beforeEach(async () => {
  await database.query(`delete from notes; insert into notes values ('a', 1, 'x'), ('a', 2, 'x'), ('b', 3, 'x')`)
})

const texts = async () =>
  (await database.query<{ text: string }>('select text from notes order by id')).map(({ text }) => text)

const change = (rows: readonly { id: number; text: string }[]) => sql`
  update notes set text = input.text
  from json_to_recordset(${JSON.stringify(rows)}::json) as input (id integer, text text)
  where notes.id = input.id returning notes.id`

test.each(['hash join and sequential scan', 'merge join', 'nested loop'])(
  'rows are changed by a join whatever the plan: %s',
  async (plan) => {
    const settings = plan.startsWith('hash')
      ? 'set enable_nestloop = off; set enable_mergejoin = off; set enable_indexscan = off'
      : plan.startsWith('merge')
        ? 'set enable_nestloop = off; set enable_hashjoin = off'
        : 'set enable_hashjoin = off; set enable_mergejoin = off'
    await db.pool.query(settings)
    const all = [1, 2, 3].map((id) => ({ id, text: plan }))
    const changed = await writeAtOnce<{ id: number }>(db, ['a'], change(all))
    await db.pool.query('reset all')
    expect(new Set(changed.map(({ id }) => id))).toEqual(new Set([1, 2]))
    expect(await texts()).toEqual([plan, plan, 'x'])
  },
)

test('the accounts are those of this statement alone', async () => {
  await writeAtOnce(db, 'all', change([{ id: 3, text: 'y' }]))
  expect(await db.run(sql`select id from notes`)).toEqual([])
  expect(await writeAtOnce(db, [], change([{ id: 1, text: 'z' }]))).toEqual([])
  expect(await texts()).toEqual(['x', 'x', 'y'])
})

test('a row that a check refuses takes the others with it', async () => {
  const rows = [
    { id: 1, text: 'fine' },
    { id: 2, text: 'bad' },
  ]
  await expect(writeAtOnce(db, ['a'], change(rows))).rejects.toMatchObject({ code: '23514' })
  expect(await texts()).toEqual(['x', 'x', 'x'])
})

const nasty = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '$', ';', '--', '/*', '*/', '$$', '$1', '\n', 'E', '%', '{', '}', ','),
  }),
  fc.constantFrom("'; drop table notes; --", "\\'; drop table notes; --", '$$; drop table notes; $$', "x', true); --"),
)

test('whatever a text holds, it arrives as it is and does nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(nasty, async (text) => {
      // What the edge lets through: PostgreSQL has no NUL.
      fc.pre(!text.includes('\0') && text.isWellFormed() && text !== 'bad')
      const rows = await writeAtOnce<{ text: string }>(
        db,
        ['a'],
        sql`update notes set text = ${text} where id = ${1} and ${text}::text is not null returning text`,
      )
      expect(rows).toEqual([{ text }])
      const copied = await writeAtOnce(db, ['a'], change([{ id: 2, text }]))
      expect(copied).toEqual([{ id: 2 }])
    }),
    { numRuns: 500 },
  )
  const [one, two, three] = await texts()
  expect([one === two, three]).toEqual([true, 'x'])
})

test('an account with a quote in it reaches nothing else', async () => {
  expect(
    await writeAtOnce(db, ["x', true); select set_config('florin.accounts', '*"], change([{ id: 3, text: 'y' }])),
  ).toEqual([])
  expect(await texts()).toEqual(['x', 'x', 'x'])
})

test.each([[null], [undefined], [new Date(0)], [['a']], [Number.NaN], [true]])(
  '%s cannot be written into a statement',
  async (value) => {
    await expect(writeAtOnce(db, ['a'], sql`select ${value}`)).rejects.toThrow('only text and numbers')
  },
)

test('when the connection is lost nobody is told whether it was written', async () => {
  db.pool.once('acquire', (client) => {
    const { connection } = client as unknown as { connection: { stream: Socket } }
    setTimeout(() => connection.stream.destroy(), 100)
  })
  await expect(writeAtOnce(db, ['a'], sql`select pg_sleep(2)`)).rejects.toThrow(CommitUnknownError)
  expect(await writeAtOnce(db, ['a'], change([{ id: 1, text: 'later' }]))).toEqual([{ id: 1 }])
})
