import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { CommitUnknownError, connect, type Database, transact, write } from './postgres.ts'
import { type Sql, sql } from './sql.ts'

const database = useDatabase()
let db: Database
beforeAll(async () => {
  await database.query(`
    create table notes (account text not null, id integer primary key, text text not null check (text <> 'bad'));
    create table followers (account text not null, id integer not null);
    grant select, insert on notes, followers to florin_api;
    alter table notes enable row level security;
    alter table followers enable row level security;
    create policy notes_reach on notes using (florin_reaches(account));
    create policy followers_reach on followers using (florin_reaches(account));`)
  // One connection: a setting that outlived its statement would be seen by the next one.
  db = connect({ url: database.url('florin_api'), applicationName: 'test', poolSize: 1, onError: () => undefined })
})
afterAll(() => db.close())

interface Note {
  account: string
  id: number
  text?: string
}

const insertNotes = (notes: readonly Note[]) => (walls: Sql) =>
  sql`
  insert into notes (account, id, text)
  select account, id, coalesce(text, 'fine') from ${walls}, json_to_recordset(${JSON.stringify(notes)}::json) as note (account text, id integer, text text)
  on conflict (id) do nothing returning account, id`
const follow = (changed: Sql) => sql`insert into followers (account, id) select account, id from ${changed}`
const all = () =>
  database.query(
    `select 'note' as kind, account, id from notes union all select 'follower', account, id from followers order by id, kind`,
  )
const put = (accounts: 'all' | readonly string[], ...notes: Note[]) => write(db, accounts, insertNotes(notes), follow)
const refusal = { code: '42501', message: expect.stringContaining('row-level security') }

test('a row within the accounts is written with what follows it, and the answer is the row', async () => {
  expect(await put(['a'], { account: 'a', id: 1 })).toEqual([{ account: 'a', id: 1 }])
  expect(await put(['a', 'b'], { account: 'b', id: 2 })).toEqual([{ account: 'b', id: 2 }])
  expect(await put('all', { account: 'c', id: 3 })).toEqual([{ account: 'c', id: 3 }])
  expect(await all()).toEqual(
    [1, 2, 3].flatMap((id) => {
      const account = 'abc'.charAt(id - 1)
      return [
        { kind: 'follower', account, id },
        { kind: 'note', account, id },
      ]
    }),
  )
})

test('one row of another account, and nothing is written: not the row, not those beside it, not what follows', async () => {
  const before = await all()
  await expect(put(['a'], { account: 'b', id: 10 })).rejects.toMatchObject(refusal)
  await expect(put(['a'], { account: 'a', id: 11 }, { account: 'b', id: 12 })).rejects.toMatchObject(refusal)
  await expect(put([], { account: 'a', id: 13 })).rejects.toMatchObject(refusal)
  expect(await all()).toEqual(before)
})

test('what follows is held to the accounts as well', async () => {
  const before = await all()
  const elsewhere = (changed: Sql) => sql`insert into followers (account, id) select 'b', id from ${changed}`
  await expect(write(db, ['a'], insertNotes([{ account: 'a', id: 20 }]), elsewhere)).rejects.toMatchObject(refusal)
  expect(await all()).toEqual(before)
})

test('a change that does not take its rows from the walls is refused, also right after one that did', async () => {
  await put(['a'], { account: 'a', id: 30 })
  const before = await all()
  const past = () => sql`insert into notes (account, id, text) values ('a', 31, 'fine') returning account, id`
  await expect(write(db, ['a'], past, follow)).rejects.toMatchObject(refusal)
  expect(await all()).toEqual(before)
})

test('nothing follows a row that was there already, and a row that a check refuses takes the others with it', async () => {
  await put(['a'], { account: 'a', id: 40 })
  const before = await all()
  expect(await put(['a'], { account: 'a', id: 40 })).toEqual([])
  await expect(put(['a'], { account: 'a', id: 41 }, { account: 'a', id: 42, text: 'bad' })).rejects.toMatchObject({
    code: '23514',
  })
  expect(await all()).toEqual(before)
})

/** Cuts the connection of whoever comes next, a little after it was handed out. */
function cutNext(): void {
  db.pool.once('acquire', (client) => {
    const { connection } = client as unknown as { connection: { stream: Socket } }
    setTimeout(() => connection.stream.destroy(), 100)
  })
}

test('when the connection is lost nobody is told whether it was written, and the next one gets another connection', async () => {
  const slow = (changed: Sql) => sql`insert into followers select account, id from ${changed}, pg_sleep(2)`
  cutNext()
  await expect(write(db, ['a'], insertNotes([{ account: 'a', id: 50 }]), slow)).rejects.toThrow(CommitUnknownError)
  expect(await put(['a'], { account: 'a', id: 51 })).toEqual([{ account: 'a', id: 51 }])
})

test('a connection that is lost within a transaction fails that transaction and nothing else', async () => {
  cutNext()
  const work = transact({ db, accounts: ['a'] }, (ctx) => ctx.db.run(sql`select pg_sleep(2)`))
  await expect(work).rejects.toThrow('Connection terminated')
  expect(await put(['a'], { account: 'a', id: 60 })).toEqual([{ account: 'a', id: 60 }])
})
