import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { transactionStatuses } from '../src/areas/transactions/rules.ts'
import { startFlorin } from '../src/cli/dev/start.ts'
import { devFiles } from '../src/cli/dev-folder.ts'
import { connect } from '../src/platform/postgres.ts'
import { sql } from '../src/platform/sql.ts'
import { codeCache } from '../test/code-cache.ts'
import { note } from './rig.ts'

/**
 * `florin demo` as a newcomer starts it, beside a Florin with its worker: as many payments as were asked for, every status, days without a gap, and
 * books in which `florin verify` finds nothing.
 */
const { values: options } = parseArgs({
  options: {
    transactions: { type: 'string', default: '5000' },
    days: { type: 'string', default: '90' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:demo -- [--transactions 5000] [--days 90]

Example: npm run proof:demo -- --transactions 500`)
  process.exit(0)
}

const undos: (() => Promise<void>)[] = []
try {
  const florin = await startFlorin({
    port: 0,
    ephemeral: true,
    signal: new AbortController().signal,
    atEnd: (undo) => undos.unshift(undo),
    onProgress: note,
    onLine: () => undefined,
  })
  // At the end everything is.
  florin.lost.catch(() => undefined)
  const run = async (args: string[]) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main/florin.ts'), ...args], {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...codeCache,
        DATABASE_URL: florin.adminUrl,
        FLORIN_VAULT_URL: `unix:${devFiles(dirname(florin.privateKeyFile)).vaultSocket}`,
        FLORIN_PUBLIC_URL: florin.baseUrl,
        FLORIN_ENVIRONMENT: 'sandbox',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(child, 'close')
    return JSON.parse(text) as Record<string, unknown>
  }
  const filled = await run(['demo', '--json', '--transactions', options.transactions, '--days', options.days])
  const { differences } = (await run(['verify', '--json', '--account', 'demo'])) as { differences: unknown[] }

  const db = connect({ url: florin.adminUrl, applicationName: 'proof', poolSize: 1, onError: () => undefined })
  const counts = await db.run<{ status: string; count: number }>(
    sql`select status, count(*) from transactions where merchant_account_id = 'demo' group by status order by status`,
  )
  const [covered] = await db.run<{ days: number }>(
    sql`select count(distinct created_at::date) as days from transactions where merchant_account_id = 'demo'`,
  )
  await db.close()
  const transactions = counts.reduce((sum, { count }) => sum + count, 0)
  const days = covered?.days ?? 0
  const missing = transactionStatuses.filter((status) => !counts.some((found) => found.status === status))
  const passed =
    transactions >= Number(options.transactions) &&
    missing.length === 0 &&
    differences.length === 0 &&
    days >= Number(options.days) &&
    Number(filled['webhooks']) > 0
  const statuses = Object.fromEntries(counts.map(({ status, count }) => [status, count]))
  const { seconds, webhooks } = filled
  console.log(
    JSON.stringify({ proof: 'demo', transactions, statuses, missing, days, webhooks, seconds, differences, passed }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  for (const undo of undos) await undo()
}
