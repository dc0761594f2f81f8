import { ConfigError, loadConfig } from '../platform/config.ts'
import { migrate } from '../platform/migrations.ts'

if (import.meta.main) {
  try {
    const config = loadConfig('migrate', ['databaseUrl', 'databaseDirectUrl'])
    const url = (config.databaseDirectUrl ?? config.databaseUrl).reveal()
    const { applied } = await migrate(url, (line) => process.stdout.write(`${line}\n`))
    process.stdout.write(
      applied.length === 0 ? 'the database is up to date\n' : `${applied.length} migration(s) applied\n`,
    )
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`)
    process.exitCode = 1
  }
}
