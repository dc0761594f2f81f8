import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import { expect } from 'vitest'
import { findPostgres } from '../src/cli/postgres-binaries.ts'
import type { ProcessOptions, TestProcess } from './processes.ts'

/** The places where something secret could be left: tables, PostgreSQL's files and log, the heap of a process. */

export type Query = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>

/** Every row of every table, as the superuser sees it, by the table's full name. The text form of a row doubles quotes. */
export async function dumpTables(query: Query): Promise<Map<string, string>> {
  const tables = await query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'm') and nspname !~ '^pg_toast' and nspname <> 'information_schema' order by 1`,
  )
  const texts = new Map<string, string>()
  for (const { name } of [...tables, { name: 'pg_catalog.pg_stat_activity' }]) {
    const [row] = await query<{ text: string | null }>(
      `select string_agg(entry::text, E'\\n') as text from ${name} as entry`,
    )
    texts.set(name, row?.text ?? '')
  }
  return texts
}

/** As an operator should make one: without what waits in unlogged tables. */
export async function dumpDatabase(url: string): Promise<string> {
  const { directory } = await findPostgres()
  const run = promisify(execFile)
  const options = ['--no-unlogged-table-data', '--dbname', url]
  return (await run(join(directory, 'pg_dump'), options, { maxBuffer: 2 ** 30 })).stdout
}

async function readFolder(folder: string, recursive: boolean): Promise<Buffer> {
  const entries = await readdir(folder, { withFileTypes: true, recursive })
  const files = entries
    .filter((entry) => entry.isFile())
    // PostgreSQL removes some of its files whenever it likes.
    .map(({ parentPath, name }) => readFile(join(parentPath, name)).catch(() => Buffer.alloc(0)))
  return Buffer.concat(await Promise.all(files))
}

/** Every file below a folder, one after the other. */
export const readTree = (folder: string) => readFolder(folder, true)

async function dataDirectory(query: Query): Promise<string> {
  const [place] = await query<{ data: string }>(`select current_setting('data_directory') as data`)
  if (!place) throw new Error('no data directory')
  return place.data
}

/** The files PostgreSQL keeps: this database, the write-ahead log and the server's own log. */
export async function readServerFiles(query: Query): Promise<{ database: Buffer; wal: Buffer; log: Buffer }> {
  await query('checkpoint')
  const data = await dataDirectory(query)
  const [database] = await query<{ oid: number }>(`select oid::int from pg_database where datname = current_database()`)
  return {
    database: await readFolder(join(data, 'base', String(database?.oid)), false),
    wal: await readFolder(join(data, 'pg_wal'), false),
    log: await readServerLog(query),
  }
}

export const readServerLog = async (query: Query) => readFile(join(dirname(await dataDirectory(query)), 'postgres.log'))

/** All that PostgreSQL has on its disk: every database, the write-ahead log, what it remembers of transactions and statistics. */
export async function readDataDirectory(query: Query): Promise<{ wal: Buffer; rest: Buffer }> {
  await query('checkpoint')
  const data = await dataDirectory(query)
  const folders = (await readdir(data, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const others = folders.filter(({ name }) => name !== 'pg_wal').map(({ name }) => readTree(join(data, name)))
  return {
    wal: await readTree(join(data, 'pg_wal')),
    rest: Buffer.concat([await readFolder(data, false), ...(await Promise.all(others))]),
  }
}

export interface HeapWatch {
  environment: Record<string, string>
  options: ProcessOptions
  snapshotPath: string
}

/** How a process is started so that its heap can be looked at later. `plant` is kept alive in it, to be found there. */
export async function watchHeap(folder: string, plant: string): Promise<HeapWatch> {
  await mkdir(folder, { recursive: true })
  const snapshotPath = join(folder, 'snapshot.json')
  const planted = JSON.stringify(plant).split('').reverse().join('')
  return {
    environment: { HEAP_SNAPSHOT_PATH: snapshotPath, HEAP_SNAPSHOT_PLANT: planted },
    options: {
      nodeArguments: [
        '--expose-gc',
        // Longer strings are cut otherwise, and a secret at the end of an answer would not be seen.
        '--heap-snapshot-string-limit=100000000',
        '--import',
        join(import.meta.dirname, 'heap-snapshot-hook.ts'),
      ],
    },
    snapshotPath,
  }
}

/** What the process still holds after collecting garbage: the text of every string, and every number. */
export async function takeSnapshot(server: TestProcess, path: string): Promise<string> {
  server.kill('SIGUSR2')
  const isThere = () =>
    readFile(path).then(
      () => true,
      () => false,
    )
  await expect.poll(isThere, { timeout: 40_000, interval: 200 }).toBe(true)
  const { strings } = JSON.parse(await readFile(path, 'utf8')) as { strings: string[] }
  return strings.join('\n')
}
