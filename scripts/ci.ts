import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Checks, then tests, then one plain line that counts both. */
const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'florin-ci-'))
const report = join(scratch, 'tests.json')
const run = (command: string, args: readonly string[]) =>
  spawnSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })

const checks = run('node', ['scripts/check.ts'])
process.stdout.write(checks.stdout)
const [, checksPassed = '0', checksFailed = '1'] = /^checks: (\d+) passed, (\d+) failed$/m.exec(checks.stdout) ?? []

const tests = spawnSync('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`], {
  cwd: root,
  stdio: 'inherit',
})
let counts = { numPassedTests: 0, numFailedTests: 0, numFailedTestSuites: 0, numPendingTests: 0 }
try {
  counts = JSON.parse(readFileSync(report, 'utf8')) as typeof counts
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
// A file that fails to load has no failed test of its own, and a run that crashed has no count at all.
const testsFailed = tests.status === 0 ? 0 : Math.max(1, counts.numFailedTests)
const passed = Number(checksPassed) + counts.numPassedTests
const failed = Number(checksFailed) + testsFailed + counts.numPendingTests
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
