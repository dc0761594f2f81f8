import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { styleText } from 'node:util'

/** Everything CI checks beside the tests. `npm run check` is the whole list; names as arguments run some of it. */
const root = join(import.meta.dirname, '..')
const migrations = readdirSync(join(root, 'migrations'))
  .filter((file) => /^\d/.test(file))
  .map((file) => `migrations/${file}`)

const checks: Record<string, readonly string[]> = {
  format: ['biome', 'format', '.'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  types: ['tsc', '-p', '.'],
  // With the types of the web alone: what only Node has is an error.
  sdk: ['tsc', '-p', 'packages/sdk', '--noEmit'],
  unused: ['knip'],
  generated: ['node', 'scripts/generate.ts', '--check'],
  icons: ['node', 'scripts/card-scheme-icons.ts', '--check'],
  openapi: ['redocly', 'lint', 'openapi.json'],
  migrations: ['squawk', ...migrations],
  schema: ['node', 'scripts/schema.ts', '--check'],
  documents: ['node', 'scripts/documents.ts'],
}

function run([command = '', ...args]: readonly string[]): Promise<{ code: number; output: string }> {
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
  const env = { ...process.env, PATH: path, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', (error) => resolve({ code: 1, output: error.message }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

const wanted = process.argv.slice(2)
let failed = 0
let passed = 0
for (const [name, command] of Object.entries(checks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const start = performance.now()
  const { code, output } = await run(command)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  if (code === 0) passed += 1
  else failed += 1
  console.log(
    `${code === 0 ? styleText('green', 'ok    ') : styleText('red', 'FAILED')} ${name.padEnd(12)} ${seconds} s`,
  )
  if (code !== 0) console.log(output)
}
console.log(`checks: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
