import { expect, test } from 'vitest'
import { runBench } from './run-bench.ts'

/* Short forms of what is measured of webhooks. What is counted decides here; no timing does. */

test('while four endpoints hang, fail, drip and flood, the others are told everything, and memory stays bounded', async () => {
  const { code, report, stderr } = await runBench(
    'bench/webhook-isolation.ts --rounds 1 --seconds 2 --endpoints 12'.split(' '),
  )
  expect(report, stderr).toMatchObject({
    proof: 'webhook-isolation',
    endpoints: 12,
    bad: ['hang', 'error', 'drip', 'gigabyte'],
    missing: 0,
    ratio: expect.any(Number),
  })
  const attempts = report['attempts_on_bad'] as Record<string, number>
  for (const behaviour of ['hang', 'error', 'drip', 'gigabyte']) expect(attempts[behaviour]).toBeGreaterThan(0)
  const { growth } = report['memory_megabytes'] as { growth: number }
  expect(growth).toBeLessThan(200)
  expect(code).toBe(report['passed'] ? 0 : 1)
})

test('deliveries that were parked are sent when their endpoint is back, the oldest first', async () => {
  const { code, report, stderr } = await runBench(
    'bench/webhook-parked.ts --parked 3000 --drained 2000 --rounds 1 --seconds 2 --rate 50'.split(' '),
  )
  expect(report, stderr).toMatchObject({
    proof: 'webhook-parked',
    parked: 3000,
    p99_ratio: expect.any(Number),
    drained_lost: 0,
  })
  expect(report['drained']).toBeGreaterThanOrEqual(2000)
  expect(report['drained_most_ahead']).toBeLessThanOrEqual(224)
  expect(code).toBe(report['passed'] ? 0 : 1)
})

test('bench:webhooks: four rows for a delivery, few more where it waits; no figure of time decides in CI', async () => {
  const { code, report, stderr } = await runBench('bench/webhooks.ts --rates 20,200 --rounds 1 --seconds 1'.split(' '))
  expect(report, stderr).toMatchObject({ bench: 'webhooks', passed: expect.any(Boolean) })
  const rate = {
    lag_ms: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
    per_delivery: { statements: expect.any(Number), sender_cpu_ms: expect.any(Number) },
  }
  const audiences = report['audiences'] as { subscriptions: number; rows_per_delivery: number; rates: object[] }[]
  expect(audiences.map(({ subscriptions }) => subscriptions)).toEqual([1, 10, 1])
  for (const { rows_per_delivery: rows, rates } of audiences) {
    expect(rates).toMatchObject([rate, rate])
    // The delivery, its attempt, the delivery again, and the queue's row or a part of it; a claim where there is no room at once.
    expect(rows).toBeGreaterThanOrEqual(3)
    expect(rows).toBeLessThanOrEqual(5.5)
  }
  expect(code).toBe(report['passed'] ? 0 : 1)
})
