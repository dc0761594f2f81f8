import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { median, note, percentiles, round } from './rig.ts'
import { Ledger } from './webhooks/ledger.ts'
import { saturate } from './webhooks/saturate.ts'
import { type Receivers, type Sender, type Source, startReceivers, startSender, startStage } from './webhooks/stage.ts'

/**
 * How long an event takes from its commit to the first attempt to tell a subscription, at several rates, with one subscription and with ten; and what a
 * delivery costs PostgreSQL and the sender. Receivers answer at once; all of it shares one machine.
 */
const { values: options } = parseArgs({
  options: {
    rates: { type: 'string', default: '50,500,2000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '8' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run bench:webhooks -- [--rates 50,500,2000] [--rounds 3] [--seconds 8]

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
const carriedShare = 0.75

interface Audience {
  account: string
  subscriptions: number
  receivers: Receivers
}

/** What PostgreSQL has done so far. */
async function counters({ client }: Source) {
  // Processes hand in their counts about once a second.
  await client.query('select pg_stat_force_next_flush()')
  await delay(1_500)
  const { rows } = await client.query<{ rows: number; wal: number }>(`
    select (tup_inserted + tup_updated + tup_deleted)::float8 as rows, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal
    from pg_stat_database where datname = current_database()`)
  return rows[0] ?? { rows: 0, wal: 0 }
}

interface Cost {
  rows: number
  walBytes: number
  cpuMs: number
}

/** Of PostgreSQL, for what is done meanwhile. */
async function costOf(source: Source, work: () => Promise<void>): Promise<Cost> {
  const [before, cpuBefore] = [await counters(source), stage.cpu()]
  await work()
  const cpuMs = stage.cpu() - cpuBefore
  const after = await counters(source)
  return { rows: after.rows - before.rows, walBytes: after.wal - before.wal, cpuMs }
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
  const cost = await costOf(source, async () => {
    const before = await sender.totals()
    await source.commitAtRate(audience.account, { perSecond: rate, seconds })
    await ledger.waitFor(source.committed.size * audience.subscriptions)
    const after = await sender.totals()
    spent = { statements: after.statements - before.statements, cpuMs: after.cpuMs - before.cpuMs }
  })
  const { arrived: deliveries, duplicates } = ledger
  return { lag: percentiles(ledger.lags(source.committed)), deliveries, duplicates, cost, sender: spent }
}

/** The most deliveries a second, for a while. */
async function findMost(source: Source, { account, subscriptions, receivers }: Audience): Promise<number> {
  const ledger = await Ledger.open(receivers)
  const how = { accounts: [account], copies: subscriptions, onTheirWay: Math.max(500, 50 * subscriptions) }
  const { expected } = await saturate(source, ledger, { ...how, seconds: Math.min(2, seconds) })
  await ledger.waitFor(expected)
  const run = await saturate(source, ledger, { ...how, seconds })
  await ledger.waitFor(expected + run.expected)
  return run.arrived / run.seconds
}

/** Of an event, where nobody hears of it. */
async function costOfEvent(source: Source, perSecond: number): Promise<Cost> {
  source.committed.clear()
  const cost = await costOf(source, () => source.commitAtRate('nobody', { perSecond, seconds }))
  const events = source.committed.size
  await source.clear()
  return { rows: cost.rows / events, walBytes: cost.walBytes / events, cpuMs: cost.cpuMs / events }
}

function report({ audience, wanted, rate }: Plan, runs: readonly Run[], alone: Cost) {
  const each = (of: (run: Run) => number, digits: number) => round(median(runs.map(of)), digits)
  const cost = (of: (cost: Cost) => number, digits: number) =>
    each((run) => (of(run.cost) - (of(alone) * run.deliveries) / audience.subscriptions) / run.deliveries, digits)
  return {
    subscriptions: audience.subscriptions,
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
      rows: cost(({ rows }) => rows, 2),
      wal_bytes: cost(({ walBytes }) => walBytes, 0),
      postgresql_cpu_ms: cost(({ cpuMs }) => cpuMs, 3),
      sender_cpu_ms: each(({ sender, deliveries }) => sender.cpuMs / deliveries, 3),
    },
  }
}

const stage = await startStage()
const one = await startReceivers(['good'])
const ten = await startReceivers(Array.from({ length: 10 }, () => 'good' as const))
let sender: Sender | undefined
try {
  const source = await stage.open()
  const alone = new Map<number, Cost>()
  for (const rate of rates) {
    note(`${rate} events/s that nobody hears of`)
    alone.set(rate, await costOfEvent(source, rate))
  }
  const audiences: Audience[] = [
    { account: 'one', subscriptions: 1, receivers: one },
    { account: 'ten', subscriptions: 10, receivers: ten },
  ]
  for (const { account, receivers } of audiences)
    await source.subscribe(receivers.urls.map((url) => ({ account, url })))
  sender = await startSender(stage.cluster.url({ user: 'florin_worker' }))

  const plans: { plan: Plan; runs: Run[] }[] = []
  const most: Record<string, number> = {}
  for (const audience of audiences) {
    const perSecond = await findMost(source, audience)
    most[audience.account] = round(perSecond, 0)
    note(`${audience.subscriptions} subscriptions: ${round(perSecond, 0)} deliveries/s at most`)
    const carried = (carriedShare * perSecond) / audience.subscriptions
    for (const wanted of rates) plans.push({ plan: { audience, wanted, rate: Math.min(wanted, carried) }, runs: [] })
  }
  for (let count = 1; count <= rounds; count += 1) {
    for (const { plan, runs } of plans) {
      const run = await measure(source, sender, plan)
      runs.push(run)
      const { p50, p95, p99 } = run.lag
      note(
        `round ${count} of ${rounds}: ${plan.audience.subscriptions} subscriptions, ${round(plan.rate, 0)} events/s: ${p50}, ${p95}, ${p99} ms`,
      )
    }
  }
  const nothing: Cost = { rows: 0, walBytes: 0, cpuMs: 0 }
  const figures = plans.map(({ plan, runs }) => report(plan, runs, alone.get(plan.wanted) ?? nothing))
  // One that had to be lowered was not carried.
  const passed = figures
    .filter(({ subscriptions, wanted_events_per_second: wanted }) => subscriptions === 1 && wanted === floor.rate)
    .every(({ events_per_second: rate, lag_ms }) => rate === floor.rate && lag_ms.p99 < floor.p99Ms)
  console.log(
    JSON.stringify({
      bench: 'webhooks',
      rounds,
      seconds,
      most_deliveries_per_second: most,
      rates: figures,
      p99_ms_below: floor.p99Ms,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await sender?.stop()
  await Promise.all([one.stop(), ten.stop()])
  await stage.close()
}
