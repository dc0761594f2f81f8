import { expect, test } from 'vitest'
import type { SizeFigures } from '../bench/list/report.ts'
import { ListTransactionsQuery } from '../src/areas/transactions/schema/filters.ts'
import { runBench } from './run-bench.ts'

const filterNames = Object.keys(ListTransactionsQuery.properties)
  .filter((name) => name !== 'cursor' && name !== 'limit')
  .sort()

/** Of the two whose figures decide nothing here, one, by chance. */
const chosen = Math.random() < 0.5 ? 'auth' : 'webhook-lanes'

if (chosen === 'auth')
  test('bench:auth runs and reports its figures; in CI no figure decides', async () => {
    const { report } = await runBench(['bench/auth.ts', '--rounds', '1', '--seconds', '1', '--tokens', '50'])
    expect(report).toMatchObject({ bench: 'auth', ratio: expect.any(Number), passed: expect.any(Boolean) })
    expect(report['fresh_token_per_second']).toBeGreaterThan(0)
  })

test('bench:cards runs and reports its figures; in CI no figure decides', async () => {
  const { code, report, stderr } = await runBench('bench/cards.ts --rounds 1 --seconds 1 --connections 4'.split(' '))
  expect(report, stderr).toMatchObject({
    bench: 'cards',
    connections: 4,
    ratio: expect.any(Number),
    latency_ms: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
    cpu_ms_per_card: { api: expect.any(Number), vault: expect.any(Number), postgresql: expect.any(Number) },
    time_ms: { total: expect.any(Number), vault_call: expect.any(Number), insert_and_answer: expect.any(Number) },
    passed: expect.any(Boolean),
  })
  for (const figure of ['cards_per_second', 'pgbench_per_second', 'commits_per_card']) {
    expect(report[figure]).toBeGreaterThan(0)
  }
  // Batches make it less; more would be a statement that crept in.
  const { api, vault } = report['round_trips_per_card'] as { api: number; vault: number }
  expect(api).toBeLessThan(1.5)
  expect(vault).toBeLessThan(1.5)
  expect(code).toBe(report['passed'] ? 0 : 1)
})

test('bench:pay: 3 commits and 10 round trips at most; no other figure decides in CI', async () => {
  const { code, report, stderr } = await runBench(
    'bench/pay.ts --rounds 1 --seconds 1 --connections 4 --tokens 50'.split(' '),
  )
  const percentiles = { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) }
  expect(report, stderr).toMatchObject({
    bench: 'pay',
    connections: 4,
    ratio: expect.any(Number),
    fresh_token_per_second: expect.any(Number),
    latency_ms: percentiles,
    own_time_ms: percentiles,
    cpu_ms_per_payment: { api: expect.any(Number), vault: expect.any(Number), postgresql: expect.any(Number) },
    passed: expect.any(Boolean),
  })
  expect(report['payments_per_second']).toBeGreaterThan(0)
  expect(report['pgbench_per_second']).toBeGreaterThan(0)
  // These are counted, not timed.
  expect(report['commits_per_payment']).toBeLessThanOrEqual(3)
  const { api_one_at_a_time: alone } = report['round_trips_per_payment'] as { api_one_at_a_time: number }
  expect(alone).toBeLessThanOrEqual(10)
  expect(code).toBe(report['passed'] ? 0 : 1)
})

test('bench:list: every filter finds the rows that its values promise; no timing decides in CI', {
  timeout: 300_000,
}, async () => {
  const { code, report, stderr } = await runBench(
    'bench/list.ts --rows 1000 --times 1 --combinations 10 --rounds 1 --seconds 1 --connections 2'.split(' '),
  )
  expect(report, stderr).toMatchObject({
    bench: 'list',
    failed: [],
    passed: true,
  })
  const sizes = report['sizes'] as SizeFigures[]
  expect(sizes.map(({ rows }) => rows)).toEqual([1_000])
  for (const { filters, combinations, wide, pages } of sizes) {
    expect(filters.wrong).toEqual([])
    // All of the specification's and the contract's, without cursor and limit.
    expect(Object.keys(filters.timings).sort()).toEqual(filterNames)
    expect(combinations).toMatchObject({ count: 10, cut: 0 })
    expect(Object.keys(wide)).toHaveLength(7)
    for (const { requests_per_second: rate, bare_per_second: bare } of Object.values(pages)) {
      expect(rate).toBeGreaterThan(0)
      expect(bare).toBeGreaterThan(0)
    }
  }
  expect(code).toBe(0)
})

test('bench:list-writes: what each index costs; no figure decides in CI', async () => {
  const { code, report, stderr } = await runBench(
    'bench/list-writes.ts --rows 2000 --payments 100 --rounds 1'.split(' '),
  )
  const cost = { cpu_us: expect.any(Number), wal_bytes: expect.any(Number) }
  expect(report, stderr).toMatchObject({
    bench: 'list-writes',
    rows: 2000,
    with_findings: cost,
    without_findings: cost,
  })
  const indexes = report['indexes'] as { name: string; insert: object; update: object }[]
  expect(indexes.length).toBeGreaterThan(20)
  for (const index of indexes)
    expect(index).toMatchObject({ insert: cost, update: cost, disk_bytes: expect.any(Number) })
  // Counted, not timed: what it is found by cannot be free.
  const [present, absent] = ['with_findings', 'without_findings'].map((name) => report[name] as { wal_bytes: number })
  expect(present?.wal_bytes).toBeGreaterThan(absent?.wal_bytes ?? 0)
  for (const { name } of indexes) expect(stderr).toContain(`| \`${name}\` |`)
  expect(code).toBe(0)
})

test('proof:walks runs and finds nothing wrong; in CI no rate decides', async () => {
  const { code, report, stderr } = await runBench(
    'bench/walks.ts --seconds 1 --floor 0 --rate 100 --rows 500'.split(' '),
  )
  expect(report, stderr).toMatchObject({ proof: 'walks', missed: 0, repeated: 0, strange: 0, passed: true })
  expect(report['inserted']).toBeGreaterThan(0)
  expect(code).toBe(0)
})

if (chosen === 'webhook-lanes')
  test('bench:webhook-lanes runs both lanes; no figure decides in CI', async () => {
    const { code, report, stderr } = await runBench(
      'bench/webhook-lanes.ts --rates 50 --rounds 1 --seconds 1 --senders 1'.split(' '),
    )
    const lane = {
      lag_ms: { p50: expect.any(Number), p99: expect.any(Number) },
      per_delivery: { postgresql_cpu_ms: expect.any(Number), wal_bytes: expect.any(Number) },
    }
    expect(report, stderr).toMatchObject({ bench: 'webhook-lanes', wanted_rates: [50], passed: true })
    for (const figures of report['rates'] as object[]) expect(figures).toMatchObject({ postgresql: lane, nats: lane })
    expect(code).toBe(0)
  })
