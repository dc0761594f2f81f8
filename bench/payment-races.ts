import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createAPIKeyPair } from '../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import { commandLineContext } from '../src/cli/command-line-context.ts'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { signToken } from '../src/cli/sign-token.ts'
import { migrate } from '../src/platform/migrations.ts'
import { connect } from '../src/platform/postgres.ts'
import { type Answer, type Arena, kindNames, runRound, type Send, serviceBody } from '../test/payment-races.ts'

/**
 * Many requests about one payment at the same moment, on two apis with a real vault: captures against voids, refunds of more than there
 * is, the same idempotency key. After each round our records, the API's answers and the provider's books must agree.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1000' },
    wide: { type: 'string', default: '100' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run proof:payment-races -- [--rounds 1000] [--wide 100]\n\nExample: npm run proof:payment-races -- --rounds 24',
  )
  process.exit(0)
}
const rounds = Number(options.rounds)
const wide = Number(options.wide)
const allowance = 100
const fullAccess = '01900000-0000-7000-8000-00000000000c'
const note = (line: string) => process.stderr.write(`${line}\n`)

interface Started {
  child: ChildProcess
  address: string
}

/** Fails with what it wrote when it ends before it serves. */
async function start(entry: string, environment: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main', entry)], {
    env: { PATH: process.env['PATH'], FLORIN_LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, found] = /"address":"([^"]+)","message":"(?:guarding|listening)"/.exec(line) ?? []
      if (found) resolve(found)
      // What a 500 was about.
      if (line.includes('"level":"error"')) note(line)
    })
    child.once('exit', (code) => reject(new Error(`${entry} ended with ${code}`)))
  })
  return { child, address }
}

async function makeToken(databaseUrl: string): Promise<string> {
  const db = connect({ url: databaseUrl, applicationName: 'proof', poolSize: 1, onError: () => undefined })
  const ctx = commandLineContext(db, 'proof')
  await createMerchantAccount(ctx, { id: 'default', display_name: 'Default', over_capture_amount: allowance })
  const { private_key } = await createAPIKeyPair(ctx, {
    display_name: 'Proof',
    role_ids: [fullAccess],
    merchant_account_ids: ['default'],
  })
  await db.close()
  return await signToken({ privateKeyPem: private_key ?? '', lifetimeSeconds: 24 * 60 * 60 })
}

/** In turn to each api. */
function sender(urls: readonly string[], token: string, agent: Agent): Send {
  let turn = 0
  return (method, path, { body, key } = {}) => {
    const url = urls[(turn += 1) % urls.length] ?? ''
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    }
    return new Promise<Answer>((resolve, reject) => {
      request(url + path, { agent, method, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.once('error', reject)
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
        .once('error', reject)
        .end(body && JSON.stringify(body))
    })
  }
}

const folder = mkdtempSync(join(tmpdir(), 'fpr-'))
const cluster = await startCluster({ fast: true, maxConnections: 100 })
const children: ChildProcess[] = []
const pool = new pg.Pool({ connectionString: cluster.url(), max: 2 })
pool.on('error', () => undefined)
const agent = new Agent({ keepAlive: true })
try {
  await migrate(cluster.url())
  const databaseUrl = cluster.url({ user: 'florin_api' })
  const token = await makeToken(databaseUrl)
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 })
  const vault = await start('vault.ts', {
    DATABASE_URL: cluster.url({ user: 'florin_vault' }),
    FLORIN_KEY_FILE: keyFile,
    FLORIN_VAULT_LISTEN: `unix:${join(folder, 'v.sock')}`,
  })
  children.push(vault.child)
  const environment = {
    DATABASE_URL: databaseUrl,
    FLORIN_ENVIRONMENT: 'sandbox',
    FLORIN_CURSOR_KEYS: randomBytes(32).toString('base64'),
    FLORIN_PORT: '0',
    FLORIN_VAULT_URL: vault.address,
  }
  const apis = await Promise.all([start('api.ts', environment), start('api.ts', environment)])
  children.push(...apis.map(({ child }) => child))

  const send = sender(
    apis.map(({ address }) => address),
    token,
    agent,
  )
  const query: Arena['query'] = async (text, values = []) => (await pool.query(text, values)).rows
  const service = await send('POST', '/payment-services', { body: serviceBody })
  if (service.status !== 201) throw new Error(`the payment service was answered ${service.status}: ${service.text}`)
  const arena: Arena = { send, query, wide, allowance }
  const violations: string[] = []
  let requests = 0
  const began = performance.now()
  for (let round = 0; round < rounds; round += 1) {
    const result = await runRound(arena, kindNames[round % kindNames.length] ?? '')
    requests += result.requests
    violations.push(...result.violations.map((violation) => `round ${round + 1}, ${violation}`))
    if ((round + 1) % 50 === 0) note(`round ${round + 1} of ${rounds}, ${violations.length} violations`)
  }
  const seconds = Number(((performance.now() - began) / 1000).toFixed(1))
  for (const violation of violations.slice(0, 30)) note(violation)
  const passed = violations.length === 0
  console.log(
    JSON.stringify({
      proof: 'payment-races',
      rounds,
      wide,
      kinds: kindNames.length,
      requests,
      violations: violations.length,
      seconds,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  agent.destroy()
  await pool.end()
  await Promise.all(
    children.map((child) => {
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      return closed
    }),
  )
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
