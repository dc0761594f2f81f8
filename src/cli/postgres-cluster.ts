import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { chown, lstat, mkdir, mkdtemp, open, readFile, realpath, rename, rm, stat, truncate } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  canEnter,
  defaultProcessUser,
  findPostgres,
  type PostgresBinaries,
  type ProcessUser,
  postgresEnvironment,
  temporaryParent,
} from './postgres-binaries.ts'

export { findPostgres, type PostgresBinaries } from './postgres-binaries.ts'

const superuser = 'florin_admin'
const startTimeout = 60_000
const portAttempts = 5
const largestLog = 16 * 1024 * 1024

export interface Cluster {
  port: number
  /** Holds `data` and `postgres.log`. Not always the wanted one: see `keptFolder`. */
  directory: string
  binaries: PostgresBinaries
  /** Without options: the superuser florin_admin, the database postgres. */
  url(options?: { user?: string; database?: string }): string
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

interface Folder {
  directory: string
  data: string
  log: string
  ephemeral: boolean
  user: ProcessUser | undefined
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

async function removeIfEphemeral(folder: Folder): Promise<void> {
  if (folder.ephemeral) await rm(folder.directory, { recursive: true, force: true, maxRetries: 3 })
}

async function ephemeralFolder(user: ProcessUser | undefined): Promise<Folder> {
  const directory = await realpath(await mkdtemp(join(await temporaryParent(user), 'florin-cluster-')))
  // The whole folder, not only `data`: the supervisor runs as this user and must be able to remove it.
  if (user) await chown(directory, user.uid, user.gid)
  return layout(directory, true, user)
}

/** The wanted directory, or when PostgreSQL's user cannot enter that one, always the same other one in its place. */
async function keptFolder(wanted: string, user: ProcessUser | undefined): Promise<Folder> {
  const directory = await realpathOfNew(wanted)
  const existing = await layout(directory, false, user)
  if (!user || (await canEnter(await nearestExisting(directory), existing.user))) {
    const created = await mkdir(directory, { recursive: true })
    if (user && created !== undefined) await chown(directory, user.uid, user.gid)
    // Asked again, because a strict umask may have made the new folders inaccessible.
    if (!user || (await canEnter(directory, existing.user))) return existing
  }
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  const substitute = join('/var/tmp', `florin-cluster-${name}`)
  await mkdir(substitute, { recursive: true, mode: 0o700 })
  const folder = await layout(substitute, false, user)
  const found = await lstat(substitute)
  // In a folder that everybody may write to, it could be anyone's.
  if (!found.isDirectory() || (found.uid !== 0 && found.uid !== folder.user?.uid)) {
    throw new Error(`${substitute} was not made by Florin, or for another user. Remove it, then start again.`)
  }
  if (found.uid === 0) await chown(substitute, user.uid, user.gid)
  return folder
}

async function nearestExisting(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return found || dirname(path) === path ? path : nearestExisting(dirname(path))
}

async function realpathOfNew(path: string): Promise<string> {
  const existing = await nearestExisting(path)
  return join(await realpath(existing), relative(existing, path))
}

async function layout(directory: string, ephemeral: boolean, user: ProcessUser | undefined): Promise<Folder> {
  const data = join(directory, 'data')
  // Root goes on with whoever owns existing data, instead of taking it away from them.
  const existing = user && (await stat(data).catch(() => undefined))
  const owner = existing && existing.uid !== 0 ? { uid: existing.uid, gid: existing.gid } : user
  return { directory, data, log: join(directory, 'postgres.log'), ephemeral, user: owner }
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
  for (let attempt = 1; ; attempt++) {
    const port = attempt === 1 && options.port !== undefined ? options.port : await freePort()
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
    const server = await supervise(folder, binaries, command, folder.ephemeral ? folder.directory : '')
    if (await becomesReady(folder, port, server.exited)) {
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
    if (/could not bind .*in use/i.test(log) && attempt < portAttempts) continue
    throw new Error(`PostgreSQL did not start. Its log says:\n${log}`)
  }
}

/** The server writes its port and state into its lock file; the port tells our server from another's. */
async function becomesReady(folder: Folder, port: number, exited: Promise<unknown>): Promise<boolean> {
  let ended = false
  void exited.then(() => {
    ended = true
  })
  const deadline = Date.now() + startTimeout
  while (!ended && Date.now() < deadline) {
    const lock = await readLock(folder)
    if (lock?.port === port && lock.state === 'ready') return true
    await delay(20)
  }
  return false
}

async function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((found, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => found(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** `state` is "starting", "ready" or "stopping"; a pid of 0 stands for a file that a crash left empty. */
async function readLock(folder: Folder): Promise<{ pid: number; port: number; state: string } | undefined> {
  const text = await readFile(join(folder.data, 'postmaster.pid'), 'utf8').catch(missing)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  return { pid: Number(lines[0]), port: Number(lines[3]), state: lines[7]?.trim() ?? '' }
}

/**
 * A process that was killed a moment ago may have a server that is still shutting down, which is worth waiting for.
 * What is left of a crash is cleared away where PostgreSQL would not dare to: it takes any process of the same user
 * that happens to have the old number for its predecessor.
 */
async function waitForPredecessor(folder: Folder): Promise<void> {
  const began = Date.now()
  for (;;) {
    const lock = await readLock(folder)
    if (!lock) return
    const waited = Date.now() - began
    if (lock.pid > 0) {
      const owner = await ownerOf(lock.pid, folder)
      if (owner === 'nobody') return
      if (owner === 'stranger') break
    } else if (waited > 1_000) break
    if (waited > (lock.state === 'stopping' ? 30_000 : 1_000)) throw inUse(folder, lock)
    await delay(50)
  }
  await rm(join(folder.data, 'postmaster.pid'), { force: true })
}

async function ownerOf(pid: number, folder: Folder): Promise<'nobody' | 'stranger' | 'server'> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Another user's process (EPERM) cannot be serving our data.
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'nobody' : 'stranger'
  }
  const command =
    process.platform === 'linux'
      ? (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined))?.replaceAll('\0', ' ')
      : await promisify(execFile)('ps', ['-p', String(pid), '-o', 'args=']).then(
          (ps) => ps.stdout,
          () => undefined,
        )
  if (command === undefined) return 'server'
  const isServer = /(^|\/)(postgres|postmaster)\s/.test(command)
  return isServer && (!command.includes(' -D ') || command.includes(folder.data)) ? 'server' : 'stranger'
}

function inUse(folder: Folder, lock?: { pid: number; port: number }): Error {
  const details = lock ? ` (PostgreSQL process ${lock.pid}, port ${lock.port})` : ''
  return new Error(`A Florin is already using the data directory ${folder.directory}${details}. Stop it first.`)
}

/*
 * Runs the command ("$@") until it ends or our end of the pipe closes, which happens however this process dies. Then it
 * interrupts the command, insists after a while, and removes the folder $remove if one is given. When the command ends
 * by itself the watcher is still reading, dies of SIGTERM (143), and the folder stays.
 */
const supervisor = `
trap '' INT
remove=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
command=$!
(
  while read -r line; do :; done <&3
  trap 'exit 0' TERM
  tries=0
  signal=INT
  while kill -$signal $command 2>/dev/null; do
    sleep 1 3<&- & wait $!
    tries=$((tries + 1))
    if [ $tries -ge 20 ]; then signal=QUIT; fi
  done
) &
watcher=$!
exec 3<&-
wait $command
code=$?
kill $watcher 2>/dev/null
wait $watcher
if [ $? -ne 143 ] && [ -n "$remove" ]; then rm -rf "$remove"; fi
exit $code
`

const supervisors = new Set<number>()

function interruptAll(): void {
  for (const pid of supervisors) {
    try {
      process.kill(-pid, 'SIGINT')
    } catch {
      // It has just ended.
    }
  }
}

/** `remove`: what the supervisor removes when stopped or orphaned. */
async function supervise(folder: Folder, binaries: PostgresBinaries, command: string[], remove = '') {
  const size = (await stat(folder.log).catch(missing))?.size ?? 0
  if (size > largestLog) await truncate(folder.log)
  const offset = size > largestLog ? 0 : size
  const log = openSync(folder.log, 'a')
  // Detached: a Ctrl-C in the terminal must not reach the server before our own processes are done with it.
  const child = spawn('/bin/sh', ['-c', supervisor, 'florin-postgres', remove, ...command], {
    cwd: '/',
    env: postgresEnvironment(binaries),
    stdio: ['pipe', log, log],
    detached: true,
    ...folder.user,
  })
  closeSync(log)
  const { pid, stdin } = child
  let failure: string | undefined
  const exited = new Promise<number>((done) => {
    child.once('exit', (code) => done(code ?? 1))
    child.once('error', (error) => {
      failure = error.message
      done(1)
    })
  })
  if (pid !== undefined) {
    if (supervisors.size === 0) process.on('exit', interruptAll)
    supervisors.add(pid)
    void exited.then(() => {
      supervisors.delete(pid)
      if (supervisors.size === 0) process.off('exit', interruptAll)
    })
  }
  return {
    exited,
    unref: () => {
      child.unref()
      if (stdin && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
    },
    stop: async () => {
      child.ref()
      stdin?.end()
      await exited
    },
    log: async () => failure ?? lastLines(folder.log, offset),
  }
}

async function lastLines(path: string, offset: number): Promise<string> {
  const file = await open(path).catch(missing)
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const from = Math.max(offset, size - 20_000)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(20_000), 0, 20_000, from)
    return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-30).join('\n')
  } finally {
    await file.close()
  }
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
