import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { searchOf } from '../src/areas/transactions/operations/filters.ts'
import type { connect } from '../src/platform/postgres.ts'
import { useApi } from './api.ts'
import { meanings } from './filters/oracle.ts'
import { changing, type Planted, planted } from './filters/planted.ts'
import { runComparisons } from './filters/run.ts'
import { openWorld, type World } from './filters/world.ts'

/** The mistake that the list has at the moment. */
const current = vi.hoisted(() => ({ plant: undefined as Planted | undefined, met: new Set<RegExp>() }))

vi.mock('../src/areas/transactions/operations/filters.ts', async (importOriginal) => {
  const original = await importOriginal<{ searchOf: typeof searchOf }>()
  return {
    searchOf: (filters: Parameters<typeof searchOf>[0]) => {
      const search = original.searchOf(filters)
      return search && (current.plant?.search?.(search, filters) ?? search)
    },
  }
})
vi.mock('../src/platform/postgres.ts', async (importOriginal) => {
  const original = await importOriginal<{ connect: typeof connect }>()
  const { rewriting } = await import('./rewriting.ts')
  const rewrite = (text: string) =>
    // Other statements of the api have conditions of the same shape.
    !text.includes('has_behind')
      ? text
      : (current.plant?.rewrites ?? []).reduce((changed, [search, replacement]) => {
          if (changed.search(search) >= 0) current.met.add(search)
          return changed.replace(search, replacement)
        }, text)
  return {
    ...original,
    connect: (options: Parameters<typeof connect>[0]) => rewriting(original.connect(options), rewrite),
  }
})

/** As many as the short form makes; from a fixed seed, so that chance cannot make it red. */
const comparisons = 5_000
const seed = 1
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

/** Every second one, by chance these or the others. */
const offset = Math.random() < 0.5 ? 0 : 1

test.each(planted.filter((_plant, index) => index % 2 === offset))('the comparison finds $name', async (plant) => {
  const { filters, by, reach, answer, rewrites = [] } = plant
  current.plant = plant
  current.met.clear()
  const { difference } = await runComparisons(
    { ...world, ...(answer && { ask: changing(world.ask, answer) }) },
    { comparisons, seed, by: { ...meanings, ...by }, ...(reach && { reach }) },
  )
  expect(difference?.filters).toEqual(expect.arrayContaining([...filters]))
  // A statement that PostgreSQL does not understand is a plant gone stale, not a mistake found.
  expect(difference?.description).not.toMatch(/^found +500 /m)
  expect(rewrites.map(([search]) => search).filter((search) => !current.met.has(search))).toEqual([])
})
