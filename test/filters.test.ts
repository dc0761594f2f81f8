import { afterAll, beforeAll, expect, test } from 'vitest'
import { ListTransactionsQuery } from '../src/areas/transactions/schema/filters.ts'
import { useApi } from './api.ts'
import { filterNames } from './filters/oracle.ts'
import { runComparisons } from './filters/run.ts'
import { openWorld, type World } from './filters/world.ts'

const comparisons = 5_000
const seed = Number(process.env['FILTERS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const api = useApi({ logLevel: 'error' })
let world: World

beforeAll(async () => {
  world = await openWorld({
    apiUrl: api.url(),
    databaseUrl: api.database.url('florin_api'),
    existing: ['default', 'other'],
    run: api.database.query,
  })
})
afterAll(() => world.close())

/** What they ask for no transaction has yet. */
const ofNobody = ['payment_link_id', 'reauthorized_from_transaction_id', 'ip_address']

test('the oracle knows every filter of the list', () => {
  const { cursor: _cursor, limit: _limit, ...filters } = ListTransactionsQuery.properties
  expect(filterNames.toSorted()).toEqual(Object.keys(filters).toSorted())
})

test(`every page of every query is what the oracle says, walking in both directions (seed ${seed})`, async () => {
  const result = await runComparisons(world, { comparisons, seed })
  expect(result.difference?.description ?? '').toBe('')
  expect(result.comparisons).toBeGreaterThanOrEqual(comparisons)
  // Comparisons of nothing with nothing would show nothing.
  expect(result.telling).toBeGreaterThan(comparisons / 4)
  expect(Object.entries(result.perFilter).filter(([, count]) => count < 10)).toEqual([])
  const untold = filterNames.filter((name) => result.tellingPerFilter[name] === 0)
  expect(untold.toSorted()).toEqual(ofNobody.toSorted())
})
