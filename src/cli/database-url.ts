import { loadConfig } from '../platform/config.ts'
import { databaseAdvice } from '../platform/database-advice.ts'
import { connect, type Database } from '../platform/postgres.ts'
import { findRunningDev } from './dev-folder.ts'
import { CommandError } from './output.ts'

export const isDatabaseSet = () =>
  process.env['DATABASE_URL'] !== undefined || process.env['DATABASE_URL_FILE'] !== undefined

/** From the environment; without a pooler in between where `direct` asks for it. */
export function configuredDatabaseUrl({ direct = false } = {}): string {
  // Nothing but these is looked at: mistakes in the settings of the processes are not our business here.
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('DATABASE_')))
  const { databaseUrl, databaseDirectUrl } = loadConfig('migrate', ['databaseUrl', 'databaseDirectUrl'], environment)
  return ((direct ? databaseDirectUrl : undefined) ?? databaseUrl).reveal()
}

/** The configured database, else that of the `florin dev` that runs in this folder. */
export async function findDatabaseUrl(role: 'admin' | 'api' | 'worker'): Promise<string> {
  if (isDatabaseSet()) return configuredDatabaseUrl({ direct: role === 'admin' })
  const dev = await findRunningDev()
  if (dev) return dev.database_urls[role]
  throw new CommandError(
    'No database is known: DATABASE_URL is not set and no "florin dev" runs in this folder. ' +
      'Set DATABASE_URL, or start "florin dev" in another terminal.',
  )
}

export async function withDatabase<Result>(
  url: string,
  work: (db: Database) => Promise<Result>,
  { poolSize = 2 } = {},
): Promise<Result> {
  const db = connect({ url, applicationName: 'florin command line', poolSize, onError: () => undefined })
  try {
    return await work(db)
  } catch (error) {
    throw explainDatabaseError(error, url)
  } finally {
    await db.close()
  }
}

/** The same error, or one that says what to do where that is known. */
export function explainDatabaseError(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error
  const advice = databaseAdvice(error)
  return advice ? new CommandError(`The database ${withoutPassword(url)} ${advice}`, { cause: error }) : error
}

export function withoutPassword(url: string): string {
  try {
    const shown = new URL(url)
    shown.password = ''
    shown.search = ''
    return shown.href
  } catch {
    return 'in DATABASE_URL'
  }
}
