import { styleText } from 'node:util'
import { merchantAccountExists } from '../../areas/merchant-accounts/operations.ts'
import { resolveEnrolments } from '../../areas/payment-methods/jobs.ts'
import { acceptReviews, fetchDueStatements, resolveAttempts } from '../../areas/transactions/jobs.ts'
import type { Context } from '../../context.ts'
import { holdJobs } from '../../jobs/hold.ts'
import type { Database } from '../../platform/postgres.ts'
import { connectVault } from '../../vault/client.ts'
import { createApiClient } from '../api-client.ts'
import type { DemoOptions } from '../commands/demo.ts'
import { explainVaultError } from '../commands/vault.ts'
import { findDatabaseUrl, isDatabaseSet, withDatabase } from '../database-url.ts'
import { findRunningDev } from '../dev-folder.ts'
import { CommandError, note, say, sayJson } from '../output.ts'
import { refuseProduction } from '../refuse-production.ts'
import { findVault } from '../vault-url.ts'
import { type Filled, type FillOptions, fillShop } from './fill.ts'
import { createLane } from './lane.ts'
import { fewestTransactions } from './plan.ts'
import { startProgress } from './progress.ts'

type Options = Omit<FillOptions, 'db' | 'vault' | 'now' | 'webhookPatienceMs'>

const onlySandbox = 'Only a sandbox can be filled, and this is production.'

export async function runDemo(options: DemoOptions, signal: AbortSignal): Promise<void> {
  const { transactions, account, json = false } = options
  if (transactions < fewestTransactions) {
    throw new CommandError(
      `One of each kind takes ${fewestTransactions} transactions: say --transactions ${fewestTransactions} or more.`,
    )
  }
  const baseUrl = await findSandbox()
  const started = performance.now()
  const result = await withDatabase(
    await findDatabaseUrl('api'),
    async (db) => {
      await refuseSecond(db, account)
      const progress = startProgress(transactions, json)
      try {
        return await fill(db, { ...options, baseUrl, signal, onProgress: progress.show })
      } catch (error) {
        const isBegun = await merchantAccountExists(db, account).catch(() => false)
        if (isBegun && !json) note(`The shop is not complete. A new run needs another account: ${anotherRun(account)}`)
        throw error
      } finally {
        progress.end()
      }
    },
    { poolSize: 10 },
  )
  const seconds = Math.round((performance.now() - started) / 1000)
  if (signal.aborted) process.exitCode = 130
  if (json) return sayJson(reportOf(result, { ...options, seconds, isComplete: !signal.aborted }))
  if (signal.aborted) return sayInterrupted(result, options)
  saySummary(result, options, seconds)
}

/** The address of its API. Refuses what is no sandbox. */
async function findSandbox(): Promise<string> {
  const { FLORIN_ENVIRONMENT, FLORIN_PUBLIC_URL } = process.env
  if (FLORIN_ENVIRONMENT === 'production') throw new CommandError(onlySandbox)
  if (!isDatabaseSet()) {
    const dev = await findRunningDev()
    if (dev) await refuseProduction(await createApiClient({ api: dev.base_url }), onlySandbox)
    return dev?.base_url ?? ''
  }
  if (FLORIN_ENVIRONMENT === 'sandbox') return FLORIN_PUBLIC_URL ?? 'http://127.0.0.1:8080'
  throw new CommandError(
    'Only a sandbox can be filled. If the database in DATABASE_URL is one, set FLORIN_ENVIRONMENT=sandbox.',
  )
}

async function refuseSecond(db: Database, account: string): Promise<void> {
  if (!(await merchantAccountExists(db, account))) return
  throw new CommandError(
    `There is a merchant account ${account} already, and nothing is filled twice. Use it, or fill another: ${anotherRun(account)}`,
  )
}

/** With the next number: demo, demo2, demo3. */
function anotherRun(account: string): string {
  const [, name = account, count = ''] = /^(.*?)(\d*)$/.exec(account) ?? []
  return `florin demo --account ${name}${Number(count || 1) + 1}`
}

async function fill(db: Database, options: Options): Promise<Filled> {
  const vaultOptions = await findVault()
  const vault = connectVault(vaultOptions)
  try {
    // One that does not answer is noticed before anything is made.
    await vault.listOwners({ createdBefore: new Date(0), limit: 1 })
    return await withoutTimeJobs(createLane({ ...options, db, vault }).ctx, () =>
      fillShop({ ...options, db, vault, now: Date.now(), webhookPatienceMs: 30_000 }),
    )
  } catch (error) {
    throw explainVaultError(error, vaultOptions.url)
  } finally {
    await vault.close()
  }
}

/** What workers do by the time of an account, which is real time to them, would be done too early: payments of the past seem to be overdue. */
async function withoutTimeJobs<Result>(ctx: Context, work: () => Promise<Result>): Promise<Result> {
  const rules = [
    resolveAttempts(ctx),
    resolveEnrolments(ctx.vault, ctx.connectors),
    fetchDueStatements(ctx),
    acceptReviews(),
  ]
  return await withDatabase(await findDatabaseUrl('worker'), async (db) => {
    const held = await holdJobs(
      db,
      rules.map(({ kind }) => kind),
    )
    if (!held) throw new CommandError('A worker is busy with payments that are open. Try again in a minute.')
    try {
      return await work()
    } finally {
      await held.release()
    }
  })
}

const reportOf = (
  filled: Filled,
  { account, seed, days, seconds, isComplete }: DemoOptions & { seconds: number; isComplete: boolean },
) => ({
  merchant_account_id: account,
  seed,
  days,
  complete: isComplete,
  transactions: filled.transactions,
  statuses: filled.byStatus,
  currencies: filled.byCurrency,
  settled: filled.settled,
  disputed: filled.disputed,
  buyers: filled.buyers,
  payment_methods: filled.paymentMethods,
  gift_cards: filled.giftCards,
  webhooks: filled.webhooks,
  seconds,
})

function sayInterrupted({ transactions, buyers }: Filled, { account, transactions: wanted }: DemoOptions): void {
  note(
    `Interrupted. The merchant account ${account} has ${number(transactions)} of ${number(wanted)} transactions, of ${number(buyers)} buyers; they can be used. ` +
      `A new run needs another account: ${anotherRun(account)}`,
  )
}

const number = (value: number) => value.toLocaleString('en')
const money = (value: number) => (value / 100).toLocaleString('en', { minimumFractionDigits: 2 })

function saySummary(filled: Filled, { account, days }: DemoOptions, seconds: number): void {
  const row = (name: string, value: string) => `  ${name.padEnd(28)} ${value.padStart(12)}`
  const statuses = Object.entries(filled.byStatus).toSorted(([, left], [, right]) => right - left)
  const look = (command: string) => `  npx florin ${command} --account ${account}`
  say(
    [
      styleText('bold', `The merchant account ${account} has a shop of ${days} days, made in ${seconds} s.`),
      '',
      row('transactions', number(filled.transactions)),
      ...statuses.map(([status, count]) => row(`  ${status}`, number(count))),
      row('settled', number(filled.settled)),
      row('disputed', number(filled.disputed)),
      row('buyers', number(filled.buyers)),
      row('payment methods', number(filled.paymentMethods)),
      row('gift cards', number(filled.giftCards)),
      row('webhooks received', number(filled.webhooks)),
      '',
      ...Object.entries(filled.byCurrency).map(
        ([currency, { captured, refunded }]) =>
          `  ${currency} ${money(captured)} captured, ${money(refunded)} refunded`,
      ),
      '',
      ...(filled.webhooks === 0 ? ['No webhook has arrived: does a worker run? "florin doctor" says.', ''] : []),
      'Look at it:',
      '',
      look('transactions list'),
      look(`transactions list --status authorization_declined --created-at-gte ${monthAgo()}`),
      look('webhook-deliveries list --undelivered'),
      look('verify'),
    ].join('\n'),
  )
}

const monthAgo = () => `${new Date(Date.now() - 30 * 24 * 60 * 60_000).toISOString().slice(0, 10)}T00:00:00Z`
