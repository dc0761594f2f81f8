import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  deleteKeyPairRow,
  findKeyPair,
  findKeyPairByThumbprint,
  updateKeyPairRow,
} from '../src/areas/api-key-pairs/store.ts'
import {
  findMerchantAccount,
  findMerchantAccounts,
  lockMerchantAccount,
  updateMerchantAccountRow,
} from '../src/areas/merchant-accounts/store.ts'
import { connect, type Database } from '../src/platform/postgres.ts'
import { useApi } from './api.ts'
import {
  buildWorld,
  disableRowLevelSecurity,
  findLeaks,
  leakTimeoutMs,
  othersOf,
  readTables,
  type World,
  walledTables,
} from './isolation-checks.ts'

// Every route is asked hundreds of times.
vi.setConfig({ testTimeout: 300_000 })
const api = useApi()
let world: World
let db: Database

beforeAll(async () => {
  world = await buildWorld(api)
  await disableRowLevelSecurity(api)
  db = connect({ url: api.database.url('florin_api'), applicationName: 'test', poolSize: 1, onError: () => undefined })
})
afterAll(() => db.close())

test("the stores' predicates alone let nothing through to another account", { timeout: leakTimeoutMs }, async () => {
  const { asked, ownSeen, problems } = await findLeaks(world, { isShared: true })
  expect(problems).toEqual([])
  expect(asked).toBeGreaterThan(1_000)
  expect(ownSeen).toBeGreaterThan(100)
})

test('row level security really was off', async () => {
  const on = await api.database.query<{ relname: string }>(
    'select relname from pg_class where (relrowsecurity or relforcerowsecurity) and relname = any($1)',
    [await walledTables(api)],
  )
  expect(on).toEqual([])
})

// An operation looks a row up before it changes it, which hides a predicate that is missing from the change itself.
test('each function of a store keeps to its accounts by itself, without another one having looked first', async () => {
  const [{ account }, other] = world.parties
  const reach = [account]
  const current = await findMerchantAccount(db, [other.account], other.account)
  if (!current) throw new Error('the other account is not there')
  const before = await readTables(api)
  const change = { display_name: 'x', active: false, merchant_account_ids: null, updated_at: new Date() }
  expect({
    findKeyPair: await findKeyPair(db, reach, other.pair.id),
    findKeyPairByThumbprint: await findKeyPairByThumbprint(db, reach, other.pair.thumbprint),
    updateKeyPairRow: await updateKeyPairRow(db, reach, other.pair.id, change),
    deleteKeyPairRow: await deleteKeyPairRow(db, reach, other.pair.id),
    findMerchantAccount: await findMerchantAccount(db, reach, other.account),
    findMerchantAccounts: await findMerchantAccounts(db, reach, [other.account]),
    lockMerchantAccount: await lockMerchantAccount(db, reach, other.account),
    updateMerchantAccountRow: await updateMerchantAccountRow(db, reach, { ...current, display_name: 'x' }),
  }).toEqual({ deleteKeyPairRow: false, findMerchantAccounts: [] })
  expect(othersOf(account, await readTables(api))).toEqual(othersOf(account, before))
})
