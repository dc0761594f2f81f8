import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Answer, useApi } from '../../../test/api.ts'
import { workerConfig } from '../../../test/worker.ts'
import { verifyTransactions } from '../../areas/transactions/operations/verify.ts'
import { transactionStatuses } from '../../areas/transactions/rules.ts'
import { startWorker, type Worker } from '../../main/worker.ts'
import { connect } from '../../platform/postgres.ts'
import { fillShop } from '../demo/fill.ts'
import { fewestTransactions, planShop } from '../demo/plan.ts'
import { runDemo } from '../demo/run.ts'
import { root } from '../repository.ts'

const api = useApi()
const onError = () => undefined
const day = 24 * 60 * 60 * 1000

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

function start(args: string[]): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN)_/.test(name))
  const env = {
    ...Object.fromEntries(inherited),
    DATABASE_URL: api.database.url('florin_migrate'),
    FLORIN_VAULT_URL: api.vault.url(),
    FLORIN_ENVIRONMENT: 'sandbox',
    FLORIN_PUBLIC_URL: api.url(),
  }
  return spawn(process.execPath, [join(root, 'src/main/florin.ts'), 'demo', ...args], { env })
}

async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name]?.on('data', (chunk) => (texts[name] += String(chunk)))
  const [code] = (await once(child, 'close')) as [number]
  return { code, ...texts }
}

interface Shown extends Record<string, unknown> {
  status: string
  created_at: string
  captured_amount: number
  refunded_amount: number
  authorized_amount: number
}

/** All pages of a list. */
async function list<Item = Record<string, unknown>>(account: string, path: string): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = `limit=100${cursor && `&cursor=${cursor}`}`
    const headers = { 'X-Service-Merchant-Account-ID': account }
    const answer: Answer<{ items: Item[]; next_cursor: string | null }> = await api.request('GET', `${path}?${query}`, {
      headers,
    })
    expect(answer.status).toBe(200)
    items.push(...answer.body.items)
    cursor = answer.body.next_cursor
  }
  return items
}

async function differences(): Promise<unknown[]> {
  const found: unknown[] = []
  const db = connect({
    url: api.database.url('florin_worker'),
    applicationName: 'test',
    poolSize: 1,
    onError,
  })
  await verifyTransactions({ db, accounts: 'all' }, { onDifference: (difference) => void found.push(difference) })
  await db.close()
  return found
}

/** What is the same in every shop of a seed: all but ids, addresses and the time of day. */
const normalised = (items: readonly object[]) =>
  JSON.parse(
    JSON.stringify(items, (name, value: unknown) => {
      if (/(^|_)id$|_url$/.test(name)) return undefined
      return typeof value === 'string' ? value.replace(/T[\d:.]+Z$/, '') : value
    }),
  ) as object[]

describe('without a worker', () => {
  async function fill(account: string, now: number, stop = new AbortController()) {
    const db = connect({ url: api.database.url('florin_api'), applicationName: 'test', poolSize: 10, onError })
    const options = { account, seed: 1, now, transactions: fewestTransactions, days: 90, webhookPatienceMs: 0 }
    const onProgress = (done: number) => void (account === 'stopped' && done >= 10 && stop.abort())
    const connected = { db, vault: api.vault.client(), baseUrl: api.url() }
    try {
      return await fillShop({ ...options, ...connected, signal: stop.signal, onProgress })
    } finally {
      await db.close()
    }
  }

  test('the same seed makes the same shop, to the day', async () => {
    // Always the same, so that what happens at midnight is on the same day on a slow machine.
    const now = Date.parse('2025-06-15T12:00:00Z')
    await fill('one', now)
    await fill('same', now)
    for (const path of ['/transactions', '/buyers', '/payment-methods', '/gift-cards']) {
      const [one, same] = await Promise.all([list('one', path), list('same', path)])
      expect(one.length).toBeGreaterThan(0)
      expect(normalised(same)).toEqual(normalised(one))
    }
  })

  test('stopped half-way, what is there is whole', async () => {
    const { transactions } = await fill('stopped', Date.now())
    expect(transactions).toBeGreaterThanOrEqual(10)
    expect(transactions).toBeLessThan(fewestTransactions)
    expect(await list('stopped', '/transactions')).toHaveLength(transactions)
    expect(await differences()).toEqual([])
  })
})

describe('beside a worker', () => {
  let worker: Worker
  let report: Record<string, unknown>

  beforeAll(async () => {
    worker = await startWorker(workerConfig(api))
    const outcome = await outcomeOf(start(['--transactions', '120', '--json']))
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    report = JSON.parse(outcome.stdout) as Record<string, unknown>
  }, 120_000)
  afterAll(() => worker.close())

  test('every status occurs, the lists agree with what the command says, and the books are right', async () => {
    const items = await list<Shown>('demo', '/transactions')
    const counts: Record<string, number> = {}
    for (const { status } of items) counts[status] = (counts[status] ?? 0) + 1
    expect(items).toHaveLength(120)
    expect(report).toMatchObject({ merchant_account_id: 'demo', complete: true, transactions: 120, statuses: counts })
    expect(Object.keys(counts).toSorted()).toEqual([...transactionStatuses].toSorted())
    expect(await list('demo', '/buyers')).toHaveLength(Number(report['buyers']))
    expect(await list('demo', '/payment-methods')).toHaveLength(Number(report['payment_methods']))
    expect(await list('demo', '/gift-cards')).toHaveLength(Number(report['gift_cards']))
    for (const { captured_amount, refunded_amount } of items)
      expect(refunded_amount).toBeLessThanOrEqual(captured_amount)
    const refunds = await api.database.query<{ status: string }>(
      "select distinct status from refunds where merchant_account_id = 'demo' order by status",
    )
    expect(refunds.map(({ status }) => status)).toEqual(['declined', 'failed', 'processing', 'succeeded'])
    expect(await differences()).toEqual([])
  })

  test('payments are spread over the days, and nothing of them is later than now', async () => {
    const items = await list<Shown & { updated_at: string }>('demo', '/transactions')
    const ages = items.map(({ created_at }) => (Date.now() - Date.parse(created_at)) / day)
    expect(Math.max(...ages)).toBeGreaterThan(87)
    expect(Math.max(...ages)).toBeLessThan(91)
    for (let week = 0; week < 12; week += 1) {
      expect(ages.some((age) => age >= week * 7 && age < (week + 1) * 7)).toBe(true)
    }
    expect(items.filter(({ updated_at }) => Date.parse(updated_at) > Date.now())).toEqual([])
    // Most were over long ago: a worker that went by its own time would have touched them just now.
    const today = items.filter(({ updated_at }) => Date.now() - Date.parse(updated_at) < day)
    expect(today.length).toBeLessThan(30)
  })

  test('webhooks have arrived at the one endpoint and wait for the other', async () => {
    const deliveries = await list<{ status: string }>('demo', '/webhook-deliveries')
    const count = (wanted: string) => deliveries.filter(({ status }) => status === wanted).length
    expect(count('succeeded')).toBeGreaterThan(0)
    expect(report['webhooks']).toBeGreaterThanOrEqual(count('succeeded'))
    expect(count('pending')).toBeGreaterThan(0)
    const subscriptions = await list<{ active: boolean; url: string }>('demo', '/webhook-subscriptions')
    expect(subscriptions.filter(({ active }) => active).map(({ url }) => url)).toEqual([
      'http://127.0.0.1:9/accounting',
    ])
  })

  test('no number of a card or a gift card is left in any table, or said', async () => {
    const stories = planShop({ seed: 1, transactions: 120, days: 90 })
    const numbers = stories.flatMap(({ payment: { payment_method: method }, customer, giftCard }) => [
      customer.card.number,
      ...(method?.method === 'card' ? [method.number] : []),
      ...(typeof giftCard?.card === 'object' ? [giftCard.card.number] : []),
    ])
    const pattern = [...new Set(numbers)].join('|')
    const tables = await api.database.query<{ name: string }>(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
    )
    expect(tables.length).toBeGreaterThan(30)
    const found = await Promise.all(
      tables.map(async ({ name }) => {
        const rows = await api.database.query(`select 1 from ${name} as one where one::text ~ $1 limit 1`, [pattern])
        return rows.length > 0 ? [name] : []
      }),
    )
    expect(found.flat()).toEqual([])
    expect(JSON.stringify(report)).not.toMatch(pattern)
    expect(api.vault.logs.join('\n')).not.toMatch(pattern)
  })

  test.each([
    ['sandbox', {}, /There is a merchant account demo already.+florin demo --account demo2$/],
    ['sandbox', { transactions: 3 }, /^One of each kind takes \d+ transactions: say --transactions \d+ or more\.$/],
    ['production', {}, /^Only a sandbox can be filled, and this is production\.$/],
    ['sandbox', { account: 'unmade' }, /^The vault at unix:.+ did not do it.+Start it, or correct FLORIN_VAULT_URL\.$/],
    [undefined, {}, /set FLORIN_ENVIRONMENT=sandbox\.$/],
  ])('nothing is filled twice, and nothing but a sandbox: %s %j', async (environment, change, message) => {
    vi.stubEnv('DATABASE_URL', api.database.url('florin_migrate'))
    vi.stubEnv('FLORIN_ENVIRONMENT', environment)
    vi.stubEnv('FLORIN_VAULT_URL', 'unix:/nowhere/vault.sock')
    const options = { account: 'demo', seed: 1, transactions: 120, days: 90, ...change }
    await expect(runDemo(options, new AbortController().signal)).rejects.toThrow(message)
    vi.unstubAllEnvs()
    expect(await list('demo', '/transactions')).toHaveLength(120)
    expect(await api.database.query("select from merchant_accounts where id = 'unmade'")).toEqual([])
  })

  test('meanwhile no worker asks about open payments; interrupted, it says what is there and lets the workers go on', async () => {
    const held = () =>
      api.database.query<{ lease: string }>('select lease from jobs where kind = any($1) and lease is not null', [
        ['resolve-attempts', 'resolve-enrolments', 'fetch-statements', 'accept-reviews'],
      ])
    const child = start(['--account', 'interrupted'])
    const outcome = outcomeOf(child)
    if (child.stderr) await once(child.stderr, 'data')
    const leases = await held()
    child.kill('SIGINT')
    expect(leases).toHaveLength(4)

    const { code, stderr } = await outcome
    expect(code).toBe(130)
    const [, count = ''] = /The merchant account interrupted has (\d+) of 5,000 transactions/.exec(stderr) ?? []
    expect(await list('interrupted', '/transactions')).toHaveLength(Number(count))
    expect((await held()).filter(({ lease }) => leases.some((before) => before.lease === lease))).toEqual([])
  })
})
