import { parseArgs } from 'node:util'
import { migrate } from '../src/platform/migrations.ts'
import { median, note, percentiles, round } from './rig.ts'
import { Ledger } from './webhooks/ledger.ts'
import { park } from './webhooks/parked.ts'
import { type Source, startReceivers, startSender, startStage, until } from './webhooks/stage.ts'

/**
 * Deliveries that are parked for a dead endpoint, all of them due, and what healthy ones notice: from commit to first attempt in a database with them
 * and in one without, in turns. Then the endpoint is back: what was parked is sent, the oldest first, each once.
 */
const { values: options } = parseArgs({
  options: {
    parked: { type: 'string', default: '1000000' },
    drained: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '8' },
    rate: { type: 'string', default: '200' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:webhook-parked -- [--parked 1000000] [--drained 50000] [--rounds 5] [--seconds 8] [--rate 200]

--parked   deliveries of the dead endpoint
--drained  how many of them are waited for when it is back
--rate     events a second, for ten healthy endpoints in turn

Example: npm run proof:webhook-parked -- --parked 20000 --drained 2000 --rounds 1 --seconds 3`)
  process.exit(0)
}
const [parked, drained] = [Number(options.parked), Math.min(Number(options.drained), Number(options.parked))]
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const perSecond = Number(options.rate)
const floor = { ratio: 1.5 }
/** How far one may be before another that is older: what is taken at once, and as much again that is on its way. */
const mostAhead = 224

const dead = 'dead'
const accounts = Array.from({ length: 10 }, (_none, index) => `shop-${index}`)

/** Milliseconds, and how many of them PostgreSQL has worked for each event. */
type Lag = ReturnType<typeof percentiles> & { cpu: number }

interface Side {
  source: Source
  url: string
}

/** Commit to first attempt of the healthy endpoints, by a sender that has just learnt that the other one is dead. */
async function measure({ source, url }: Side): Promise<Lag> {
  const sender = await startSender(url)
  try {
    source.committed.clear()
    const warmUp = await Ledger.open(healthy)
    await source.commitAtRate(accounts, { perSecond, seconds: Math.min(4, seconds) })
    await warmUp.waitFor(source.committed.size)
    source.committed.clear()
    const ledger = await Ledger.open(healthy)
    const cpuBefore = stage.cpu()
    await source.commitAtRate(accounts, { perSecond, seconds })
    await ledger.waitFor(source.committed.size)
    const cpu = (stage.cpu() - cpuBefore) / source.committed.size
    return { ...percentiles(ledger.lags(source.committed)), cpu }
  } finally {
    await sender.stop()
  }
}

/** The endpoint is back. */
async function drain({ source, url }: Side) {
  const before = await source.count(`webhook_deliveries where status = 'pending'`)
  const expected = (
    await source.client.query<{ event_id: string }>(
      `select event_id from webhook_deliveries where status = 'pending' order by next_attempt_at, id limit ${drained}`,
    )
  ).rows.map(({ event_id }) => event_id)
  const position = new Map(expected.map((event, index) => [event, index]))
  reviving.become({ receiver: 0, behaviour: 'good' })
  const ledger = await Ledger.open(reviving)
  const sender = await startSender(url)
  const order: string[] = []
  let [start, toldOf] = [0, 0]
  await until(
    async () => {
      const { events, times } = await ledger.update()
      for (const event of events) order.push(event)
      if (start === 0 && events.length > 0) start = times[0] ?? 0
      if (ledger.arrived >= toldOf + drained / 10) note(`${(toldOf = ledger.arrived)} have arrived`)
      return ledger.arrived >= drained
    },
    () => `${ledger.arrived} of ${drained} have arrived`,
  )
  const took = (Date.now() - start) / 1000
  await sender.stop()
  await ledger.update().then(({ events }) => order.push(...events))
  const ahead = order.slice(0, drained).map((event, index) => (position.get(event) ?? drained) - index)
  const after = await source.count(`webhook_deliveries where status = 'pending'`)
  return {
    drained: order.length,
    drained_per_second: round(drained / took, 0),
    drained_most_ahead: Math.max(...ahead),
    drained_duplicates: ledger.duplicates,
    // That the rows say are over, and that never arrived.
    drained_lost: Math.max(0, before - after - ledger.arrived),
  }
}

const stage = await startStage()
const healthy = await startReceivers(accounts.map(() => 'good'))
const reviving = await startReceivers(['error'])
try {
  const maker = await stage.open()
  const prepare = async (database: string): Promise<Side & { deadId: string }> => {
    await maker.client.query(`create database ${database}`)
    await migrate(stage.cluster.url({ database }))
    const source = await stage.open(database)
    const urls = [...healthy.urls, ...reviving.urls]
    const ids = await source.subscribe(
      [...accounts, dead].map((account, index) => ({ account, url: urls[index] ?? '' })),
    )
    return { source, url: stage.cluster.url({ user: 'florin_worker', database }), deadId: ids.at(-1) ?? '' }
  }
  const sides = { without: await prepare('without_parked'), with: await prepare('with_parked') }
  await park(sides.with.source, { account: dead, subscriptionId: sides.with.deadId, count: parked })

  const lags = { without: [] as Lag[], with: [] as Lag[] }
  for (let count = 1; count <= rounds; count += 1) {
    // By turns the one and the other first.
    for (const side of count % 2 === 1 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      const lag = await measure(sides[side])
      lags[side].push(lag)
      note(
        `round ${count} of ${rounds}: ${side} parked deliveries: ${lag.p50}, ${lag.p95}, ${lag.p99} ms; ${round(lag.cpu, 2)} ms of PostgreSQL for each event`,
      )
    }
  }
  const ratios = lags.with.map(({ p99 }, index) => p99 / (lags.without[index]?.p99 ?? 0))
  const ratio = median(ratios)
  note('the endpoint is back')
  const draining = await drain(sides.with)
  const isDrainedRight =
    draining.drained_most_ahead <= mostAhead && draining.drained_duplicates === 0 && draining.drained_lost === 0
  const passed = ratio <= floor.ratio && isDrainedRight
  const figuresOf = (of: readonly Lag[]) => ({
    p50: median(of.map(({ p50 }) => p50)),
    p95: median(of.map(({ p95 }) => p95)),
    p99: median(of.map(({ p99 }) => p99)),
    postgresql_cpu_ms: round(median(of.map(({ cpu }) => cpu)), 3),
  })
  console.log(
    JSON.stringify({
      proof: 'webhook-parked',
      parked,
      rounds,
      seconds,
      events_per_second: perSecond,
      without: figuresOf(lags.without),
      with: figuresOf(lags.with),
      p99_ratio: round(ratio, 3),
      p99_ratios: ratios.map((one) => round(one, 3)),
      p99_ratio_most: floor.ratio,
      ...draining,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await Promise.all([healthy.stop(), reviving.stop()])
  await stage.close()
}
