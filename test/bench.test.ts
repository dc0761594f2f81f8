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
