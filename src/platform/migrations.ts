import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export interface Migration {
  name: string
  text: string
  checksum: string
  /** Concurrent index builds and backfills cannot run inside a transaction. */
  inTransaction: boolean
}

const directory = join(import.meta.dirname, '../../migrations')

export function listMigrations(): Migration[] {
  return readdirSync(directory)
    .filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(join(directory, file), 'utf8')
      const checksum = createHash('sha256').update(text).digest('hex')
      return { name: file.replace('.sql', ''), text, checksum, inTransaction: !/^-- no transaction$/m.test(text) }
    })
}

// Any number will do as long as no other program on the server uses it: "florin" in ASCII.
const lockNumber = 0x66_6c_6f_72_69_6e

/** Brings the database to the newest schema; forward only. Several starts at once wait for each other. */
export async function migrate(
  url: string,
  report: (line: string) => void = () => undefined,
): Promise<{ applied: string[] }> {
  const client = new pg.Client({ connectionString: url, application_name: 'florin migrate' })
  await client.connect()
  try {
    await lock(client, report)
    await prepareRoles(client)
    await client.query('set role florin_migrate')
    const applied: string[] = []
    for (const migration of await pending(client)) {
      report(`applying ${migration.name}`)
      await apply(client, migration)
      applied.push(migration.name)
    }
    // Enough months ahead that a worker may be down for a season; its upkeep makes the rest.
    await client.query('select florin_make_partitions(3)')
    return { applied }
  } finally {
    await client.end()
  }
}

async function lock(client: pg.Client, report: (line: string) => void): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [lockNumber])
    if (rows[0]?.locked) return
    if (attempt === 0) report('another migration is running; waiting for it')
    await sleep(250)
  }
}

async function prepareRoles(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ may: boolean; missing: string[] }>(`
    select (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) as may,
      array(
        select name from unnest(array['florin_migrate', 'florin_api', 'florin_worker', 'florin_vault']) name
        where not exists (select from pg_roles where rolname = name)
      ) as missing`)
  const { may, missing } = rows[0] ?? { may: false, missing: [] }
  if (may) await client.query(readFileSync(join(directory, 'roles.sql'), 'utf8'))
  else if (missing.length > 0) {
    throw new Error(
      `The database roles ${missing.join(', ')} do not exist and this user may not create them. ` +
        'Ask a database administrator to run migrations/roles.sql in this database, then try again.',
    )
  }
}

async function pending(client: pg.Client): Promise<Migration[]> {
  await client.query(`
    create table if not exists florin_migrations (
      name       text primary key,
      checksum   text not null,
      applied_at timestamptz(3) not null default now()
    )`)
  await client.query('grant select on florin_migrations to florin_api, florin_worker, florin_vault')
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from florin_migrations',
  )
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  const migrations = listMigrations()
  for (const { name, checksum } of migrations) {
    const before = applied.get(name)
    if (before !== undefined && before !== checksum) {
      throw new Error(
        `The migration ${name} was changed after it had been applied. Restore the file and write a new migration.`,
      )
    }
  }
  return migrations.filter(({ name }) => !applied.has(name))
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const record = () =>
    client.query('insert into florin_migrations (name, checksum) values ($1, $2)', [migration.name, migration.checksum])
  if (!migration.inTransaction) {
    await client.query(migration.text)
    await record()
    return
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      // A migration that waits for a lock makes everybody behind it wait too, so it gives up soon and tries again.
      await client.query("begin; set local lock_timeout = '2s'")
      await client.query(migration.text)
      await record()
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback')
      const timedOut = error instanceof pg.DatabaseError && error.code === '55P03'
      if (!timedOut || attempt === 10) throw error
      await sleep(500 * attempt)
    }
  }
}

/** Names of migrations that this program knows and the database lacks. */
export function missingMigrations(applied: readonly string[]): string[] {
  return listMigrations()
    .map(({ name }) => name)
    .filter((name) => !applied.includes(name))
}
