import { Command } from 'commander'
import { listMigrations, migrate } from '../../platform/migrations.ts'
import { explainDatabaseError, findDatabaseUrl, withDatabase } from '../database-url.ts'
import { readAppliedMigrations } from '../applied-migrations.ts'
import { say, sayJson } from '../output.ts'

interface MigrateCommandOptions {
  status?: boolean
  json?: boolean
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .option('--status', 'only list what is applied and what is missing')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
Without DATABASE_URL it is the database of the "florin dev" that runs in this folder.

Examples:
  $ DATABASE_URL=postgresql://florin_migrate:secret@db.internal/florin florin migrate
  $ florin migrate --status`,
    )
    .action(async ({ status, json = false }: MigrateCommandOptions) => {
      const url = await findDatabaseUrl('admin')
      await (status ? printStatus(url, json) : apply(url, json))
    })
}

async function apply(url: string, json: boolean): Promise<void> {
  const { applied } = await migrate(url, (line) => !json && say(line)).catch((error: unknown) => {
    throw explainDatabaseError(error, url)
  })
  if (json) return sayJson({ applied })
  say(applied.length === 0 ? 'the database is up to date' : `${applied.length} migration(s) applied`)
}

async function printStatus(url: string, json: boolean): Promise<void> {
  const applied = await withDatabase(url, readAppliedMigrations)
  const names = new Set(applied.map(({ name }) => name))
  const missing = listMigrations().filter(({ name }) => !names.has(name))
  if (json) {
    return sayJson({
      applied: applied.map(({ name, applied_at }) => ({ name, applied_at: applied_at.toISOString() })),
      missing: missing.map(({ name }) => name),
    })
  }
  for (const { name, applied_at } of applied) say(`applied  ${name}  ${applied_at.toISOString()}`)
  for (const { name } of missing) say(`missing  ${name}`)
  say(missing.length === 0 ? 'the database is up to date' : `${missing.length} missing: run "florin migrate"`)
}
