import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ListTransactionsQuery } from '../src/areas/transactions/schema/filters.ts'
import type { TransactionRow } from '../src/areas/transactions/store/rows.ts'
import { replaceMetadata } from '../src/areas/transactions/store/transactions.ts'
import { newId } from '../src/ids.ts'
import { type Sql, sql } from '../src/platform/sql.ts'
import { useDatabase } from './database.ts'
import { bigAccount, fillBigTable, sizes } from './list-plans/big-table.ts'
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

/** The statements that replace the metadata of one transaction. */
async function replacing(): Promise<Case> {
  const statements: Sql[] = []
  const db = { inTransaction: true, run: async (statement: Sql) => (statements.push(statement), []) }
  await replaceMetadata(db, [bigAccount], { merchant_account_id: bigAccount, id: places.oldest } as TransactionRow)
  return {
    name: 'replacing metadata',
    statement: statements[0] ?? sql``,
    most: { rows: 10, sorted: 0 },
    unbounded: undefined,
  }
}

test('no index is superfluous: without any one of them a list reads too much', async () => {
  const served = new Map([...users, ['transaction_metadata_of_transaction', [await replacing()]]])
  const { rows: indexes } = await admin.query<{ name: string; table: string; is_key: boolean }>(`
    select indexname as name, tablename as table, indexname like '%\\_pkey' as is_key from pg_indexes
    where tablename in ('transaction_facts', 'transaction_states', 'transaction_metadata')`)
  const superfluous: string[] = []
  for (const { name, table, is_key } of indexes) {
    await admin.query('begin')
    await admin.query(is_key ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`)
    await admin.query(`set local role florin_api; set local jit = off; set local florin.accounts = '${bigAccount}'`)
    if (!(await anyFails(served.get(name) ?? []))) superfluous.push(name)
    await admin.query('rollback')
  }
  expect(indexes.length).toBeGreaterThan(20)
  expect(superfluous).toEqual([])
})

async function anyFails(cases: readonly Case[]): Promise<boolean> {
  for (const one of cases) {
    if (problemsOf(one, await workOf(admin, one.statement)).length > 0) return true
  }
  return false
}
