import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createAPIKeyPair } from '../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import { commandLineContext } from '../src/cli/command-line-context.ts'
import { type Cluster, startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'
import { connect, type Database } from '../src/platform/postgres.ts'
import { sql } from '../src/platform/sql.ts'
import { codeCache } from '../test/code-cache.ts'
import { cpuOf, cpuOfFamily } from './cpu.ts'

/** What the benches that go through the API share: a cluster that really writes to disk, a vault, an api, and pgbench beside them. */

const root = join(import.meta.dirname, '..')
export const fullAccess = '01900000-0000-7000-8000-00000000000c'

export const note = (line: string) => process.stderr.write(`${line}\n`)
/** Of an even count the lower of the two in the middle: in doubt against us. */
export const median = (numbers: readonly number[]) =>
  numbers.toSorted((left, right) => left - right)[Math.floor((numbers.length - 1) / 2)] ?? 0
export const round = (number: number, digits: number) => Number(number.toFixed(digits))

export function percentiles(numbers: readonly number[]): { p50: number; p95: number; p99: number } {
  const sorted = numbers.toSorted((left, right) => left - right)
  const at = (share: number) => round(sorted[Math.floor(sorted.length * share)] ?? 0, 2)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

export interface Servers {
  api: ChildProcess
  vault: ChildProcess
  port: number
}

export interface ServerOptions {
  /** A module of this folder that is loaded before the servers and answers over IPC. */
  probe?: string
  nodeOptions?: string
  /** Default: the one that `prepare` prepares. */
  database?: string
}

export interface PgbenchOptions {
  connections: number
  seconds: number
  user?: string
  database?: string
  /** How it sends statements; default `prepared`: planned once. */
  protocol?: 'simple' | 'extended' | 'prepared'
}

export interface Rig {
  cluster: Cluster
  /** As the owner of everything. */
  admin: Database
  /** Migrates the database, runs a script of this folder and makes the account `default`; the private key of a key pair for it. */
  prepare(setup: string): Promise<string>
  startServers(options?: ServerOptions): Promise<Servers>
  /** All that were started. */
  stopServers(): Promise<void>
  /** Runs of the script, of this folder or by its full path, a second. */
  pgbench(script: string, options: PgbenchOptions): Promise<number>
  /** CPU milliseconds so far. */
  cpu(servers: Servers): { api: number; vault: number; postgresql: number; load: number }
  /** Transactions that wrote something, and waits for the disk. */
  counters(): Promise<{ commits: number; flushes: number }>
  close(): Promise<void>
}

export async function startRig(options: {
  environment: 'sandbox' | 'production'
  pool: string
  /** Where the cluster is, and stays. Absent: a new one that `close` removes. */
  data?: string
  /** Of PostgreSQL. */
  settings?: Record<string, string>
}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'fcb-'))
  const cluster = await startCluster({
    dataDirectory: options.data ?? join(folder, 'pg'),
    settings: options.settings ?? {},
  })
  const admin = connect({ url: cluster.url(), applicationName: 'bench', poolSize: 1, onError: () => undefined })
  const postmaster = Number(readFileSync(join(cluster.directory, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  // Stays with the data: what a vault has wrapped with it needs it again.
  const keyFile = join(options.data === undefined ? folder : cluster.directory, 'bench.key')
  if (!existsSync(keyFile)) writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 })
  const running: ChildProcess[] = []
  let started = 0

  /** Its log goes into a file, as it would under a supervisor. */
  async function startServer(
    name: 'api' | 'vault',
    environment: Record<string, string>,
    { probe, nodeOptions = '' }: { probe?: string; nodeOptions?: string },
  ): Promise<{ child: ChildProcess; address: string }> {
    const logFile = join(folder, `${name}-${started}.log`)
    writeFileSync(logFile, '')
    const log = openSync(logFile, 'a')
    const hooks = probe
      ? ['--import', join(root, 'bench', probe)]
      : nodeOptions.split(' ').filter((option) => option !== '')
    const child = spawn(process.execPath, [...hooks, join(root, `src/main/${name}.ts`)], {
      cwd: process.cwd(),
      env: {
        PATH: process.env['PATH'] ?? '',
        ...codeCache,
        NODE_ENV: 'production',
        FLORIN_ENVIRONMENT: options.environment,
        FLORIN_DATABASE_POOL_SIZE: options.pool,
        ...environment,
      },
      stdio: probe ? ['ignore', log, 'inherit', 'ipc'] : ['ignore', log, 'inherit'],
    })
    running.push(child)
    const deadline = Date.now() + 20_000
    for (;;) {
      const found = /"address":"([^"]+)","message":"(?:listening|guarding)"/.exec(readFileSync(logFile, 'utf8'))
      if (found?.[1]) return { child, address: found[1] }
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the ${name} did not start`)
      await delay(50)
    }
  }

  async function stopServers(): Promise<void> {
    for (const child of running.splice(0).reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  }

  return {
    cluster,
    admin,
    async prepare(setup) {
      await migrate(cluster.url())
      await admin.pool.query(readFileSync(join(root, 'bench', setup), 'utf8'))
      return await prepareAccount(cluster)
    },
    async startServers(how = {}) {
      started += 1
      const of = how.database === undefined ? {} : { database: how.database }
      const vault = await startServer(
        'vault',
        {
          DATABASE_URL: cluster.url({ user: 'florin_vault', ...of }),
          FLORIN_KEY_FILE: keyFile,
          FLORIN_VAULT_LISTEN: `unix:${join(folder, `v${started}.sock`)}`,
        },
        how,
      )
      const api = await startServer(
        'api',
        {
          DATABASE_URL: cluster.url({ user: 'florin_api', ...of }),
          FLORIN_CURSOR_KEYS: randomBytes(32).toString('base64'),
          FLORIN_PORT: '0',
          FLORIN_VAULT_URL: vault.address,
        },
        how,
      )
      return { vault: vault.child, api: api.child, port: Number(new URL(api.address).port) }
    },
    stopServers,
    async pgbench(script, { connections, seconds, protocol = 'prepared', ...to }) {
      const args = ['-n', '-M', protocol, '-c', String(connections), '-j', '2', '-T', String(Math.ceil(seconds))]
      const { stdout } = await promisify(execFile)(
        join(cluster.binaries.directory, 'pgbench'),
        [...args, '-f', resolve(root, 'bench', script), cluster.url(to)],
        // As the roles of the servers have it.
        { env: { ...process.env, PGCONNECT_TIMEOUT: '10', PGOPTIONS: '-c jit=off' } },
      )
      const tps = /^tps = ([\d.]+)/m.exec(stdout)?.[1]
      if (tps === undefined) throw new Error(`pgbench said:\n${stdout}`)
      return Number(tps)
    },
    cpu: ({ api, vault }) => ({
      api: cpuOf(api.pid ?? 0),
      vault: cpuOf(vault.pid ?? 0),
      postgresql: cpuOfFamily(postmaster),
      load: cpuOf(process.pid),
    }),
    async counters() {
      const [row] = await admin.run<{ commits: number; flushes: number }>(sql`
        select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as commits, wal_sync as flushes from pg_stat_wal`)
      return { commits: row?.commits ?? 0, flushes: row?.flushes ?? 0 }
    },
    async close() {
      await stopServers()
      await admin.close()
      await cluster.stop()
      if (options.data === undefined) rmSync(cluster.directory, { recursive: true, force: true })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function prepareAccount(cluster: Cluster): Promise<string> {
  const url = cluster.url({ user: 'florin_api' })
  const db = connect({ url, applicationName: 'bench', poolSize: 1, onError: () => undefined })
  const ctx = commandLineContext(db, 'bench')
  await createMerchantAccount(ctx, { id: 'default', display_name: 'Default' })
  const { private_key } = await createAPIKeyPair(ctx, {
    display_name: 'Bench',
    role_ids: [fullAccess],
    merchant_account_ids: ['default'],
  })
  await db.close()
  return private_key ?? ''
}

/** What a probed server has counted so far. */
export async function askProbe<Totals>(child: ChildProcess): Promise<Totals> {
  const told = once(child, 'message')
  child.send('totals')
  const [totals] = (await told) as [Totals]
  return totals
}
