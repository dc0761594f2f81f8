import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { createAPIKeyPair } from '../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import { commandLineContext } from '../src/cli/command-line-context.ts'
import { type Cluster, startCluster } from '../src/cli/postgres-cluster.ts'
import { signToken } from '../src/cli/sign-token.ts'
import { migrate } from '../src/platform/migrations.ts'
import { connect, type Database } from '../src/platform/postgres.ts'
import { sql } from '../src/platform/sql.ts'
import { cpuOf, cpuOfFamily } from './cpu.ts'
import { type Load, load } from './http-load.ts'

/**
 * Cards stored a second through the API, against what PostgreSQL itself commits when pgbench sends it the same rows
 * (bench/cards.pgbench.sql), in turns on one cluster that really writes to disk.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    pool: { type: 'string', default: '10' },
    'node-options': { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run bench:cards -- [--rounds 5] [--seconds 5] [--connections 32] [--pool 10] [--node-options=--cpu-prof]\n\nExample: npm run bench:cards -- --rounds 3 --seconds 2',
  )
  process.exit(0)
}
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const connections = Number(options.connections)
const ratioFloor = 0.4
const root = join(import.meta.dirname, '..')
const fullAccess = '01900000-0000-7000-8000-00000000000c'

const note = (line: string) => process.stderr.write(`${line}\n`)
/** Of an even count the lower of the two in the middle: in doubt against us. */
const median = (numbers: readonly number[]) =>
  numbers.toSorted((left, right) => left - right)[Math.floor((numbers.length - 1) / 2)] ?? 0
const round = (number: number, digits: number) => Number(number.toFixed(digits))

interface Server {
  child: ChildProcess
  /** What it said it listens on. */
  address: string
}

/** Its log goes into a file, as it would under a supervisor. */
async function startServer(name: 'api' | 'vault', environment: Record<string, string>, probed: boolean) {
  const logFile = join(folder, `${name}.log`)
  writeFileSync(logFile, '')
  const log = openSync(logFile, 'a')
  const hooks = probed
    ? ['--import', join(root, 'bench/cards-probe.ts')]
    : options['node-options'].split(' ').filter((option) => option !== '')
  const child = spawn(process.execPath, [...hooks, join(root, `src/main/${name}.ts`)], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_ENV: 'production',
      FLORIN_ENVIRONMENT: 'production',
      FLORIN_DATABASE_POOL_SIZE: options.pool,
      ...environment,
    },
    stdio: probed ? ['ignore', log, 'inherit', 'ipc'] : ['ignore', log, 'inherit'],
  })
  const deadline = Date.now() + 20_000
  for (;;) {
    const found = /"address":"([^"]+)","message":"(?:listening|guarding)"/.exec(readFileSync(logFile, 'utf8'))
    if (found?.[1]) return { child, address: found[1] } satisfies Server
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the ${name} did not start`)
    await delay(50)
  }
}

const running: ChildProcess[] = []
const keyFile = (path: string) => {
  writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o600 })
  return path
}

async function startServers(cluster: Cluster, key: string, probed: boolean) {
  const listen = `unix:${join(folder, 'v.sock')}`
  const vault = await startServer(
    'vault',
    { DATABASE_URL: cluster.url({ user: 'florin_vault' }), FLORIN_KEY_FILE: key, FLORIN_VAULT_LISTEN: listen },
    probed,
  )
  running.push(vault.child)
  const api = await startServer(
    'api',
    {
      DATABASE_URL: cluster.url({ user: 'florin_api' }),
      FLORIN_CURSOR_KEYS: randomBytes(32).toString('base64'),
      FLORIN_PORT: '0',
      FLORIN_VAULT_URL: vault.address,
    },
    probed,
  )
  running.push(api.child)
  return { vault: vault.child, api: api.child, port: Number(new URL(api.address).port) }
}

async function stopServers(): Promise<void> {
  for (const child of running.splice(0).reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
}

/** Of nobody: the last digit makes the number valid. */
function newNumber(): string {
  const digits = `400000${String(randomInt(1_000_000_000)).padStart(9, '0')}`
  let sum = 0
  for (const [index, digit] of digits.split('').entries()) {
    const value = index % 2 === 0 ? Number(digit) * 2 : Number(digit)
    sum += value > 9 ? value - 9 : value
  }
  return `${digits}${(10 - (sum % 10)) % 10}`
}

function storeCards(port: number, token: string, duration = seconds): Promise<Load> {
  const head =
    `POST /payment-methods HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
    'content-type: application/json\r\ncontent-length: '
  const makeRequest = () => {
    const body = `{"method":"card","number":"${newNumber()}","expiration_date":"12/30","security_code":"123"}`
    return `${head}${body.length}\r\n\r\n${body}`
  }
  return load({ port, connections, seconds: duration, makeRequest, wantedStatus: 201 })
}

async function runPgbench(cluster: Cluster, script: string): Promise<number> {
  const args = ['-n', '-M', 'prepared', '-c', String(connections), '-j', '2', '-T', String(Math.ceil(seconds))]
  const { stdout } = await promisify(execFile)(
    join(cluster.binaries.directory, 'pgbench'),
    [...args, '-f', script, cluster.url()],
    { env: { ...process.env, PGCONNECT_TIMEOUT: '10' } },
  )
  const tps = /^tps = ([\d.]+)/m.exec(stdout)?.[1]
  if (tps === undefined) throw new Error(`pgbench said:\n${stdout}`)
  return Number(tps)
}

async function prepare(cluster: Cluster): Promise<string> {
  const db = connect({
    url: cluster.url({ user: 'florin_api' }),
    applicationName: 'bench',
    poolSize: 1,
    onError: () => undefined,
  })
  const ctx = commandLineContext(db, 'bench')
  await createMerchantAccount(ctx, { id: 'default', display_name: 'Default' })
  const { private_key } = await createAPIKeyPair(ctx, {
    display_name: 'Bench',
    role_ids: [fullAccess],
    merchant_account_ids: ['default'],
  })
  await db.close()
  return signToken({ privateKeyPem: private_key ?? '' })
}

interface Totals {
  roundTrips: number
  beforeVaultMs: number
  vaultCallMs: number
  afterVaultMs: number
}

async function totalsOf(child: ChildProcess): Promise<Totals> {
  const told = once(child, 'message')
  child.send('totals')
  const [totals] = (await told) as [Totals]
  return totals
}

async function countersOf(admin: Database) {
  const [row] = await admin.run<{ commits: number; flushes: number }>(sql`
    select xact_commit as commits, (select wal_sync from pg_stat_wal) as flushes
    from pg_stat_database where datname = current_database()`)
  return { commits: row?.commits ?? 0, flushes: row?.flushes ?? 0 }
}

const countCards = async (admin: Database) =>
  (await admin.run<{ count: number }>(sql`select count(*) from payment_methods`))[0]?.count ?? 0

/** What a card costs, in a run that counts and is slower for it. */
async function countCosts(cluster: Cluster, admin: Database, key: string, token: string) {
  const [before, cardsBefore] = [await countersOf(admin), await countCards(admin)]
  const { api, vault, port } = await startServers(cluster, key, true)
  await storeCards(port, token, Math.min(1, seconds))
  const [apiBefore, vaultBefore] = [await totalsOf(api), await totalsOf(vault)]
  const run = await storeCards(port, token)
  const [apiAfter, vaultAfter] = [await totalsOf(api), await totalsOf(vault)]
  // PostgreSQL's processes hand in their counts when they end.
  await stopServers()
  await delay(500)
  const [after, cardsAfter] = [await countersOf(admin), await countCards(admin)]
  const each = (total: number) => round(total / run.answers, 2)
  const meanMs = each(run.latencies.reduce((left, right) => left + right, 0))
  const time = {
    before_vault: each(apiAfter.beforeVaultMs - apiBefore.beforeVaultMs),
    vault_call: each(apiAfter.vaultCallMs - apiBefore.vaultCallMs),
    insert_and_answer: each(apiAfter.afterVaultMs - apiBefore.afterVaultMs),
  }
  return {
    commits_per_card: round((after.commits - before.commits) / (cardsAfter - cardsBefore), 2),
    wal_flushes_per_card: round((after.flushes - before.flushes) / (cardsAfter - cardsBefore), 2),
    round_trips_per_card: {
      api: each(apiAfter.roundTrips - apiBefore.roundTrips),
      vault: each(vaultAfter.roundTrips - vaultBefore.roundTrips),
    },
    // Everything takes a little longer in this run.
    time_ms: {
      total: meanMs,
      ...time,
      outside_the_api: round(meanMs - time.before_vault - time.vault_call - time.insert_and_answer, 2),
    },
  }
}

const folder = mkdtempSync(join(tmpdir(), 'fcb-'))
const cluster = await startCluster({ dataDirectory: join(folder, 'pg') })
const admin = connect({ url: cluster.url(), applicationName: 'bench', poolSize: 1, onError: () => undefined })
try {
  await migrate(cluster.url())
  await admin.pool.query(readFileSync(join(root, 'bench/cards.setup.sql'), 'utf8'))
  const token = await prepare(cluster)
  const key = keyFile(join(folder, 'key'))
  const script = join(root, 'bench/cards.pgbench.sql')
  const postmaster = Number(readFileSync(join(cluster.directory, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  const { api, vault, port } = await startServers(cluster, key, false)
  note('warming up')
  await storeCards(port, token)
  await runPgbench(cluster, script)

  const rates = { api: [] as number[], pgbench: [] as number[] }
  const latencies: number[] = []
  const cpu = { api: 0, vault: 0, postgresql: 0, load: 0, pgbench: 0 }
  let pgbenchCards = 0
  for (let count = 1; count <= rounds; count += 1) {
    // Alternating, so that whatever else the machine does falls on both.
    const pids = () =>
      [cpuOf(api.pid ?? 0), cpuOf(vault.pid ?? 0), cpuOfFamily(postmaster), cpuOf(process.pid)] as const
    const [api0, vault0, postgres0, load0] = pids()
    const run = await storeCards(port, token)
    const [api1, vault1, postgres1, load1] = pids()
    cpu.api += api1 - api0
    cpu.vault += vault1 - vault0
    cpu.postgresql += postgres1 - postgres0
    cpu.load += load1 - load0
    for (const latency of run.latencies) latencies.push(latency)
    const stored = run.answers / run.seconds
    const bare = await runPgbench(cluster, script)
    cpu.pgbench += cpuOfFamily(postmaster) - postgres1
    pgbenchCards += bare * Math.ceil(seconds)
    rates.api.push(stored)
    rates.pgbench.push(bare)
    note(`round ${count} of ${rounds}: ${Math.round(stored)} cards/s through the API, ${Math.round(bare)}/s by pgbench`)
  }
  await stopServers()

  note('counting')
  const costs = await countCosts(cluster, admin, key, token)
  const cards = latencies.length
  const sorted = latencies.sort((left, right) => left - right)
  const at = (share: number) => round(sorted[Math.floor(sorted.length * share)] ?? 0, 2)
  const ratio = median(rates.api.map((rate, index) => rate / (rates.pgbench[index] ?? 0)))
  const passed = ratio >= ratioFloor
  console.log(
    JSON.stringify({
      bench: 'cards',
      connections,
      cards_per_second: Math.round(median(rates.api)),
      pgbench_per_second: Math.round(median(rates.pgbench)),
      ratio: round(ratio, 3),
      ratio_floor: ratioFloor,
      latency_ms: { p50: at(0.5), p95: at(0.95), p99: at(0.99) },
      cpu_ms_per_card: {
        api: round(cpu.api / cards, 3),
        vault: round(cpu.vault / cards, 3),
        postgresql: round(cpu.postgresql / cards, 3),
        load: round(cpu.load / cards, 3),
        postgresql_by_pgbench: round(cpu.pgbench / pgbenchCards, 3),
      },
      ...costs,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await stopServers()
  await admin.close()
  await cluster.stop()
  rmSync(cluster.directory, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}
