import { expect, test } from 'vitest'
import { useApi } from './api.ts'
import { runStorm } from './notification-storm/run.ts'
import { useJanitor } from './simulator-rules.ts'

const api = useApi()
const janitor = useJanitor(api)

const seed = Number(process.env['STORM_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test(`hundreds of forged, replayed, duplicated, reordered and late messages never have a second effect (seed ${seed})`, {
  timeout: 300_000,
}, async () => {
  for (const account of ['measure', 'storm-a', 'storm-b']) await api.makeAccount(account)
  const report = await runStorm(
    {
      url: api.url(),
      request: (account, method, path, options) =>
        api.request(method, path, { ...options, headers: { 'X-Service-Merchant-Account-ID': account } }),
      query: api.database.query as never,
      differences: janitor.differences,
    },
    { messages: 600, seed, rounds: 2 },
  )
  expect(report.violations).toEqual([])
  expect(report.settled).toBeGreaterThan(10)
  expect(report.taken).toBeGreaterThan(100)
  expect(report.refused).toBeGreaterThan(100)
})
