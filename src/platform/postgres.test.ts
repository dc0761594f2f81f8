import { expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { connect, isUnavailable, transact } from './postgres.ts'
import { sql } from './sql.ts'

const database = useDatabase()

test('a connection that breaks between two statements fails its transaction and nothing else', async () => {
  const db = connect({
    url: database.url('florin_api'),
    applicationName: 'test',
    poolSize: 1,
    onError: () => undefined,
  })
  try {
    const failure = await transact({ db, accounts: [] }, async ({ db }) => {
      const [self] = await db.run<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      await database.query('select pg_terminate_backend($1, 5000)', [self?.pid])
      // Long enough for the news to arrive while no statement is under way.
      await new Promise((resolve) => setTimeout(resolve, 200))
      return db.run(sql`select 1`)
    }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(isUnavailable(failure)).toBe(true)
    expect(await db.run(sql`select 1 as one`)).toEqual([{ one: 1 }])
  } finally {
    await db.close()
  }
})
