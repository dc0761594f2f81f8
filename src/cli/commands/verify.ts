import { Command } from 'commander'
import { merchantAccountExists } from '../../areas/merchant-accounts/operations.ts'
import { type Difference, type Verification, verifyTransactions } from '../../areas/transactions/operations/verify.ts'
import { findDatabaseUrl, withDatabase } from '../database-url.ts'
import { CommandError, say, sayJson } from '../output.ts'

interface VerifyOptions {
  account?: string
  json?: boolean
}

/** Of a database that is wrong all over the first ones say enough. */
const mostInJson = 10_000

export function verifyCommand(): Command {
  return new Command('verify')
    .option('--account <id>', 'only the transactions of this merchant account')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
Changes nothing, and the service may run meanwhile. A line a difference: account, transaction, what, expected, found. The exit
code is 1 when there are any. In a sandbox the books of its card processor are compared as well. With --json at most ${mostInJson}
differences are listed; "left_out" counts the rest. The database is the one in DATABASE_URL (as the role florin_worker), else
that of the "florin dev" that runs in this folder.

Examples:
  $ florin verify
  $ florin verify --account shop --json`,
    )
    .action(runVerify)
}

async function runVerify({ account, json = false }: VerifyOptions): Promise<void> {
  const url = await findDatabaseUrl('worker')
  const listed: Difference[] = []
  const onDifference = (difference: Difference) => {
    if (!json) say(lineOf(difference))
    else if (listed.length < mostInJson) listed.push(difference)
  }
  const progress = startProgress(!json && process.stderr.isTTY)
  const result = await withDatabase(url, async (db) => {
    if (account !== undefined && !(await merchantAccountExists(db, account))) {
      throw new CommandError(`There is no merchant account ${account}.`)
    }
    const accounts = account === undefined ? 'all' : [account]
    return verifyTransactions({ db, accounts }, { onDifference, onProgress: progress.show })
  })
  progress.end()
  if (result.differences > 0) process.exitCode = 1
  if (json) return sayJson(report(result, listed))
  say(
    `${result.transactions} transaction(s), ${result.checks} checks: ${result.differences === 0 ? 'no difference' : `${result.differences} difference(s)`}`,
  )
}

function report({ transactions, checks, differences }: Verification, listed: readonly Difference[]) {
  const leftOut = differences - listed.length
  return { transactions, checks, differences: listed, ...(leftOut > 0 && { left_out: leftOut }) }
}

const lineOf = ({ merchant_account_id, id, what, expected, found }: Difference) =>
  `${merchant_account_id} ${id} ${what}: expected ${expected}, found ${found}`

/** One line that is written over, for somebody who waits. */
function startProgress(isShown: boolean) {
  const start = performance.now()
  let last = start
  return {
    show(count: number) {
      const now = performance.now()
      if (!isShown || now - last < 200) return
      last = now
      process.stderr.write(`\r${count} transactions, ${Math.round((count * 1_000) / (now - start))} a second\u001B[K`)
    },
    end: () => void (last > start && process.stderr.write('\r\u001B[K')),
  }
}
