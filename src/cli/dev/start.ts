import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configuredDatabaseUrl, isDatabaseSet } from '../database-url.ts'
import {
  devFiles,
  findRunningDev,
  isServing,
  makeFolder,
  type RunningDev,
  shortPath,
  writeSecretFile,
} from '../dev-folder.ts'
import { CommandError } from '../output.ts'
import { checkDevConfig, childEnvironment } from './environment.ts'
import { type Child, type Process, processes, startChild } from './children.ts'
import { startOwnDatabase, useGivenDatabase } from './database.ts'
import {
  type DevKeyPair,
  keepKeyPair,
  keepVaultKey,
  keptCursorKeys,
  newCursorKeys,
  prepareIdentity,
} from './identity.ts'

export interface DevOptions {
  port: number
  ephemeral: boolean
  /** Stops the start where it is. */
  signal: AbortSignal
  /** What must be undone at the end, last first. */
  atEnd: (undo: () => Promise<void>) => void
  onProgress: (line: string) => void
  onLine: (process: string, line: string) => void
}

export interface RunningFlorin {
  baseUrl: string
  adminUrl: string
  keyPair: DevKeyPair
  privateKeyFile: string
  /** Fails when one of the processes ends, or PostgreSQL. */
  lost: Promise<never>
}

/** Starts everything: PostgreSQL, the migrations, the processes, and a key pair to use it with. */
export async function startFlorin(options: DevOptions): Promise<RunningFlorin> {
  const { port, ephemeral, signal, atEnd, onProgress } = options
  checkDevConfig()
  if (!ephemeral) await refuseSecond()
  await requireFreePort(port)
  const files = devFiles(ephemeral ? join(tmpdir(), `florin-dev-${randomBytes(8).toString('hex')}`) : undefined)
  if (!ephemeral) await makeFolder(files.folder)

  const database = isDatabaseSet()
    ? await useGivenDatabase(configuredDatabaseUrl({ direct: true }), { ephemeral })
    : await startOwnDatabase(ephemeral ? undefined : files.postgres)
  atEnd(database.stop)
  database.lost.catch(() => undefined)
  signal.throwIfAborted()
  onProgress(isDatabaseSet() || ephemeral ? database.name : `${database.name}, data in ${shortPath(files.postgres)}`)

  const { applied } = await database.migrate()
  signal.throwIfAborted()
  onProgress(applied.length === 0 ? 'database up to date' : `database set up (${applied.length} migrations)`)

  if (ephemeral) {
    await mkdir(files.folder, { mode: 0o700 })
    atEnd(() => rm(files.folder, { recursive: true, force: true }))
  }
  await keepVaultKey(files)
  const cursorKeys = ephemeral ? newCursorKeys() : await keptCursorKeys(files)
  const start = (process: Process) => {
    const settings = { port, cursorKeys, databaseUrl: database.url(process.role), files, ephemeral }
    const child = startChild(process, childEnvironment(settings), options.onLine)
    return { ...child, ready: withAbort(readyOf(child, port), signal) }
  }
  // The others need the vault from their first moment, when the worker sweeps, to their last: it comes first and goes last.
  const vault = start(processes.vault)
  atEnd(vault.stop)
  const vaultUrl = await vault.ready
  const keyPair = await prepareIdentity(database.url('florin_api'), vaultUrl, files)
  signal.throwIfAborted()
  const others = [start(processes.api), start(processes.worker)] as const
  atEnd(async () => void (await Promise.all(others.map((child) => child.stop()))))
  const [baseUrl] = await Promise.all([others[0].ready, others[1].ready])
  const children = [vault, ...others]
  onProgress(children.map(({ name }) => name).join(', '))

  await keepKeyPair(keyPair, files)
  if (!ephemeral) {
    const running: RunningDev = {
      pid: process.pid,
      base_url: baseUrl,
      database_urls: {
        admin: database.adminUrl,
        api: database.url('florin_api'),
        worker: database.url('florin_worker'),
      },
      vault_url: vaultUrl,
    }
    await writeSecretFile(files.running, `${JSON.stringify(running)}\n`)
    atEnd(() => rm(files.running, { force: true }))
  }
  signal.throwIfAborted()
  const lost = Promise.race([database.lost, ...children.map((child) => child.lost)])
  return { baseUrl, adminUrl: database.adminUrl, keyPair, privateKeyFile: files.privateKey, lost }
}

async function refuseSecond(): Promise<void> {
  const running = await findRunningDev()
  // After a crash of the machine its number may have gone to another process; a Florin answers.
  if (!running || !(await isServing(running))) return
  throw new CommandError(
    `"florin dev" already runs here (process ${running.pid}, ${running.base_url}). ` +
      'Use that one, stop it, or start another with "florin dev --ephemeral --port 0".',
  )
}

async function requireFreePort(port: number): Promise<void> {
  const server = createServer()
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve)
    server.listen(port, process.env['FLORIN_HOST'] ?? '127.0.0.1', () => server.close(() => resolve(undefined)))
  })
  if (failure) throw portProblem(port, failure.code)
}

function portProblem(port: number, code: string | undefined): CommandError {
  const what = code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be opened (${code})`
  return new CommandError(`Port ${port} ${what}. Choose another with --port ${port + 1}, or --port 0 for any free one.`)
}

async function readyOf(child: Child, port: number): Promise<string> {
  return await child.ready.catch((error: unknown) => {
    // Somebody took the port after we had looked.
    const isTaken = child.name === 'api' && error instanceof CommandError && error.message.includes('EADDRINUSE')
    throw isTaken ? portProblem(port, 'EADDRINUSE') : error
  })
}

async function withAbort<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
  })
  return await Promise.race([value, aborted])
}
