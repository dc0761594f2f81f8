import { listMigrations } from '../../platform/migrations.ts'
import type { Db } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'
import { readAppliedMigrations } from '../applied-migrations.ts'
import { type Finding, ok, problem } from './finding.ts'

const oldestVersion = 15
const largestSkewSeconds = 5
const roleNames = ['florin_migrate', 'florin_api', 'florin_worker', 'florin_vault']
const logs = ['audit_logs', 'events']

export const databaseChecks: ((db: Db) => Promise<Finding>)[] = [
  checkVersion,
  checkRoles,
  checkMigrations,
  checkPartitions,
  checkClock,
]

async function checkVersion(db: Db): Promise<Finding> {
  const [row] = await db.run<{ version: string }>(sql`select current_setting('server_version') as version`)
  const version = row?.version ?? ''
  return Number.parseInt(version, 10) >= oldestVersion
    ? ok('database', `PostgreSQL ${version}`)
    : problem('database', `PostgreSQL ${version} is too old`, `Upgrade it to ${oldestVersion} or newer.`)
}

async function checkRoles(db: Db): Promise<Finding> {
  const found = await db.run<{ name: string; unsafe: boolean }>(
    sql`select rolname as name, rolsuper or rolbypassrls as unsafe from pg_roles where rolname = any(${roleNames})`,
  )
  const missing = roleNames.filter((name) => !found.some((role) => role.name === name))
  if (missing.length > 0) {
    return problem(
      'roles',
      `missing: ${missing.join(', ')}`,
      'Run "florin migrate" as an administrator, or migrations/roles.sql.',
    )
  }
  const unsafe = found.filter((role) => role.unsafe).map(({ name }) => name)
  if (unsafe.length > 0) {
    const statements = unsafe.map((name) => `alter role ${name} nosuperuser nobypassrls;`).join(' ')
    return problem('roles', `past the walls between merchant accounts: ${unsafe.join(', ')}`, `Run: ${statements}`)
  }
  return ok('roles', 'all there, without special rights')
}

async function checkMigrations(db: Db): Promise<Finding> {
  const applied = (await readAppliedMigrations(db)).map(({ name }) => name)
  const known = listMigrations().map(({ name }) => name)
  const missing = known.filter((name) => !applied.includes(name))
  if (missing.length > 0) return problem('migrations', `missing: ${missing.join(', ')}`, 'Run "florin migrate".')
  const newer = applied.filter((name) => !known.includes(name))
  if (newer.length > 0) {
    return problem(
      'migrations',
      `the database is newer than this program: ${newer.join(', ')}`,
      'Install the newer version of Florin.',
    )
  }
  return ok('migrations', `${applied.length} applied, none missing`)
}

/** A row that has no partition to go to cannot be written, and with it the change that it tells of. */
async function checkPartitions(db: Db): Promise<Finding> {
  const rows = await db.run<{ name: string; exists: boolean }>(sql`
    select name, exists (
      select from pg_inherits join pg_class on pg_class.oid = inhrelid
        join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relname = name)
    from unnest(${logs}::text[]) log, generate_series(0, 1) step,
      lateral (select log || to_char(now() at time zone 'UTC' + make_interval(months => step), '_YYYYMM') as name) named
    order by name`)
  const missing = rows.filter((row) => !row.exists).map(({ name }) => name)
  return missing.length === 0
    ? ok('partitions', 'of the logs, for this month and the next')
    : problem(
        'partitions',
        `missing: ${missing.join(', ')}`,
        'Run "florin migrate", and see that a worker runs: it makes them in time.',
      )
}

async function checkClock(db: Db): Promise<Finding> {
  const before = Date.now()
  const [row] = await db.run<{ time: Date }>(sql`select clock_timestamp() as time`)
  const here = (before + Date.now()) / 2
  const skew = (here - (row?.time.getTime() ?? here)) / 1000
  const words = `this machine is ${Math.abs(skew).toFixed(1)} s ${skew < 0 ? 'behind' : 'ahead of'} the database`
  return Math.abs(skew) <= largestSkewSeconds
    ? ok('clock', 'agrees with the database')
    : problem('clock', words, 'Turn on time synchronisation (NTP) on both: tokens and jobs depend on it.')
}
