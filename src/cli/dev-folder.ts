import { createHash, randomBytes } from 'node:crypto'
import { access, constants, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { CommandError } from './output.ts'
import { root } from './repository.ts'

/** What `florin dev` keeps between runs. */
const devFolder = join(root, '.florin')

const longestSocketPath = 100

/** In the folder, so that it goes when the folder goes; elsewhere only where that path is longer than a socket's may be. */
function socketPath(folder: string): string {
  const inside = join(folder, 'vault.sock')
  if (Buffer.byteLength(inside) <= longestSocketPath) return inside
  return join(tmpdir(), `florin-vault-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}.sock`)
}

/** Names of the things in a folder of `florin dev`, be it the kept one or a temporary one. */
export const devFiles = (folder = devFolder) => ({
  folder,
  privateKey: join(folder, 'private-key.pem'),
  keyPair: join(folder, 'key-pair.json'),
  cursorKeys: join(folder, 'cursor-keys'),
  vaultKey: join(folder, 'vault-key'),
  vaultSocket: socketPath(folder),
  postgres: join(folder, 'postgres'),
  codeCache: join(folder, 'code-cache'),
  running: join(folder, 'dev.json'),
})

/** What other commands may know about a `florin dev` while it runs. */
export interface RunningDev {
  pid: number
  base_url: string
  database_urls: { admin: string; api: string; worker: string }
  vault_url: string
}

/** The `florin dev` of this folder; undefined when none runs. */
export async function findRunningDev(): Promise<RunningDev | undefined> {
  const text = await readIfPresent(devFiles().running)
  if (text === undefined) return undefined
  const running = JSON.parse(text) as RunningDev
  return isAlive(running.pid) ? running : undefined
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process cannot be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export async function isServing({ base_url }: RunningDev): Promise<boolean> {
  return await fetch(`${base_url}/openapi.json`, { signal: AbortSignal.timeout(3_000) }).then(
    ({ ok }) => ok,
    () => false,
  )
}

export async function makeFolder(folder: string): Promise<void> {
  try {
    // Others may enter: when root starts it, PostgreSQL runs as another user. The files say themselves who reads them.
    await mkdir(folder, { recursive: true, mode: 0o755 })
    await access(folder, constants.W_OK)
  } catch (error) {
    throw new CommandError(
      `${folder} cannot be written (${(error as NodeJS.ErrnoException).code}). Start with --ephemeral, which keeps nothing.`,
    )
  }
}

/** Whole or not at all, and never readable by others, not even for a moment. */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(fresh, 'wx', 0o600)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
  await rename(fresh, path).catch(async (error: unknown) => {
    await rm(fresh, { force: true })
    throw error
  })
}

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CommandError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}). See who owns it.`)
  }
}

/** A path as a person here would type it. */
export function shortPath(path: string): string {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') ? path : short
}
