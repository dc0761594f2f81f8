import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { migrate } from '../../platform/migrations.ts'
import type { Database } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'
import { explainDatabaseError, withDatabase, withoutPassword } from '../database-url.ts'
import { CommandError } from '../output.ts'
import { startCluster } from '../postgres-cluster.ts'
import { type Process, processes } from './children.ts'

export type DatabaseRole = Process['role']

export interface DevDatabase {
  /** For people. */
  name: string
  adminUrl: string
  /** Applies the missing migrations; the roles' URLs work from then on. */
  migrate(): Promise<{ applied: string[] }>
  url(role: DatabaseRole): string
  /** Fails when a server of our own ends without having been asked to. */
  lost: Promise<never>
  stop(): Promise<void>
}

/** PostgreSQL of our own. Without a folder nothing of it is kept. */
export async function startOwnDatabase(folder: string | undefined): Promise<DevDatabase> {
  const cluster = await startCluster(folder === undefined ? { fast: true } : { dataDirectory: folder }).catch(
    (error: unknown) => {
      throw error instanceof Error ? new CommandError(error.message, { cause: error }) : error
    },
  )
  const database = 'florin'
  const adminUrl = cluster.url({ database })
  return {
    name: `PostgreSQL ${cluster.binaries.version}`,
    adminUrl,
    async migrate() {
      await withDatabase(cluster.url(), (db) => createDatabase(db, database))
      return await migrate(adminUrl)
    },
    url: (role) => cluster.url({ user: role, database }),
    lost: cluster.ended.then(() => {
      throw new CommandError(`PostgreSQL ended unexpectedly. See ${join(cluster.directory, 'postgres.log')}.`)
    }),
    stop: cluster.stop,
  }
}

async function createDatabase(db: Database, name: string): Promise<void> {
  const [existing] = await db.run(sql`select from pg_database where datname = ${name}`)
  if (!existing) await db.pool.query(`create database ${name}`)
}

/** A server that is there already, as its administrator. With `ephemeral` a database of our own there, gone at the end. */
export async function useGivenDatabase(url: string, { ephemeral }: { ephemeral: boolean }): Promise<DevDatabase> {
  await requireAdministrator(url)
  const ownName = ephemeral ? `florin_dev_${randomBytes(6).toString('hex')}` : undefined
  if (ownName) await withDatabase(url, (db) => db.pool.query(`create database ${ownName}`))
  const adminUrl = ownName ? changeUrl(url, { database: ownName }) : url
  const roleUrls = new Map<DatabaseRole, string>()
  return {
    name: withoutPassword(adminUrl),
    adminUrl,
    async migrate() {
      const result = await migrate(adminUrl).catch((error: unknown) => {
        throw explainDatabaseError(error, adminUrl)
      })
      for (const { role } of Object.values(processes)) roleUrls.set(role, await openRole(adminUrl, role))
      return result
    },
    url: (role) => roleUrls.get(role) ?? changeUrl(adminUrl, { user: role }),
    lost: new Promise(() => undefined),
    async stop() {
      if (ownName) await withDatabase(url, (db) => db.pool.query(`drop database if exists ${ownName} with (force)`))
    },
  }
}

async function requireAdministrator(url: string): Promise<void> {
  await withDatabase(url, async (db) => {
    const [user] = await db.run<{ name: string; may: boolean }>(
      sql`select rolname as name, rolsuper or rolcreaterole as may from pg_roles where rolname = current_user`,
    )
    if (user?.may) return
    throw new CommandError(
      `"florin dev" makes the database roles itself, and the user ${user?.name} in DATABASE_URL may not. ` +
        'Set DATABASE_URL to an administrator, or unset it to let "florin dev" bring its own PostgreSQL.',
    )
  })
}

/** The URL of a role that can log in with it. */
async function openRole(adminUrl: string, role: DatabaseRole): Promise<string> {
  // Made from the administrator's, so that whoever else runs `florin dev` on this server arrives at the same one.
  const secret = new URL(adminUrl).password || randomBytes(32).toString('hex')
  const password = createHmac('sha256', secret).update(`florin dev ${role}`).digest('base64url')
  const url = changeUrl(adminUrl, { user: role, password })
  const logIn = () => withDatabase(url, (db) => db.run(sql`select`))
  try {
    await logIn()
  } catch {
    await withDatabase(adminUrl, (db) => db.pool.query(`alter role ${role} password '${password}'`))
    await logIn()
  }
  return url
}

function changeUrl(
  url: string,
  { user, password = '', database }: { user?: string; password?: string; database?: string },
) {
  const changed = new URL(url)
  if (user !== undefined) {
    changed.username = user
    changed.password = password
    if (changed.username !== user) throw new CommandError('"florin dev" needs a host in DATABASE_URL.')
  }
  if (database !== undefined) changed.pathname = `/${database}`
  return changed.href
}
