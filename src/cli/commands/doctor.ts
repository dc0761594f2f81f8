import { styleText } from 'node:util'
import { Command } from 'commander'
import { examine } from '../doctor/examine.ts'
import type { Finding } from '../doctor/finding.ts'
import { say, sayJson } from '../output.ts'

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check this machine, the configuration, the database, the vault and the work in progress, and say how to mend what is wrong.',
    )
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
It looks at the database in DATABASE_URL and the vault at FLORIN_VAULT_URL, else at those of the "florin dev" that runs
in this folder, and changes nothing. The settings that it checks are those of the process whose role is in DATABASE_URL;
the role florin_worker sees most.
The exit code is 1 when there is a problem; warnings leave it at 0.

Examples:
  $ florin doctor
  $ DATABASE_URL_FILE=/etc/florin/worker/database-url florin doctor --json`,
    )
    .action(tell)
}

async function tell({ json }: { json?: boolean }): Promise<void> {
  const findings = await examine()
  const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length
  const problems = count('problem')
  if (problems > 0) process.exitCode = 1
  if (json) return sayJson({ ok: problems === 0, checks: findings })
  for (const finding of findings) print(finding)
  say(`\n${summary(problems, count('warning'))}`)
}

function summary(problems: number, warnings: number): string {
  if (problems > 0) return `${problems} problem(s) found.`
  return warnings > 0 ? `No problem, ${warnings} warning(s).` : 'Everything is well.'
}

const marks = {
  ok: styleText('green', '✓'),
  warning: styleText('yellow', '!'),
  problem: styleText('red', '✗'),
  skipped: styleText('dim', '-'),
} as const

function print({ check, status, message, why, fix }: Finding): void {
  say(`${marks[status]} ${check.padEnd(14)} ${message}`)
  for (const line of [why, fix]) if (line) say(`${' '.repeat(17)}${line}`)
}
