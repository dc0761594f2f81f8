import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { type Cluster, freePort, startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'
import { createAccount, createKeyPair, type KeyPair } from './api.ts'
import type { HeapWatch, Query } from './leak-scan.ts'
import { apiEnvironment, startProcess, type TestProcess } from './processes.ts'
import { signToken } from './sign-token.ts'

/**
 * A PostgreSQL of its own that writes down all it is told and throws nothing away: statements with their values, rows of
 * failed statements, dead rows, the whole write-ahead log. What it was told once can be found.
 */
export async function startTalkativeCluster(): Promise<Cluster> {
  const cluster = await startCluster({
    settings: {
      log_statement: 'all',
      log_min_error_statement: 'info',
      log_error_verbosity: 'verbose',
      log_parameter_max_length: '-1',
      log_parameter_max_length_on_error: '-1',
      autovacuum: 'off',
      wal_keep_size: '8GB',
      max_wal_size: '8GB',
    },
  })
  onTestFinished(() => cluster.stop())
  return cluster
}

/** As the superuser, until the test ends. */
export function queryOn(cluster: Cluster, database: string): Query {
  const pool = new pg.Pool({ connectionString: cluster.url({ database }), max: 2 })
  pool.on('error', () => undefined)
  onTestFinished(() => pool.end())
  return async (text, values = []) => (await pool.query(text, values)).rows
}

/** A database with the account `default` and a key pair that may do everything. */
export async function prepareDatabase(cluster: Cluster, database: string): Promise<KeyPair> {
  await queryOn(cluster, 'postgres')(`create database ${database}`)
  await migrate(cluster.url({ database }))
  const url = cluster.url({ user: 'florin_api', database })
  await createAccount(url, 'default')
  return createKeyPair(url)
}

export type ProcessKind = 'api' | 'worker' | 'vault'

export interface Deployment {
  processes: Record<ProcessKind, TestProcess>
  /** What all processes wrote so far, those that ended included. */
  output(kind: ProcessKind): string
  /** Their TMPDIR. */
  temporaryFolder: string
  /** Another process in place of one that ended. */
  start(kind: ProcessKind): Promise<void>
  stop(kind: ProcessKind, signal: NodeJS.Signals): Promise<void>
  token(scopes?: readonly string[]): Promise<string>
}

export interface DeploymentOptions {
  cluster: Cluster
  database: string
  /** For the sockets and temporary files of this deployment; short, because a socket's path is. */
  folder: string
  keyFile: string
  keyPair: KeyPair
  heaps?: Partial<Record<ProcessKind, HeapWatch>>
}

/** Vault, api and worker as processes of their own, as talkative as they can be. */
export async function startDeployment(
  options: Omit<DeploymentOptions, 'cluster'> & { cluster: Pick<Cluster, 'url'> },
): Promise<Deployment> {
  const { cluster, database, folder, keyFile, keyPair, heaps = {} } = options
  const temporaryFolder = join(folder, 'tmp')
  mkdirSync(temporaryFolder, { recursive: true })
  const socket = `unix:${join(folder, 'v.sock')}`
  const apiSettings = apiEnvironment(cluster.url({ user: 'florin_api', database }))
  const common = { FLORIN_INSTANCE: 'test', FLORIN_LOG_LEVEL: 'debug', TMPDIR: temporaryFolder }
  const settings = {
    vault: {
      DATABASE_URL: cluster.url({ user: 'florin_vault', database }),
      FLORIN_KEY_FILE: keyFile,
      FLORIN_VAULT_LISTEN: socket,
    },
    // Long enough for a busy machine; what a vault costs that has stopped is waited for.
    api: { ...apiSettings, FLORIN_VAULT_URL: socket, FLORIN_VAULT_TIMEOUT_MS: '6000' },
    worker: { DATABASE_URL: cluster.url({ user: 'florin_worker', database }), FLORIN_VAULT_URL: socket },
  }
  const started: Record<ProcessKind, TestProcess[]> = { vault: [], api: [], worker: [] }
  const start = async (kind: ProcessKind) => {
    const environment = {
      ...common,
      ...settings[kind],
      ...heaps[kind]?.environment,
      FLORIN_PRIVATE_PORT: String(await freePort()),
    }
    started[kind].push(await startProcess(`src/main/${kind}.ts`, environment, heaps[kind]?.options))
  }
  const current = (kind: ProcessKind) => {
    const last = started[kind].at(-1)
    if (!last) throw new Error(`no ${kind} was started`)
    return last
  }
  await start('vault')
  await Promise.all([start('api'), start('worker')])
  return {
    get processes() {
      return { vault: current('vault'), api: current('api'), worker: current('worker') }
    },
    output: (kind) => started[kind].map((child) => child.output()).join(''),
    temporaryFolder,
    start,
    async stop(kind, signal) {
      current(kind).kill(signal)
      await current(kind).exited
    },
    token: (scopes) => signToken({ privateKeyPem: keyPair.privateKeyPem, ...(scopes && { scopes }) }),
  }
}
