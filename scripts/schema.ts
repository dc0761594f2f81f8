import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPostgres } from '../src/cli/postgres-binaries.ts'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'

/** Writes schema.sql: what an empty database becomes by all migrations. With --check it only compares. */
const file = join(import.meta.dirname, '../schema.sql')

async function dumpSchema(): Promise<string> {
  const { directory } = await findPostgres()
  const pgDump = join(directory, 'pg_dump')
  if (!existsSync(pgDump)) throw new Error('pg_dump is not installed: install your system’s PostgreSQL package')
  const cluster = await startCluster({ fast: true })
  try {
    await migrate(cluster.url())
    // The months' partitions are made by the calendar, not by a migration.
    const excluded = ['audit_logs_2*', 'events_2*'].flatMap((pattern) => ['--exclude-table', pattern])
    return normalize(
      execFileSync(pgDump, ['--schema-only', ...excluded, '--dbname', cluster.url()], { encoding: 'utf8' }),
    )
  } finally {
    await cluster.stop()
  }
}

/** Without what depends on the version of pg_dump rather than on the migrations. */
function normalize(dump: string): string {
  return `${dump
    .split('\n')
    .filter((line) => !/^(--|SET |SELECT pg_catalog\.set_config|\\(un)?restrict)/.test(line))
    .join('\n')
    .replaceAll(/\n{2,}/g, '\n\n')
    .trim()}\n`
}

const dump = await dumpSchema()
const isCurrent = existsSync(file) && readFileSync(file, 'utf8') === dump
if (!process.argv.includes('--check')) {
  writeFileSync(file, dump)
  console.log(isCurrent ? 'schema.sql is up to date' : 'wrote schema.sql')
} else if (!isCurrent) {
  console.error('schema.sql is out of date: run `npm run schema` and commit the result')
  process.exitCode = 1
}
