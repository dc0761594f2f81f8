import { styleText } from 'node:util'
import { Command } from 'commander'
import { ConfigError } from '../../platform/config.ts'
import { findDatabaseUrl, withDatabase } from '../database-url.ts'
import { databaseChecks } from '../doctor/database.ts'
import { type Finding, problem, skipped } from '../doctor/finding.ts'
import { checkConfiguration, checkNode, checkServer } from '../doctor/machine.ts'
import { checkVault } from '../doctor/vault.ts'
import { CommandError, say, sayJson } from '../output.ts'

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check this machine, the configuration, the database and the vault, and say how to mend what is wrong.',
    )
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
It looks at the database in DATABASE_URL and the vault at FLORIN_VAULT_URL, else at those of the "florin dev" that runs
in this folder, and changes nothing.
The exit code is 1 when there is a problem.

Example:
  $ florin doctor`,
    )
    .action(examine)
}

async function examine({ json }: { json?: boolean }): Promise<void> {
  const findings = [
    checkNode(),
    checkConfiguration(),
    ...(await checkDatabase()),
    await checkVault(),
    await checkServer(),
  ]
  const problems = findings.filter(({ status }) => status === 'problem').length
  if (problems > 0) process.exitCode = 1
  if (json) return sayJson({ ok: problems === 0, checks: findings })
  for (const finding of findings) print(finding)
  say(problems === 0 ? '\nEverything is well.' : `\n${problems} problem(s) found.`)
}

/** What cannot be asked of a database that does not answer is left out. */
async function checkDatabase(): Promise<Finding[]> {
  const findings: Finding[] = []
  try {
    await withDatabase(await findDatabaseUrl('admin'), async (db) => {
      for (const check of databaseChecks) findings.push(await check(db))
    })
  } catch (error) {
    // The check of the configuration has told it already.
    if (error instanceof ConfigError) return [skipped('database', 'the configuration must be mended first')]
    if (!(error instanceof Error)) throw error
    findings.push(explain(error))
  }
  return findings
}

function explain(error: Error): Finding {
  if (!(error instanceof CommandError)) return problem('database', error.message, 'Check DATABASE_URL and the server.')
  const [message = '', ...advice] = error.message.split(/(?<=\.) /)
  return problem('database', message, advice.join(' '))
}

const marks = {
  ok: styleText('green', '✓'),
  problem: styleText('red', '✗'),
  skipped: styleText('dim', '-'),
} as const

function print({ check, status, message, fix }: Finding): void {
  say(`${marks[status]} ${check.padEnd(14)} ${message}`)
  if (fix) say(`${' '.repeat(17)}${fix}`)
}
