import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { type Folder, missing } from './postgres-folder.ts'

/** `state` is "starting", "ready" or "stopping"; a pid of 0 stands for a file that a crash left empty. */
export async function readLock(folder: Folder): Promise<{ pid: number; port: number; state: string } | undefined> {
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
export async function waitForPredecessor(folder: Folder): Promise<void> {
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

export function inUse(folder: Folder, lock?: { pid: number; port: number }): Error {
  const details = lock ? ` (PostgreSQL process ${lock.pid}, port ${lock.port})` : ''
  return new Error(`A Florin is already using the data directory ${folder.directory}${details}. Stop it first.`)
}
