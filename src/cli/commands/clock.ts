import { Command } from 'commander'
import { advanceClock, getClock, loadClocks } from '../../areas/merchant-accounts/clock/operations.ts'
import { merchantAccountExists } from '../../areas/merchant-accounts/operations.ts'
import { createClocks } from '../../clocks.ts'
import type { Context } from '../../context.ts'
import { loadConfig } from '../../platform/config.ts'
import { commandLineContext } from '../command-line-context.ts'
import { findDatabaseUrl, withDatabase } from '../database-url.ts'
import { CommandError, note, say, sayJson } from '../output.ts'

interface ClockOptions {
  account: string
  json?: boolean
}

const where =
  'The database is the one in DATABASE_URL (as the role florin_api), else that of the "florin dev" that runs in this folder.'

export function clockCommand(): Command {
  return new Command('clock')
    .addHelpText('after', '\nExample:\n  $ florin clock advance --account default 3d')
    .addCommand(showCommand())
    .addCommand(advanceCommand())
}

function showCommand(): Command {
  return new Command('show')
    .description('Print the time that a merchant account goes by.')
    .requiredOption('--account <id>', 'the merchant account')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', `\n${where}\n\nExample:\n  $ florin clock show --account default`)
    .action((options: ClockOptions) => run('show', options, (ctx) => getClock(ctx, options.account)))
}

function advanceCommand(): Command {
  return new Command('advance')
    .description('Let time pass in one merchant account, and do at once what falls due by it.')
    .argument('<duration>', 'how far: a number and s, m, h, d or w')
    .requiredOption('--account <id>', 'the merchant account')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
Authorizations, checkout sessions and cards of the account expire by its clock; other accounts are untouched. It waits up to 20
seconds for a worker to do what fell due; "is_settled" with --json says whether it has. There is no way back: what has expired
stays expired. ${where}

Examples:
  $ florin clock advance --account default 3d
  $ florin clock advance --account default 90s --json`,
    )
    .action((by: string, options: ClockOptions) =>
      run('advance', options, async (ctx) => {
        const stopShowing = showWaiting(!options.json && process.stderr.isTTY)
        return advanceClock(ctx, options.account, by).finally(stopShowing)
      }),
    )
}

async function run(
  name: string,
  { account, json = false }: ClockOptions,
  work: (ctx: Context) => ReturnType<typeof getClock>,
): Promise<void> {
  const { FLORIN_ENVIRONMENT } = process.env
  const { environment } = loadConfig('api', ['environment'], { FLORIN_ENVIRONMENT })
  if (environment !== 'sandbox')
    throw new CommandError('Only a sandbox has clocks, and FLORIN_ENVIRONMENT is production.')
  const url = await findDatabaseUrl('api')
  const clock = await withDatabase(url, async (db) => {
    if (!(await merchantAccountExists(db, account))) throw new CommandError(`There is no merchant account ${account}.`)
    return work({ ...commandLineContext(db, `florin clock ${name}`), clocks: createClocks(() => loadClocks(db)) })
  })
  if (json) return sayJson(clock)
  say(`${account} ${clock.now}, ${spell(clock.ahead_seconds)}`)
  if (!clock.is_settled) note('What fell due is not done yet: a worker does it. Look again with "florin clock show".')
}

/** 2d 3h, or that there is nothing to say. */
function spell(seconds: number): string {
  if (seconds === 0) return 'real time'
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  return `${parts.flatMap(([count, unit]) => (count > 0 ? [`${count}${unit}`] : [])).join(' ')} ahead of real time`
}

/** One line that is written over, for somebody who waits. */
function showWaiting(isShown: boolean): () => void {
  if (!isShown) return () => undefined
  let waited = 0
  const timer = setInterval(() => process.stderr.write(`\rwaiting for the worker, ${(waited += 1)} s\u001B[K`), 1_000)
  return () => {
    clearInterval(timer)
    if (waited > 0) process.stderr.write('\r\u001B[K')
  }
}
