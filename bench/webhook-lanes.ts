import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startNatsCluster } from '../scripts/nats-cluster.ts'
import { cpuOf } from './cpu.ts'
import { median, note, percentiles, round } from './rig.ts'
import { type Cost, costOf, costOfEvent } from './webhooks/cost.ts'
import { Ledger } from './webhooks/ledger.ts'
import { saturate } from './webhooks/saturate.ts'
import { type Sender, startReceivers, startSender, startStage, until } from './webhooks/stage.ts'

/**
 * Webhooks from PostgreSQL alone beside webhooks through NATS, in turn at the same rates: lag, and what a delivery costs PostgreSQL, the senders and
 * the servers of NATS. Ten accounts with a subscription each; receivers answer at once; all of it shares one machine.
 */
const { values: options } = parseArgs({
  options: {
    rates: { type: 'string', default: '500,2000,5000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    senders: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run bench:webhook-lanes -- [--rates 500,2000,5000] [--rounds 3] [--seconds 6] [--senders 2]

--rates    events a second, one delivery each; those that the machine does not carry are lowered to what it does, and that is said
--seconds  of each rate
--senders  processes that relay and send, as workers do

Example: npm run bench:webhook-lanes -- --rates 100 --rounds 1 --seconds 2`)
  process.exit(0)
}
const rates = options.rates.split(',').map(Number)
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const senderCount = Number(options.senders)
/** Of what the slower lane can do at most: above it, lag is the length of a queue. */
const carriedShare = 0.6
/** By that much the lane is to lower what a delivery costs PostgreSQL, or it stays off. */
const wantedSaving = 1 / 3
const lumpsASecond = 2

const lanes = ['postgresql', 'nats'] as const
type LaneName = (typeof lanes)[number]
const accounts = Array.from({ length: 10 }, (_, index) => `account-${index}`)

interface Run {
  lag: { p50: number; p95: number; p99: number }
  deliveries: number
  duplicates: number
  /** Of the deliveries, how many really went through NATS. */
  published: number
  cost: Cost
  /** Of the senders. */
  statements: number
  senderCpuMs: number
  natsCpuMs: number
}

const natsCpu = () => nats.nodes.reduce((sum, { pid }) => sum + (pid === undefined ? 0 : cpuOf(pid)), 0)

async function totals(senders: readonly Sender[]): Promise<{ cpuMs: number; statements: number; published: number }> {
  const all = await Promise.all(senders.map((sender) => sender.totals()))
  return {
    cpuMs: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    statements: all.reduce((sum, { statements }) => sum + statements, 0),
    published: all.reduce((sum, { lane }) => sum + lane.published, 0),
  }
}

async function withSenders<Result>(lane: LaneName, work: (senders: Sender[]) => Promise<Result>): Promise<Result> {
  const url = stage.cluster.url({ user: 'florin_worker' })
  const senders = await Promise.all(
    Array.from({ length: senderCount }, () => startSender(url, lane === 'nats' ? nats.url : undefined)),
  )
  try {
    const warm = await Ledger.open(receivers)
    const { expected } = await saturate(source, warm, { accounts, onTheirWay: 500, seconds: Math.min(2, seconds) })
    await warm.waitFor(expected)
    await allWritten()
    return await work(senders)
  } finally {
    await Promise.all(senders.map((sender) => sender.stop()))
  }
}

/** What became of the attempts is part of what they cost. */
const allWritten = () =>
  until(
    async () => (await source.count("(select from webhook_deliveries where status = 'pending' limit 1) as one")) === 0,
    () => 'there are deliveries without a result',
  )

const findMost = (lane: LaneName) =>
  withSenders(lane, async () => {
    const ledger = await Ledger.open(receivers)
    const run = await saturate(source, ledger, { accounts, onTheirWay: 1_000, seconds })
    await ledger.waitFor(run.expected)
    await allWritten()
    return run.arrived / run.seconds
  })

type Commit = (accounts: readonly string[]) => Promise<void>

/** The same number in lumps: whoever relays slowly gathers more at a time, and that alone is cheaper. Here both gather the same. */
const inLumps =
  (perSecond: number): Commit =>
  async (of) => {
    const [start, size] = [performance.now(), Math.ceil(perSecond / lumpsASecond)]
    for (let lump = 1; lump <= seconds * lumpsASecond; lump += 1) {
      await source.commit(Array.from({ length: size }, (_, index) => of[index % of.length] ?? ''))
      await delay(Math.max(0, start + (lump * 1000) / lumpsASecond - performance.now()))
    }
  }
const evenly =
  (perSecond: number): Commit =>
  (of) =>
    source.commitAtRate(of, { perSecond, seconds })

const measure = (lane: LaneName, commit: Commit): Promise<Run> =>
  withSenders(lane, async (senders) => {
    const ledger = await Ledger.open(receivers)
    source.committed.clear()
    const before = { ...(await totals(senders)), nats: natsCpu() }
    const cost = await costOf(stage, source, async () => {
      await commit(accounts)
      await ledger.waitFor(source.committed.size)
      await allWritten()
    })
    const after = { ...(await totals(senders)), nats: natsCpu() }
    return {
      lag: percentiles(ledger.lags(source.committed)),
      deliveries: ledger.arrived,
      duplicates: ledger.duplicates,
      published: after.published - before.published,
      cost,
      statements: after.statements - before.statements,
      senderCpuMs: after.cpuMs - before.cpuMs,
      natsCpuMs: after.nats - before.nats,
    }
  })

function report(runs: readonly Run[], alone: Cost) {
  const each = (of: (run: Run) => number, digits: number) => round(median(runs.map(of)), digits)
  const sum = (of: (run: Run) => number) => runs.reduce((total, run) => total + of(run), 0)
  return {
    lag_ms: { p50: each(({ lag }) => lag.p50, 0), p99: each(({ lag }) => lag.p99, 0) },
    deliveries: sum(({ deliveries }) => deliveries),
    duplicates: sum(({ duplicates }) => duplicates),
    through_nats: sum(({ published }) => published),
    // Without what the events themselves cost.
    per_delivery: {
      postgresql_cpu_ms: each(({ cost, deliveries }) => cost.cpuMs / deliveries - alone.cpuMs, 3),
      wal_bytes: each(({ cost, deliveries }) => cost.walBytes / deliveries - alone.walBytes, 0),
      statements: each(({ statements, deliveries }) => statements / deliveries, 3),
      sender_cpu_ms: each(({ senderCpuMs, deliveries }) => senderCpuMs / deliveries, 3),
      nats_cpu_ms: each(({ natsCpuMs, deliveries }) => natsCpuMs / deliveries, 3),
    },
  }
}

const stage = await startStage()
const nats = await startNatsCluster()
const receivers = await startReceivers(accounts.map(() => 'good' as const))
const source = await stage.open()
try {
  const subscribe = () =>
    source.subscribe(accounts.map((account, index) => ({ account, url: receivers.urls[index] ?? '' })))
  await subscribe()
  const most = { postgresql: await findMost('postgresql'), nats: await findMost('nats') }
  note(`at most ${round(most.postgresql, 0)} deliveries/s from PostgreSQL alone, ${round(most.nats, 0)} through NATS`)
  const carried = round(carriedShare * Math.min(most.postgresql, most.nats), 0)
  await source.clear()
  const plans = []
  // All that are too much are one.
  for (const rate of new Set(rates.map((wanted) => Math.min(wanted, carried)))) {
    for (const [pattern, commit] of [
      ['evenly', evenly(rate)],
      ['in lumps', inLumps(rate)],
    ] as const) {
      const alone = await costOfEvent(stage, source, commit)
      plans.push({ rate, pattern, commit, alone, runs: { postgresql: [] as Run[], nats: [] as Run[] } })
    }
  }
  await subscribe()
  for (let count = 1; count <= rounds; count += 1) {
    // Who begins has the smaller tables: each in turn.
    const order = count % 2 === 1 ? lanes : lanes.toReversed()
    for (const { rate, pattern, commit, runs } of plans) {
      for (const lane of order) {
        const run = await measure(lane, commit)
        runs[lane].push(run)
        const { p50, p99 } = run.lag
        note(`round ${count} of ${rounds}: ${lane}, ${rate} events/s ${pattern}: ${p50}, ${p99} ms`)
      }
    }
  }
  const figures = plans.map(({ rate, pattern, alone, runs }) => {
    const [postgresql, throughNats] = [report(runs.postgresql, alone), report(runs.nats, alone)]
    const saved = (of: (figures: typeof postgresql) => number) => round(1 - of(throughNats) / of(postgresql), 2)
    return {
      events_per_second: rate,
      pattern,
      postgresql,
      nats: throughNats,
      saved: {
        postgresql_cpu: saved(({ per_delivery }) => per_delivery.postgresql_cpu_ms),
        wal: saved(({ per_delivery }) => per_delivery.wal_bytes),
      },
    }
  })
  const isWorthIt = figures.every(({ saved }) => saved.postgresql_cpu >= wantedSaving && saved.wal >= wantedSaving)
  // Fast is not asked for here, but nothing may be lost, and the lane must have been used.
  const passed = figures.every(({ nats: { through_nats, deliveries } }) => through_nats >= 0.9 * deliveries)
  console.log(
    JSON.stringify({
      bench: 'webhook-lanes',
      rounds,
      seconds,
      senders: senderCount,
      wanted_rates: rates,
      most_deliveries_per_second: { postgresql: round(most.postgresql, 0), nats: round(most.nats, 0) },
      carried_events_per_second: carried,
      rates: figures,
      lane_saves_a_third: isWorthIt,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await receivers.stop()
  await nats.stop()
  await stage.close()
}
