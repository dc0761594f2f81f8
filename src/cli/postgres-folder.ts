import { createHash } from 'node:crypto'
import { chown, lstat, mkdir, mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { canEnter, type ProcessUser, temporaryParent } from './postgres-binaries.ts'

export interface Folder {
  directory: string
  data: string
  log: string
  ephemeral: boolean
  user: ProcessUser | undefined
}

export async function removeIfEphemeral(folder: Folder): Promise<void> {
  if (folder.ephemeral) await rm(folder.directory, { recursive: true, force: true, maxRetries: 3 })
}

export async function ephemeralFolder(user: ProcessUser | undefined): Promise<Folder> {
  const directory = await realpath(await mkdtemp(join(await temporaryParent(user), 'florin-cluster-')))
  // The whole folder, not only `data`: the supervisor runs as this user and must be able to remove it.
  if (user) await chown(directory, user.uid, user.gid)
  return layout(directory, true, user)
}

/** The wanted directory, or when PostgreSQL's user cannot enter that one, always the same other one in its place. */
export async function keptFolder(wanted: string, user: ProcessUser | undefined): Promise<Folder> {
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

export function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
