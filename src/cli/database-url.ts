import { loadConfig } from '../platform/config.ts'
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

export async function withDatabase<Result>(url: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = connect({ url, applicationName: 'florin command line', poolSize: 2, onError: () => undefined })
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
  const { code = '' } = error as NodeJS.ErrnoException
  const advice = adviceFor(code, error.message)
  return advice ? new CommandError(`The database ${withoutPassword(url)} ${advice}`, { cause: error }) : error
}

function adviceFor(code: string, message: string): string | undefined {
  if (code === 'ECONNREFUSED' || code === 'ENOENT') {
    return 'cannot be reached: nothing listens there. Start PostgreSQL, or correct DATABASE_URL.'
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return 'cannot be reached: there is no such host. Correct DATABASE_URL.'
  }
  if (/timeout exceeded when trying to connect/.test(message) || code === 'ETIMEDOUT') {
    return 'does not answer. Check the host and port in DATABASE_URL, and firewalls in between.'
  }
  if (code.startsWith('28') || /SASL/.test(message)) {
    return `refuses the user name or password (${message}). Correct DATABASE_URL.`
  }
  if (code === '3D000') return 'does not exist. Create it ("createdb"), or correct DATABASE_URL.'
  if (code === '42P01' || code === '3F000') return 'has no Florin tables yet. Run "florin migrate".'
  if (code === '42501') return `does not let this user do that (${message}). Use a user that may, in DATABASE_URL.`
  if (code === '53300') return 'has no free connections. Close some, or raise its max_connections.'
  return undefined
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
