import { listMigrations } from '../../platform/migrations.ts'
import type { Database } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'
import { readAppliedMigrations } from '../applied-migrations.ts'
import type { Settings } from './configuration.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const oldestVersion = 15
const largestSkewSeconds = 5
const roleNames = ['florin_migrate', 'florin_api', 'florin_worker', 'florin_vault']
const logs = ['audit_logs', 'events', 'webhook_deliveries', 'webhook_attempts']
/** The least that each process does, and what tells whether somebody has taken rights away. */
const neededGrants = [
  ['florin_api', 'public.transactions', 'insert'],
  ['florin_api', 'public.florin_migrations', 'select'],
  ['florin_worker', 'public.jobs', 'update'],
  ['florin_worker', 'public.webhook_deliveries', 'update'],
  ['florin_vault', 'vault.secrets', 'insert'],
]

/** With these PostgreSQL writes neither rows nor parameters, and so nothing about buyers, into its log. */
export const quietLog: Readonly<Record<string, string>> = {
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
}

export type DatabaseCheck = (db: Database, settings: Settings) => Promise<Finding>

export const databaseChecks: DatabaseCheck[] = [
  checkVersion,
  checkRoles,
  checkMigrations,
  checkGrants,
  checkPartitions,
  checkClock,
  checkConnections,
]

/** What a sandbox can do without. */
export const productionChecks: DatabaseCheck[] = [checkServerLog]

async function checkVersion(db: Database): Promise<Finding> {
  const [row] = await db.run<{ version: string; standby: boolean }>(
    sql`select current_setting('server_version') as version, pg_is_in_recovery() as standby`,
  )
  const version = row?.version ?? ''
  if (Number.parseInt(version, 10) < oldestVersion) {
    return problem('database', {
      message: `PostgreSQL ${version} is too old`,
      why: 'Statements of this program use what it lacks.',
      fix: `Upgrade it to ${oldestVersion} or newer.`,
    })
  }
  if (row?.standby) {
    return problem('database', {
      message: `PostgreSQL ${version} is a standby and takes no changes`,
      why: 'Every payment fails.',
      fix: 'Lead DATABASE_URL to the primary; if that is gone, promote this one: docs/runbooks/fail-over.md.',
    })
  }
  return ok('database', `PostgreSQL ${version}`)
}

async function checkRoles(db: Database): Promise<Finding> {
  const found = await db.run<{ name: string; unsafe: boolean }>(
    sql`select rolname as name, rolsuper or rolbypassrls as unsafe from pg_roles where rolname = any(${roleNames})`,
  )
  const missing = roleNames.filter((name) => !found.some((role) => role.name === name))
  if (missing.length > 0) {
    return problem('roles', {
      message: `missing: ${missing.join(', ')}`,
      why: 'Each process has a role of its own and cannot log in without it.',
      fix: 'Run "florin migrate" as an administrator, or migrations/roles.sql.',
    })
  }
  const unsafe = found.filter((role) => role.unsafe).map(({ name }) => name)
  if (unsafe.length > 0) {
    const statements = unsafe.map((name) => `alter role ${name} nosuperuser nobypassrls;`).join(' ')
    return problem('roles', {
      message: `past the walls between merchant accounts: ${unsafe.join(', ')}`,
      why: 'A mistake in the program could show the rows of one merchant to another.',
      fix: `Run as an administrator: ${statements}`,
    })
  }
  return ok('roles', 'all there, without special rights')
}

async function checkMigrations(db: Database): Promise<Finding> {
  const applied = (await readAppliedMigrations(db)).map(({ name }) => name)
  const known = listMigrations().map(({ name }) => name)
  const missing = known.filter((name) => !applied.includes(name))
  if (missing.length > 0) {
    return problem('migrations', {
      message: `missing: ${missing.join(', ')}`,
      why: 'The processes of this version say "not ready" until they are there.',
      fix: 'Run "florin migrate" with the URL of florin_migrate.',
    })
  }
  const newer = applied.filter((name) => !known.includes(name))
  if (newer.length > 0) {
    return warning('migrations', {
      message: `the database is newer than this program: ${newer.join(', ')}`,
      why: 'After a roll-back of one version that is right; an older program may not work.',
      fix: 'Deploy the newer version when it is mended: docs/runbooks/deploy.md.',
    })
  }
  return ok('migrations', `${applied.length} applied, none missing`)
}

async function checkGrants(db: Database): Promise<Finding> {
  const rows = await db.run<{ role: string; thing: string; right: string }>(sql`
    select role, thing, "right" from unnest(
      ${neededGrants.map(([role]) => role)}::text[], ${neededGrants.map(([, thing]) => thing)}::text[],
      ${neededGrants.map(([, , right]) => right)}::text[]) as needed (role, thing, "right")
    where not exists (
      select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname || '.' || relname = thing and has_table_privilege(role, pg_class.oid, "right")
        and has_schema_privilege(role, pg_namespace.oid, 'usage') and has_database_privilege(role, current_database(), 'connect'))`)
  if (rows.length === 0) return ok('grants', 'each role may do its work')
  return problem('grants', {
    message: rows.map(({ role, thing, right }) => `${role} may not ${right} ${thing}`).join('; '),
    why: 'Requests fail with "permission denied" in the log.',
    fix: 'Rights come with migrations and migrations/roles.sql; somebody has revoked some, or a restore left them out. Run migrations/roles.sql, then compare with the grants in schema.sql.',
  })
}

/** A row that has no partition to go to cannot be written, and with it the change that it tells of. */
async function checkPartitions(db: Database): Promise<Finding> {
  const rows = await db.run<{ name: string; exists: boolean }>(sql`
    select name, exists (
      select from pg_inherits join pg_class on pg_class.oid = inhrelid
        join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relname = name)
    from unnest(${logs}::text[]) log, generate_series(0, 1) step,
      lateral (select log || to_char(now() at time zone 'UTC' + make_interval(months => step), '_YYYYMM') as name) named
    order by name`)
  const missing = rows.filter((row) => !row.exists).map(({ name }) => name)
  if (missing.length === 0) return ok('partitions', 'of the logs, for this month and the next')
  return problem('partitions', {
    message: `missing: ${missing.join(', ')}`,
    why: 'From that month on every change fails, because it cannot be written down.',
    fix: 'Run "florin migrate", and see that a worker runs: it makes them in time.',
  })
}

async function checkClock(db: Database): Promise<Finding> {
  const before = Date.now()
  const [row] = await db.run<{ time: Date }>(sql`select clock_timestamp() as time`)
  const here = (before + Date.now()) / 2
  return clockFinding((here - (row?.time.getTime() ?? here)) / 1000)
}

/** How many seconds this machine is ahead. */
export function clockFinding(skew: number): Finding {
  if (Math.abs(skew) <= largestSkewSeconds) return ok('clock', 'agrees with the database')
  return problem('clock', {
    message: `this machine is ${Math.abs(skew).toFixed(1)} s ${skew < 0 ? 'behind' : 'ahead of'} the database`,
    why: 'Tokens are refused, jobs run early or late, and ids carry the wrong time.',
    fix: 'Turn on time synchronisation on both: "timedatectl set-ntp true".',
  })
}

/** Whether the server has room for what this process may open, beside what is open already. */
async function checkConnections(db: Database, { databasePoolSize = 10 }: Settings): Promise<Finding> {
  const [row] = await db.run<{ most: number; used: number; role: string; of_role: number }>(sql`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
      current_user as role, (select rolconnlimit from pg_roles where rolname = current_user) as of_role`)
  const { most, used, role, of_role: ofRole } = row ?? { most: 0, used: 0, role: '', of_role: -1 }
  // Beside the pool there is one that listens.
  const wanted = databasePoolSize + 1
  const why = 'A request that gets no connection waits, and fails after a while.'
  if (ofRole >= 0 && ofRole < wanted) {
    return problem('connections', {
      message: `${role} may open ${ofRole} connections, and one process opens up to ${wanted}`,
      why,
      fix: `Run as an administrator: alter role ${role} connection limit -1; or lower FLORIN_DATABASE_POOL_SIZE.`,
    })
  }
  if (wanted > most || used > most * 0.9) {
    return problem('connections', {
      message: `${used} of ${most} connections are open, and one process opens up to ${wanted}`,
      why,
      fix: 'Raise max_connections of PostgreSQL, lower FLORIN_DATABASE_POOL_SIZE, or put a transaction pooler between.',
    })
  }
  return ok('connections', `${used} of ${most} are open`)
}

async function checkServerLog(db: Database): Promise<Finding> {
  const rows = await db.run<{ name: string; setting: string }>(
    sql`select name, setting from pg_settings where name = any(${Object.keys(quietLog)})`,
  )
  const loud = rows.filter(({ name, setting }) => setting !== quietLog[name]).map(({ name }) => name)
  if (loud.length === 0) return ok('server log', 'quotes neither rows nor parameters')
  const statements = loud.map((name) => `alter system set ${name} = '${quietLog[name]}';`).join(' ')
  return warning('server log', {
    message: `PostgreSQL may quote rows and parameters in its log: ${loud.join(', ')}`,
    why: 'Names and addresses of buyers would be in a log that more people read than the database.',
    fix: `Run as an administrator: ${statements} select pg_reload_conf();`,
  })
}
