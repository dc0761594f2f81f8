import { ConfigError } from '../../platform/config.ts'
import type { Database } from '../../platform/postgres.ts'
import { findDatabaseUrl, withDatabase } from '../database-url.ts'
import { CommandError } from '../output.ts'
import { checkConfiguration, type Settings } from './configuration.ts'
import { type DatabaseCheck, databaseChecks, productionChecks } from './database.ts'
import { type Finding, problem, skipped } from './finding.ts'
import { checkDisk, checkNode, checkServer } from './machine.ts'
import { checkNats, checkPublicUrl } from './network.ts'
import { checkKeyFile, checkVault } from './vault.ts'
import { workChecks } from './work.ts'

/** Everything that can be seen from here; nothing is changed. */
export async function examine(): Promise<Finding[]> {
  const { settings, findings } = checkConfiguration()
  const [disk, database, vault, publicUrl, nats, server] = await Promise.all([
    checkDisk(),
    checkDatabase(settings),
    checkVault(),
    checkPublicUrl(settings),
    checkNats(settings),
    checkServer(),
  ])
  return [checkNode(), disk, ...findings, ...database, vault, ...checkKeyFile(settings), ...publicUrl, ...nats, server]
}

/** What cannot be asked of a database that does not answer is left out. */
async function checkDatabase(settings: Settings): Promise<Finding[]> {
  const findings: Finding[] = []
  try {
    await withDatabase(await findDatabaseUrl('admin'), async (db) => {
      const checks = [...databaseChecks, ...(settings.environment === 'production' ? productionChecks : [])]
      for (const check of checks) findings.push(await check(db, settings))
      // In a database that lacks tables there is no work to look at.
      if (findings.some(({ check, status }) => check === 'migrations' && status === 'problem')) return
      for (const check of workChecks) findings.push(await checkAsAllowed(check, db, settings))
    })
  } catch (error) {
    // The check of the configuration has told it already.
    if (error instanceof ConfigError) return [skipped('database', 'the configuration must be mended first')]
    if (!(error instanceof Error)) throw error
    findings.push(explain(error))
  }
  return findings
}

/** The roles see what their process needs, and no more. */
async function checkAsAllowed(check: DatabaseCheck, db: Database, settings: Settings): Promise<Finding> {
  try {
    return await check(db, settings)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    const name = check.name.replace('check', '').toLowerCase()
    return skipped(name, 'this database role may not look; run it with the URL of florin_worker')
  }
}

function explain(error: Error): Finding {
  const why = 'Nothing works without it.'
  if (!(error instanceof CommandError)) {
    return problem('database', { message: error.message, why, fix: 'Check DATABASE_URL and the server.' })
  }
  const [message = '', ...advice] = error.message.split(/(?<=\.) /)
  return problem('database', { message, why, fix: advice.join(' ') })
}
