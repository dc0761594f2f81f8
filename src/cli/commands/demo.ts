import { Command, InvalidArgumentError } from 'commander'
import { runDemo } from '../demo/run.ts'
import { stopRequest } from '../dev/stop-request.ts'

export interface DemoOptions {
  transactions: number
  days: number
  seed: number
  account: string
  json?: boolean
}

export function demoCommand(): Command {
  return new Command('demo')
    .option('--transactions <count>', 'how many payments', parseCount('payments', 100_000), 5_000)
    .option('--days <count>', 'over how many days, up to now', parseCount('days', 365), 90)
    .option('--seed <number>', 'the same number makes the same shop', parseCount('seeds', 4_294_967_295, 0), 1)
    .option('--account <id>', 'the merchant account to make and fill', parseAccount, 'demo')
    .option('--json', 'print one line of JSON at the end')
    .addHelpText(
      'after',
      `
Payments are in every status, with captures, voids, refunds, 3-D Secure, gift cards, reviews, settlements and disputes. They are of
the past, as if the shop had been there all the time; events, webhooks and the audit log are of now. Only test numbers of the
sandbox are used. Workers ask no provider about open payments meanwhile, of any account. The account must not exist yet: nothing
is ever filled twice. The database is the one in DATABASE_URL (as the owner of its tables; then with the vault in FLORIN_VAULT_URL
and FLORIN_ENVIRONMENT=sandbox), else that of the "florin dev" that runs in this folder.

Examples:
  $ florin demo
  $ florin demo --transactions 500 --days 30 --account small-shop`,
    )
    .action(async (options: DemoOptions) => {
      const signal = stopRequest()
      await runDemo(options, signal)
    })
}

const parseCount =
  (what: string, most: number, least = 1) =>
  (text: string): number => {
    const count = Number(text)
    if (/^\d{1,10}$/.test(text) && count >= least && count <= most) return count
    throw new InvalidArgumentError(`Write a number of ${what} from ${least} to ${most}.`)
  }

function parseAccount(text: string): string {
  if (/^[a-zA-Z0-9-]{1,50}$/.test(text)) return text
  throw new InvalidArgumentError('An id has 1 to 50 letters, digits and dashes: demo2.')
}
