import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
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
import { type Cluster, startCluster } from '../src/cli/postgres-cluster.ts'
import { signToken } from '../src/cli/sign-token.ts'
import { migrate } from '../src/platform/migrations.ts'
import { connect } from '../src/platform/postgres.ts'

/**
 * Many requests store a card under one external identifier at the same moment, on two apis: exactly one may succeed, all
 * others must name it, and the vault may keep its number only.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    requests: { type: 'string', default: '200' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run proof:card-races -- [--rounds 100] [--requests 200]\n\nExample: npm run proof:card-races -- --rounds 5',
  )
  process.exit(0)
}
const rounds = Number(options.rounds)
const requests = Number(options.requests)
const fullAccess = '01900000-0000-7000-8000-00000000000c'
const note = (line: string) => process.stderr.write(`${line}\n`)

interface Started {
  child: ChildProcess
  address: string
}

/** Fails with what it wrote when it ends before it serves. */
async function start(entry: string, environment: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main', entry)], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, found] = /"address":"([^"]+)","message":"(?:guarding|listening)"/.exec(line) ?? []
      if (found) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`${entry} ended with ${code}`)))
  })
  return { child, address }
}

async function makeToken(databaseUrl: string): Promise<string> {
  const db = connect({ url: databaseUrl, applicationName: 'proof', poolSize: 1, onError: () => undefined })
  const ctx = commandLineContext(db, 'proof')
  await createMerchantAccount(ctx, { id: 'default', display_name: 'Default' })
  const { private_key } = await createAPIKeyPair(ctx, {
    display_name: 'Proof',
    role_ids: [fullAccess],
    merchant_account_ids: ['default'],
  })
  await db.close()
  return await signToken({ privateKeyPem: private_key ?? '', lifetimeSeconds: 24 * 60 * 60 })
}

interface Answer {
  status: number
  body: { id?: string; resource_id?: string }
}

function store(url: string, { agent, token }: { agent: Agent; token: string }, identifier: string): Promise<Answer> {
  const card = { method: 'card', number: '4111111111111111', expiration_date: '12/30', external_identifier: identifier }
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    request(`${url}/payment-methods`, { agent, method: 'POST', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }),
      )
    })
      .once('error', reject)
      .end(JSON.stringify(card))
  })
}

/** What is wrong with the answers of one round. */
function judge(round: number, answers: readonly Answer[]): string[] {
  const problems: string[] = []
  const stored = answers.filter(({ status }) => status === 201)
  const refused = answers.filter(({ status }) => status === 409)
  const others = answers.filter(({ status }) => status !== 201 && status !== 409).map(({ status }) => status)
  if (stored.length !== 1) problems.push(`round ${round}: ${stored.length} × 201`)
  if (others.length > 0) problems.push(`round ${round}: also answered ${others.join(', ')}`)
  const strangers = refused.filter(({ body }) => body.resource_id !== stored[0]?.body.id)
  if (strangers.length > 0) problems.push(`round ${round}: ${strangers.length} × 409 with another id`)
  return problems
}

/** Either way round: a number without its card, a card without its number. */
async function storageProblems(cluster: Cluster): Promise<string[]> {
  const client = new pg.Client({ connectionString: cluster.url() })
  await client.connect()
  const { rows } = await client.query<{ cards: number; orphans: number; empty: number }>(`
    select (select count(*)::int from payment_methods) as cards,
      (select count(*)::int from vault.secrets where id not in (select id from payment_methods)) as orphans,
      (select count(*)::int from payment_methods where id not in (select id from vault.secrets)) as empty`)
  await client.end()
  const [found] = rows
  return [
    ...(found?.cards === rounds ? [] : [`${found?.cards} cards after ${rounds} rounds`]),
    ...(found?.orphans === 0 ? [] : [`${found?.orphans} numbers without a card`]),
    ...(found?.empty === 0 ? [] : [`${found?.empty} cards without a number`]),
  ]
}

const folder = mkdtempSync(join(tmpdir(), 'fcr-'))
const cluster = await startCluster({ fast: true, maxConnections: 100 })
const children: ChildProcess[] = []
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
  const environment = {
    DATABASE_URL: databaseUrl,
    FLORIN_CURSOR_KEYS: randomBytes(32).toString('base64'),
    FLORIN_PORT: '0',
    FLORIN_VAULT_URL: vault.address,
  }
  const apis = await Promise.all([start('api.ts', environment), start('api.ts', environment)])
  children.push(vault.child, ...apis.map(({ child }) => child))

  const caller = { agent: new Agent({ keepAlive: true }), token }
  const violations: string[] = []
  const began = performance.now()
  for (let round = 1; round <= rounds; round += 1) {
    const identifier = randomUUID()
    const calls = Array.from({ length: requests }, (_, index) =>
      store(apis[index % apis.length]?.address ?? '', caller, identifier),
    )
    violations.push(...judge(round, await Promise.all(calls)))
    if (round % 10 === 0) note(`round ${round} of ${rounds}, ${violations.length} violations`)
  }
  const seconds = (performance.now() - began) / 1000
  caller.agent.destroy()
  violations.push(...(await storageProblems(cluster)))
  for (const violation of violations.slice(0, 20)) note(violation)
  const passed = violations.length === 0
  console.log(
    JSON.stringify({
      proof: 'card-races',
      rounds,
      requests: rounds * requests,
      violations: violations.length,
      seconds: Number(seconds.toFixed(1)),
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
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
