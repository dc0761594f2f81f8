import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { median, note, percentiles, round } from './rig.ts'
import { type Cost, costOf, costOfEvent } from './webhooks/cost.ts'
import { Ledger } from './webhooks/ledger.ts'
import { saturate } from './webhooks/saturate.ts'
import { type Receivers, type Sender, type Source, startReceivers, startSender, startStage } from './webhooks/stage.ts'

/**
 * How long an event takes from its commit to the first attempt to tell a subscription, at several rates, with one subscription, with ten, and with a hundred
 * accounts of one each; and what a delivery costs PostgreSQL and the sender. Receivers answer at once; all of it shares one machine.
 */
const { values: options } = parseArgs({
  options: {
    rates: { type: 'string', default: '50,500,2000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run bench:webhooks -- [--rates 50,500,2000] [--rounds 3] [--seconds 6]

--rates    events a second; those that the machine does not carry are lowered to what it does, and that is said
--seconds  of each rate

Example: npm run bench:webhooks -- --rates 50,500 --rounds 1 --seconds 3`)
  process.exit(0)
}
const rates = options.rates.split(',').map(Number)
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const floor = { rate: 500, p99Ms: 1_000 }
/** Of what the sender can do at most: above it, lag is the length of a queue. */
const carriedShare = 0.7

interface Audience {
  accounts: readonly string[]
  /** Of each account. */
  subscriptions: number
  receivers: Receivers
}

/** Rows written so far. Exact when nobody else is connected: who goes hands in what it has counted. */
async function rowsWritten({ client }: Source): Promise<number> {
  await client.query('select pg_stat_force_next_flush()')
  await delay(500)
  const { rows } = await client.query<{ count: number }>(
    'select (tup_inserted + tup_updated + tup_deleted)::float8 as count from pg_stat_database where datname = current_database()',
  )
  return rows[0]?.count ?? 0
}

interface Run {
  lag: { p50: number; p95: number; p99: number }
  deliveries: number
  duplicates: number
  cost: Cost
  sender: { statements: number; cpuMs: number }
}

interface Plan {
  audience: Audience
  wanted: number
  /** Events a second. */
  rate: number
}

async function measure(source: Source, sender: Sender, { audience, rate }: Plan): Promise<Run> {
  const ledger = await Ledger.open(audience.receivers)
  source.committed.clear()
  let spent = { statements: 0, cpuMs: 0 }
  const cost = await costOf(stage, source, async () => {
    const before = await sender.totals()
    await source.commitAtRate(audience.accounts, { perSecond: rate, seconds })
    await ledger.waitFor(source.committed.size * audience.subscriptions)
    const after = await sender.totals()
    spent = { statements: after.statements - before.statements, cpuMs: after.cpuMs - before.cpuMs }
  })
  const { arrived: deliveries, duplicates } = ledger
  return { lag: percentiles(ledger.lags(source.committed)), deliveries, duplicates, cost, sender: spent }
}

/** The most deliveries a second, for a while. */
async function findMost(source: Source, { accounts, subscriptions, receivers }: Audience): Promise<number> {
  const ledger = await Ledger.open(receivers)
  const how = { accounts, copies: subscriptions, onTheirWay: Math.max(500, 20 * receivers.urls.length) }
  const { expected } = await saturate(source, ledger, { ...how, seconds: Math.min(2, seconds) })
  await ledger.waitFor(expected)
  const run = await saturate(source, ledger, { ...how, seconds })
  await ledger.waitFor(expected + run.expected)
  return run.arrived / run.seconds
}

function report({ audience, wanted, rate }: Plan, runs: readonly Run[], alone: Cost) {
  const each = (of: (run: Run) => number, digits: number) => round(median(runs.map(of)), digits)
  const cost = (of: (cost: Cost) => number, digits: number) =>
    each((run) => (of(run.cost) - (of(alone) * run.deliveries) / audience.subscriptions) / run.deliveries, digits)
  return {
    events_per_second: round(rate, 0),
    wanted_events_per_second: wanted,
    lag_ms: {
      p50: each(({ lag }) => lag.p50, 0),
      p95: each(({ lag }) => lag.p95, 0),
      p99: each(({ lag }) => lag.p99, 0),
    },
    deliveries: runs.reduce((sum, { deliveries }) => sum + deliveries, 0),
    duplicates: runs.reduce((sum, { duplicates }) => sum + duplicates, 0),
    // Without what the events themselves cost.
    per_delivery: {
      statements: each(({ sender, deliveries }) => sender.statements / deliveries, 3),
      wal_bytes: cost(({ walBytes }) => walBytes, 0),
      postgresql_cpu_ms: cost(({ cpuMs }) => cpuMs, 3),
      sender_cpu_ms: each(({ sender, deliveries }) => sender.cpuMs / deliveries, 3),
    },
  }
}

/** All rates, by a sender of their own. */
async function measureAudience(source: Source, audience: Audience, alone: ReadonlyMap<number, Cost>) {
  const { accounts, subscriptions, receivers } = audience
  await source.subscribe(
    receivers.urls.map((url, index) => ({ account: accounts[index % accounts.length] ?? '', url })),
  )
  const rowsBefore = await rowsWritten(source)
  const sender = await startSender(stage.cluster.url({ user: 'florin_worker' }))
  const plans: { plan: Plan; runs: Run[] }[] = []
  let most = 0
  try {
    most = await findMost(source, audience)
    note(`${accounts.length} accounts with ${subscriptions} subscriptions each: ${round(most, 0)} deliveries/s at most`)
    const carried = (carriedShare * most) / subscriptions
    for (const wanted of rates) plans.push({ plan: { audience, wanted, rate: Math.min(wanted, carried) }, runs: [] })
    for (let count = 1; count <= rounds; count += 1) {
      for (const { plan, runs } of plans) {
        const run = await measure(source, sender, plan)
        runs.push(run)
        const { p50, p95, p99 } = run.lag
        note(`round ${count} of ${rounds}: ${round(plan.rate, 0)} events/s: ${p50}, ${p95}, ${p99} ms`)
      }
    }
  } finally {
    await sender.stop()
  }
  // An event is one row, and one in the queue.
  const rows = (await rowsWritten(source)) - rowsBefore - 2 * (await source.count('events'))
  const figures = {
    accounts: accounts.length,
    subscriptions,
    most_deliveries_per_second: round(most, 0),
    rows_per_delivery: round(rows / (await source.count('webhook_deliveries')), 2),
    rates: plans.map(({ plan, runs }) => report(plan, runs, alone.get(plan.wanted) ?? { walBytes: 0, cpuMs: 0 })),
  }
  await source.clear()
  return figures
}

const good = (length: number) => Array.from({ length }, () => 'good' as const)

const stage = await startStage()
const [one, ten, hundred] = [
  await startReceivers(good(1)),
  await startReceivers(good(10)),
  await startReceivers(good(100)),
]
try {
  const source = await stage.open()
  const alone = new Map<number, Cost>()
  for (const rate of rates) {
    note(`${rate} events/s that nobody hears of`)
    const commit = (accounts: readonly string[]) => source.commitAtRate(accounts, { perSecond: rate, seconds })
    alone.set(rate, await costOfEvent(stage, source, commit))
  }
  const audiences = [
    await measureAudience(source, { accounts: ['one'], subscriptions: 1, receivers: one }, alone),
    await measureAudience(source, { accounts: ['ten'], subscriptions: 10, receivers: ten }, alone),
    await measureAudience(
      source,
      { accounts: hundred.urls.map((_url, index) => `shop-${index}`), subscriptions: 1, receivers: hundred },
      alone,
    ),
  ]
  // One that had to be lowered was not carried.
  const passed = (audiences[0]?.rates ?? [])
    .filter(({ wanted_events_per_second: wanted }) => wanted === floor.rate)
    .every(({ events_per_second: rate, lag_ms }) => rate === floor.rate && lag_ms.p99 < floor.p99Ms)
  console.log(JSON.stringify({ bench: 'webhooks', rounds, seconds, audiences, p99_ms_below: floor.p99Ms, passed }))
  process.exitCode = passed ? 0 : 1
} finally {
  await Promise.all([one.stop(), ten.stop(), hundred.stop()])
  await stage.close()
}
