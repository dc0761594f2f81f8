import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { send, type TestApi } from './api.ts'
import { checkoutWays, expireAndSweep, payAfterKill } from './canary-checkout.ts'
import { type CanaryClient, createClient } from './canary-client.ts'
import {
  giftCardWays,
  giftCardWaysIntoARefusal,
  giftCardWaysToASilentProvider,
  giftCardWaysWithoutVault,
  pinOf,
} from './canary-gift-cards.ts'
import {
  waysToNameAWrongKind,
  waysToPay,
  waysToPayIntoARefusal,
  waysToPayOnly,
  waysToPaySilently,
  waysToPayWithoutVault,
} from './canary-payments.ts'
import {
  card,
  idOf,
  sendAll,
  type Way,
  ways,
  waysIntoARefusal,
  waysToStore,
  waysWithoutVault,
} from './canary-requests.ts'
import { approvalWays } from './canary-approvals.ts'
import { canarySinks, plantedForms, plantEverywhere } from './canary-sinks.ts'
import { type Deployment, prepareDatabase, queryOn, startDeployment, startTalkativeCluster } from './deployment.ts'
import { makeService } from './every-state.ts'
import { makeGiftCardService } from './gift-cards.ts'
import { type Query, watchHeap } from './leak-scan.ts'
import { createNumberScanner, type Hit, inEveryForm, makeNumbers, mistyped } from './number-scan.ts'
import { makeCardNumber, useFolder, writeKeyFile } from './vault.ts'

const count = Number(process.env['CANARIES'] ?? 1_000)
const folder = useFolder()
const service = {
  display_name: 'Sandbox',
  payment_service_definition_id: 'mock-card',
  fields: [{ key: 'merchant_id', value: 'shop' }],
  accepted_currencies: ['EUR'],
  accepted_countries: ['DE'],
  three_d_secure_enabled: true,
}
/** What the sandbox's updater says follows any other card of this scheme. */
const replacement = '4111111111111111'

test(`of ${count} card numbers sent in every way, none is left anywhere`, { timeout: 900_000 }, async () => {
  const begun = performance.now()
  const seconds = () => Math.round((performance.now() - begun) / 100) / 10
  const cluster = await startTalkativeCluster()
  const keyPair = await prepareDatabase(cluster, 'canary')
  const query = queryOn(cluster, 'canary')
  const [planted = '', ...numbers] = makeNumbers(count + 1, makeCardNumber)
  const heaps = {
    api: await watchHeap(join(folder, 'api'), inEveryForm(planted)),
    worker: await watchHeap(join(folder, 'worker'), inEveryForm(planted)),
    vault: await watchHeap(join(folder, 'vault'), inEveryForm(planted)),
  }
  const options = { cluster, database: 'canary', folder, keyFile: writeKeyFile(folder), keyPair, heaps }
  const deployment = await startDeployment(options)

  const answers: string[] = []
  const sentAs = new Map<string, string>()
  const tokens = { token: await deployment.token(), weakToken: await deployment.token(['buyers.read']) }
  const connectTo = (buyerId = ''): CanaryClient => {
    const connection = createClient(deployment.processes.api.url, tokens)
    onTestFinished(connection.close)
    return { ...connection, buyerId }
  }
  const before = connectTo()
  const buyer = await before.call('POST', '/buyers', { body: { external_identifier: 'canary-buyer' } })
  const request: TestApi['request'] = (method, path, options) =>
    send(deployment.processes.api.url, method, path, { ...tokens, ...options })
  await makeService(request)
  await makeGiftCardService({ request })
  let used = 0
  const take = (share: number) => numbers.slice(used, (used += Math.ceil(count * share)))
  // First, so that the heap that is looked at in the end has seen everything else.
  const client = await payAfterKill(deployment, before, take(0.01), () => connectTo(idOf(buyer)))
  const taken = card('4111111111111111', { external_identifier: 'canary-taken' })
  expect((await client.call('POST', '/payment-methods', { body: taken })).status).toBe(201)
  expect((await client.call('POST', '/payment-services', { body: service })).status).toBe(201)

  const go = (some: readonly string[], how: Record<string, Way>) =>
    sendAll(client, some, how, {
      onSend: (number, name) => [number, mistyped(number), pinOf(number)].map((digits) => sentAs.set(digits, name)),
      onAnswer: ({ text }) => answers.push(text),
    })
  const withoutVault = { ...waysWithoutVault, ...waysToPayWithoutVault, ...giftCardWaysWithoutVault }
  await updateAccounts(deployment, client, query, take(0.02).slice(0, 24), async () => {
    expect(await go(take(0.05), withoutVault)).toEqual([])
  })
  deployment.processes.vault.kill('SIGSTOP')
  expect(await go(take(0.016), withoutVault)).toEqual([])
  deployment.processes.vault.kill('SIGCONT')
  expect(await withConnectionsCut(query, () => go(take(0.1), { ...waysToStore, ...waysToPayOnly }))).toEqual([])
  for (const table of ['payment_methods', 'vault.secrets']) {
    const used = { ...waysIntoARefusal, ...waysToPayIntoARefusal }
    expect(await withRowsRefused(query, table, () => go(take(0.03), used))).toEqual([])
  }
  const tables = {
    transactions: waysToPayIntoARefusal,
    sandbox_card_operations: waysToPaySilently,
    gift_cards: giftCardWaysIntoARefusal,
    sandbox_gift_cards: giftCardWaysToASilentProvider,
  }
  for (const [table, used] of Object.entries(tables)) {
    expect(await withRowsRefused(query, table, () => go(take(0.02), used))).toEqual([])
  }
  expect(await go(take(0.08), checkoutWays)).toEqual([])
  expect(await go(take(0.1), giftCardWays)).toEqual([])
  expect(await go(take(0.06), approvalWays)).toEqual([])
  await expireAndSweep(client, query, take(0.01))
  const sentLast = take(0.01)
  expect(await go(numbers.slice(used), { ...ways, ...waysToPay })).toEqual([])
  // What checks these bodies looks at nothing else afterwards.
  expect(await go(sentLast, waysToNameAWrongKind)).toEqual([])
  const sendingSeconds = seconds()
  // The same connections go on with other things, as they would.
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 8 }, () => client.call('GET', '/roles')))
  }

  await plantEverywhere(query, deployment, planted)
  const scanner = createNumberScanner([
    planted,
    ...numbers,
    ...numbers.map(mistyped),
    ...numbers.map(pinOf),
    replacement,
  ])
  const sinks = await canarySinks(query, deployment, heaps, cluster.url({ database: 'canary' }))
  const hits: string[] = []
  const tell = ({ number, form }: Hit) => `${number}, ${form}, sent as "${sentAs.get(number) ?? 'something else'}"`
  for (const [name, sink] of sinks) {
    const found = scanner.find(sink)
    const foundForms = new Set(found.filter(({ number }) => number === planted).map(({ form }) => form))
    expect([name, [...foundForms].sort()]).toEqual([name, plantedForms(name)])
    // The replacement is in our sources, and so in every heap.
    const isLeft = ({ number }: Hit) => number !== planted && !(name.startsWith('heap') && number === replacement)
    hits.push(...found.filter(isLeft).map((hit) => `${name}: ${tell(hit)}`))
  }
  hits.push(...scanner.find(answers.join('\n')).map((hit) => `answers: ${tell(hit)}`))
  for (const { privateUrl } of Object.values(deployment.processes)) {
    // The log's own scrubber would hide a leak from this search; it had nothing to do.
    expect(await (await fetch(`${privateUrl}/metrics`)).text()).toContain('florin_log_lines_scrubbed_total 0')
  }
  const sizes = Object.fromEntries([...sinks].map(([name, sink]) => [name, sink.length]))
  const figures = {
    canaries: count,
    ways: [ways, waysToPay, checkoutWays, approvalWays, giftCardWays].reduce(
      (sum, some) => sum + Object.keys(some).length,
      2,
    ),
    hits: hits.length,
    sendingSeconds,
    seconds: seconds(),
    sizes,
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  await query('drop table canary_scratch')
  expect(hits).toEqual([])
})

/** The worker reads cards and stores others in their place; once with the vault gone in between. */
async function updateAccounts(
  deployment: Deployment,
  client: CanaryClient,
  query: Query,
  numbers: readonly string[],
  whileAway: () => Promise<void>,
) {
  // A new number that waits, one that applies at once because the card has expired, a new date, closed, failed, nothing.
  const dates = ['01/30', '01/24', '02/30', '03/30', '04/30', '05/30']
  const stored = await Promise.all(
    numbers.map((number, index) =>
      client.call('POST', '/payment-methods', { body: card(number, { expiration_date: dates[index % dates.length] }) }),
    ),
  )
  await deployment.stop('vault', 'SIGKILL')
  const body = { payment_method_ids: stored.map(idOf) }
  expect((await client.call('POST', '/account-updater/jobs', { body })).status).toBe(201)
  await expect.poll(() => deployment.output('worker'), { timeout: 20_000 }).toContain('job failed')
  await whileAway()
  await deployment.start('vault')
  const statuses = () =>
    query<{ status: string }>('select distinct status from account_updater_inquiries order by status')
  await expect
    .poll(async () => (await statuses()).map(({ status }) => status), { timeout: 60_000 })
    .toEqual(['closed', 'failed', 'unchanged', 'updated'])
}

/** Every connection to the database breaks, again and again, while requests are under way. */
async function withConnectionsCut(query: Query, work: () => Promise<string[]>): Promise<string[]> {
  let done = false
  const cutting = (async () => {
    while (!done) {
      await query(
        `select pg_terminate_backend(pid) from pg_stat_activity where usename in ('florin_api', 'florin_vault')`,
      )
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  const unexpected = await work().finally(() => (done = true))
  await cutting
  return unexpected.filter((answer) => !/^(stored|paid): 50[04] /.test(answer))
}

/** PostgreSQL's message of a refused row quotes the row. */
async function withRowsRefused(query: Query, table: string, work: () => Promise<string[]>): Promise<string[]> {
  await query(`alter table ${table} add constraint canary_refusal check (false) not valid`)
  try {
    return await work()
  } finally {
    await query(`alter table ${table} drop constraint canary_refusal`)
  }
}
