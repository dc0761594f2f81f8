import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Database } from '../src/platform/postgres.ts'
import { useDatabase } from './database.ts'
import { type Mistake, runWalks } from './walks/run.ts'

const database = useDatabase()
let databases: { admin: Database; api: Database; writer: Database }

beforeAll(() => {
  const open = (role: 'florin_admin' | 'florin_api') =>
    connect({ url: database.url(role), applicationName: 'test', poolSize: 10, onError: () => undefined })
  databases = { admin: open('florin_admin'), api: open('florin_api'), writer: open('florin_api') }
})
afterAll(async () => {
  for (const one of Object.values(databases)) await one.close()
})

const walks = (mistake: Mistake) =>
  runWalks(databases, { seconds: 0, perSecond: 500, rows: 600, largestPage: 60, mistake })

test('walks while transactions are written and changed see every one committed before they began exactly once', async () => {
  const report = await walks('none')
  expect(report).toMatchObject({ walks: 12, missed: 0, repeated: 0, strange: 0 })
  // Each walk had several pages, with a commit after each.
  expect(report.pages).toBeGreaterThan(2 * report.walks)
  expect(report.inserted).toBeGreaterThan(0)
  expect(report.moved).toBeGreaterThan(0)
})

test.each<[Mistake, 'missed' | 'repeated']>([
  ['offsets instead of places', 'repeated'],
  ['the edge is read again', 'repeated'],
  ['a row is skipped', 'missed'],
])('they find this mistake: %s', async (mistake, finding) => {
  expect((await walks(mistake))[finding]).toBeGreaterThan(0)
})
