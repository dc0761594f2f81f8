import { beforeAll, expect, test, vi } from 'vitest'
import { useApi } from './api.ts'
import { buildWorld, disableRowLevelSecurity, findLeaks, leakTimeoutMs, type World } from './isolation-checks.ts'

// A build in which every store has forgotten its predicate.
vi.mock('../src/platform/accounts.ts', async (importOriginal) => {
  const { sql } = await import('../src/platform/sql.ts')
  const forgotten = () => sql`true`
  return { ...(await importOriginal<object>()), within: forgotten, whollyWithin: forgotten }
})

// Every route is asked hundreds of times.
vi.setConfig({ testTimeout: 300_000 })
const api = useApi()
let world: World

beforeAll(async () => {
  world = await buildWorld(api)
})

test('row level security alone lets nothing through to another account', { timeout: leakTimeoutMs }, async () => {
  const { asked, ownSeen, problems } = await findLeaks(world, { isShared: true })
  expect(problems).toEqual([])
  expect(asked).toBeGreaterThan(1_000)
  expect(ownSeen).toBeGreaterThan(100)
})

// Last in this file: there is no way back. It also shows that the predicate really is gone above.
test('with both walls down the same questions do find leaks, in reads and in writes', {
  timeout: leakTimeoutMs,
}, async () => {
  await disableRowLevelSecurity(api)
  const { problems } = await findLeaks(world, {
    about: /^\/(api-key-pairs|audit-logs|merchant-accounts)/,
    isShared: true,
  })
  expect(problems).toContainEqual(expect.stringMatching(/GET \/api-key-pairs\?limit=100.*shows /))
  expect(problems).toContainEqual(expect.stringMatching(/GET \/audit-logs\?limit=100.*shows /))
  expect(problems).toContainEqual(expect.stringMatching(/GET \/merchant-accounts\/isolated-\w+-\w+ .*shows /))
  expect(problems).toContainEqual(expect.stringMatching(/changed or removed api_key_pairs /))
})
