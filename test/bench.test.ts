import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

test('bench:auth runs and reports its figures; in CI no figure decides', async () => {
  const output = await new Promise<string>((resolve) => {
    const args = ['bench/auth.ts', '--rounds', '1', '--seconds', '1', '--tokens', '50']
    execFile(process.execPath, args, { cwd: root }, (_error, stdout) => resolve(stdout))
  })
  const report = JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>
  expect(report).toMatchObject({ bench: 'auth', ratio: expect.any(Number), passed: expect.any(Boolean) })
  expect(report['fresh_token_per_second']).toBeGreaterThan(0)
})

test('bench:cards runs and reports its figures; in CI no figure decides', { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const args = ['bench/cards.ts', '--rounds', '1', '--seconds', '1', '--connections', '4']
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
  const report = JSON.parse(stdout.trim().split('\n').at(-1) || '{}') as Record<string, unknown>
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
