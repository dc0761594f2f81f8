import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * `npm run proof:sdk`: the package as it is published, looked at by publint and are-the-types-wrong, and used in Deno against a Florin that is started
 * for it. The tools are installed into a temporary folder: 60 packages that nothing else needs.
 */
const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'florin-sdk-'))
const tools = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5', 'deno@2.9.6']

const run = (command: string, args: readonly string[], cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

function attempt(command: string, args: readonly string[]): { passed: boolean; output: string } {
  try {
    return { passed: true, output: run(command, args) }
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    console.error(stdout, stderr)
    return { passed: false, output: '' }
  }
}

/** A Florin that keeps nothing, and what its first line says. */
async function startFlorin() {
  const child = spawn('node', ['src/main/florin.ts', 'dev', '--json', '--port', '0', '--ephemeral'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, ...(JSON.parse(line) as { base_url: string; token: string }) }
  }
  throw new Error('florin dev ended before it was ready')
}

const use = `
import { Florin } from '@florin/sdk'
const florin = new Florin({ baseUrl: Deno.args[0], token: Deno.args[1] })
const signer = new Florin({ baseUrl: Deno.args[0], privateKey: (await florin.apiKeyPairs.create({ display_name: 'deno', role_ids: [Deno.args[2]] })).private_key })
const payment_method = { method: 'card', number: '4111111111111111', expiration_date: '12/30' }
const payment = await signer.transactions.create({ amount: 1299, currency: 'EUR', intent: 'capture', payment_method })
await signer.transactions.refunds.create(payment.id, { amount: 500 })
const refunds = []
for await (const refund of signer.transactions.refunds.list(payment.id)) refunds.push(refund.amount)
console.log(JSON.stringify({ status: payment.status, refunds }))
`

try {
  run('npm', ['run', 'build', '--workspace', 'packages/sdk'], root)
  const dist = join(root, 'packages/sdk/dist')
  run('npm', ['pack', '--pack-destination', folder], dist)
  const archive = join(folder, readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? '')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  run('npm', ['install', '--no-audit', '--no-fund', archive, ...tools])
  const bin = (name: string) => join(folder, 'node_modules/.bin', name)

  const publint = attempt(bin('publint'), ['--strict', archive]).passed
  const types = attempt(bin('attw'), [archive, '--profile', 'esm-only']).passed
  writeFileSync(join(folder, 'use.mjs'), use)
  const florin = await startFlorin()
  const full = '01900000-0000-7000-8000-00000000000c'
  // The package's own start file fetches what an install script would have put there; npm has brought the program itself.
  const [system = ''] = readdirSync(join(folder, 'node_modules/@deno'))
  const deno = join(folder, 'node_modules/@deno', system, 'deno')
  const used = attempt(deno, ['run', '--allow-net', 'use.mjs', florin.base_url, florin.token, full])
  florin.child.kill()
  const result = JSON.parse(used.output || '{}') as { status?: string; refunds?: number[] }
  const passed = publint && types && result.status === 'capture_succeeded' && result.refunds?.join() === '500'
  console.log(JSON.stringify({ proof: 'sdk', passed, publint, types, deno: result }))
  process.exitCode = passed ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
