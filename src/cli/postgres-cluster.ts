import { chown, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { defaultProcessUser, findPostgres, type PostgresBinaries } from './postgres-binaries.ts'
import { type Folder, removeIfEphemeral, ephemeralFolder, keptFolder, missing } from './postgres-folder.ts'
import { readLock, waitForPredecessor, inUse } from './postgres-lock.ts'
import { supervise } from './postgres-supervisor.ts'

const superuser = 'florin_admin'

const startTimeout = 60_000

const portAttempts = 5

export interface Cluster {
  port: number
  /** Holds `data` and `postgres.log`. Not always the wanted one: see `keptFolder`. */
  directory: string
  binaries: PostgresBinaries
  /** Without options: the superuser florin_admin, the database postgres. */
  url(options?: { user?: string; database?: string }): string
  /** When the server has ended, by stop() or on its own. */
  ended: Promise<unknown>
  /** Fast shutdown; removes the directory when ephemeral. Safe to call twice. */
  stop(): Promise<void>
}

export interface ClusterOptions {
  /** Kept between runs. Absent: a new temporary directory that stop() removes. */
  dataDirectory?: string
  /** For tests: trades safety against power loss for speed. */
  fast?: boolean
  /** More `-c name=value`. */
  settings?: Record<string, string>
  /** Default 200. */
  maxConnections?: number
  /** The port to try first; a free one is taken when it is in use. */
  port?: number
  /** Limits the search for PostgreSQL's programs. */
  source?: PostgresBinaries['source']
}

/**
 * Starts PostgreSQL on 127.0.0.1, trusting every local connection: for development, tests and benchmarks only.
 * A running cluster does not keep this process alive, and ends with it, however it ends.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const user = await defaultProcessUser()
  const folder =
    options.dataDirectory === undefined
      ? await ephemeralFolder(user)
      : await keptFolder(resolve(options.dataDirectory), user)
  try {
    const binaries = await findPostgres({ source: options.source, user: folder.user })
    await waitForPredecessor(folder)
    const unsafe = folder.ephemeral || options.fast === true
    await initialise(folder, binaries, unsafe)
    const { port, server } = await startOnFreePort(folder, binaries, options)
    let stopped: Promise<void> | undefined
    return {
      port,
      directory: folder.directory,
      binaries,
      url: (to = {}) =>
        `postgresql://${encodeURIComponent(to.user ?? superuser)}@127.0.0.1:${port}/${encodeURIComponent(to.database ?? 'postgres')}`,
      ended: server.exited,
      stop: () => {
        stopped ??= server.stop().then(() => removeIfEphemeral(folder))
        return stopped
      },
    }
  } catch (error) {
    await removeIfEphemeral(folder)
    throw error
  }
}

async function initialise(folder: Folder, binaries: PostgresBinaries, unsafe: boolean): Promise<void> {
  const version = await readFile(join(folder.data, 'PG_VERSION'), 'utf8').catch(missing)
  if (version !== undefined) {
    if (Number(version) === binaries.version) return
    throw new Error(
      `${folder.data} was made by PostgreSQL ${version.trim()}, but the one found in ${binaries.directory} is ` +
        `version ${binaries.version}. Install the former, or remove the directory to begin anew.`,
    )
  }
  // Made aside and moved into place, so that an interrupted run leaves no half-made cluster behind.
  const fresh = await mkdtemp(`${folder.data}-`)
  try {
    if (folder.user) await chown(fresh, folder.user.uid, folder.user.gid)
    const args = ['-D', fresh, '-U', superuser, '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-instructions']
    if (unsafe) args.push('--no-sync')
    const command = [join(binaries.directory, 'initdb'), ...args]
    const initdb = await supervise(folder, binaries, command, folder.ephemeral ? folder.directory : fresh)
    const timer = AbortSignal.timeout(startTimeout)
    timer.addEventListener('abort', () => void initdb.stop(), { once: true })
    const code = await initdb.exited
    if (code !== 0)
      throw new Error(`PostgreSQL could not create its data directory. Its log says:\n${await initdb.log()}`)
    await rename(fresh, folder.data).catch((error: NodeJS.ErrnoException) => {
      // Another process made one at the same time; who of us may run it is decided by its lock.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

async function startOnFreePort(folder: Folder, binaries: PostgresBinaries, options: ClusterOptions) {
  let port = options.port ?? (await freePort())
  for (let attempt = 1; ; attempt++) {
    const settings: Record<string, string> = {
      port: String(port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      timezone: 'UTC',
      log_timezone: 'UTC',
      max_connections: String(options.maxConnections ?? 200),
      ...(options.fast ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
      ...options.settings,
    }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const command = [join(binaries.directory, 'postgres'), '-D', folder.data, ...args]
    const predecessor = (await readLock(folder))?.pid
    const server = await supervise(folder, binaries, command, folder.ephemeral ? folder.directory : '')
    if (await becomesReady(folder, port, predecessor, server.exited)) {
      server.unref()
      return { port, server }
    }
    const log = await server.log()
    await server.stop()
    if (/lock file .* already exists/.test(log)) throw inUse(folder)
    if (/pre-existing shared memory block/.test(log) && attempt < portAttempts) {
      // The last processes of a server that was killed need a moment to notice.
      await delay(1_000)
      continue
    }
    if (/could not bind .*in use/i.test(log) && attempt < portAttempts) {
      port = await freePort()
      continue
    }
    throw new Error(`PostgreSQL did not start. Its log says:\n${log}`)
  }
}

/**
 * The server writes its port and state into its lock file; the port tells our server from another's, and its number from one that was
 * killed at the same port.
 */
async function becomesReady(
  folder: Folder,
  port: number,
  predecessor: number | undefined,
  exited: Promise<unknown>,
): Promise<boolean> {
  let ended = false
  void exited.then(() => {
    ended = true
  })
  const deadline = Date.now() + startTimeout
  while (!ended && Date.now() < deadline) {
    const lock = await readLock(folder)
    if (lock?.port === port && lock.pid !== predecessor && lock.state === 'ready') return true
    await delay(20)
  }
  return false
}

/** A port nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((found, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => found(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
