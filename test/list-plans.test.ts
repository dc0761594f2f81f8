import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ListTransactionsQuery } from '../src/areas/transactions/schema/filters.ts'
import type { TransactionRow } from '../src/areas/transactions/store/rows.ts'
import { replaceMetadata } from '../src/areas/transactions/store/transactions.ts'
import { readWholeTransactions } from '../src/areas/transactions/store/verify.ts'
import { newId } from '../src/ids.ts'
import type { Accounts } from '../src/platform/accounts.ts'
import type { Db } from '../src/platform/postgres.ts'
import { type Sql, sql } from '../src/platform/sql.ts'
import { useDatabase } from './database.ts'
import { bigAccount, fillBigTable, narrowTables, sizes } from './list-plans/big-table.ts'
import { type Case, couples, type Places, problemsOf, singles } from './list-plans/cases.ts'
import { workOf } from './list-plans/plan.ts'
import { valuesFor } from './list-plans/values.ts'

/** What PostgreSQL reads for a list, on a table so big that reading too much shows. No time is measured. */

const database = useDatabase()
let admin: pg.Client
let api: pg.Client
let places: Places
/** Which lists each index serves. */
const users = new Map<string, Case[]>()

beforeAll(async () => {
  admin = new pg.Client({ connectionString: database.url() })
  api = new pg.Client({ connectionString: database.url('florin_api') })
  await admin.connect()
  await api.connect()
  await fillBigTable(admin)
  const { rows } = await admin.query<{ id: string }>(
    `select id from transaction_facts where merchant_account_id = $1 order by id`,
    [bigAccount],
  )
  places = { oldest: rows[0]?.id ?? '', middle: rows[sizes.big / 2]?.id ?? '' }
})
afterAll(async () => {
  await api.end()
  await admin.end()
})

async function problemsWith(cases: readonly Case[]): Promise<string[]> {
  const problems: string[] = []
  for (const one of cases) {
    const work = await workOf(api, one.statement)
    problems.push(...problemsOf(one, work))
    for (const index of work.indexes) users.set(index, [...(users.get(index) ?? []), one])
  }
  return problems
}

test('every filter of the list has values here', () => {
  const { cursor: _cursor, limit: _limit, ...filters } = ListTransactionsQuery.properties
  expect(Object.keys(filters).filter((name) => !(name in valuesFor(newId())))).toEqual([])
})

test('every filter alone touches bounded rows, whether it matches nothing, the oldest or half, for one account and several, on any page', async () => {
  expect(await problemsWith(singles(places))).toEqual([])
})

test('so does every pair that is named', async () => {
  expect(await problemsWith(couples(places))).toEqual([])
})

/** What asks for one transaction, apart from lists: one of the statements of `work`. */
async function statementOf(
  name: string,
  place: number,
  work: (db: Db, accounts: Accounts) => Promise<unknown>,
): Promise<Case> {
  const statements: Sql[] = []
  const db = { inTransaction: true, run: async (statement: Sql) => (statements.push(statement), []) }
  await work(db, [bigAccount])
  return { name, statement: statements[place] ?? sql``, most: { rows: 30, sorted: 10 }, unbounded: undefined }
}
const replacing = () =>
  statementOf('replacing metadata', 0, (db, accounts) =>
    replaceMetadata(db, accounts, { merchant_account_id: bigAccount, id: places.oldest } as TransactionRow),
  )
const verifying = () => statementOf('verifying', 1, (db, accounts) => readWholeTransactions(db, accounts, undefined, 1))

/** The first problem that a case has after a change of the tables, which is undone. */
async function problemAfter(change: string, cases: readonly Case[]): Promise<string | undefined> {
  await admin.query('begin')
  try {
    await admin.query(change)
    await admin.query(`set local role florin_api; set local jit = off; set local florin.accounts = '${bigAccount}'`)
    for (const one of cases) {
      const [problem] = problemsOf(one, await workOf(admin, one.statement))
      if (problem !== undefined) return problem
    }
    return undefined
  } finally {
    await admin.query('rollback')
  }
}

test('no index is superfluous: without any one of them a list reads too much', async () => {
  const apart: [string, Case[]][] = [
    ['transaction_metadata_of_transaction', [await replacing()]],
    ['transaction_gift_cards_of_transaction', [await verifying()]],
  ]
  for (const [, cases] of apart) expect(await problemAfter('', cases)).toBeUndefined()
  const served = new Map([...users, ...apart])
  const { rows: indexes } = await admin.query<{ name: string; table: string; is_key: boolean }>(
    `select indexname as name, tablename as table, indexname like '%\\_pkey' as is_key from pg_indexes where tablename = any($1)`,
    [narrowTables],
  )
  const superfluous: string[] = []
  for (const { name, table, is_key } of indexes) {
    const drop = is_key ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`
    if ((await problemAfter(drop, served.get(name) ?? [])) === undefined) superfluous.push(name)
  }
  expect(indexes.length).toBeGreaterThan(20)
  expect(superfluous).toEqual([])
})
