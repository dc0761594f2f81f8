import { parseArgs } from 'node:util'
import { startMortalCluster } from '../test/webhook-kills/cluster.ts'
import { measureRecovery } from '../test/webhook-kills/recovery.ts'
import { runKills } from '../test/webhook-kills/run.ts'
import { measureStops } from '../test/webhook-kills/stops.ts'
import { startTroubledNats, troubles } from '../test/webhook-kills/troubled-nats.ts'

/**
 * Those who commit events, those who send them and PostgreSQL are killed with SIGKILL, at every step and at any moment. In the end every
 * event that was committed was received by every subscription that wants it, and nothing else was. Afterwards, with nobody killed, a
 * subscription is made inactive under load, and is sent nothing a second later. With `--lane nats` first attempts go through NATS, whose servers are
 * killed too: each, two of three, all, and all with what they have stored.
 */
const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '50000' },
    'per-second': { type: 'string', default: '300' },
    rounds: { type: 'string', default: '5' },
    kills: { type: 'string', default: '4' },
    'database-kills': { type: 'string', default: '2' },
    stops: { type: 'string', default: '20' },
    lane: { type: 'string', default: 'rows' },
    trouble: { type: 'string', default: 'kills' },
    'recovery-events': { type: 'string', default: '10000' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:webhook-kills -- [--events 50000] [--per-second 300] [--rounds 5] [--kills 4] [--database-kills 2] [--stops 20]
                                    [--lane rows|nats] [--trouble kills|partitions|power-cuts] [--recovery-events 10000]

--events          committed at least
--per-second      committed at most
--rounds          after each, retries fall due at once
--kills           processes that die at each point, in each round
--database-kills  how often PostgreSQL dies, in each round
--stops           how often a subscription is made inactive, afterwards
--lane            how first attempts go: from their rows, or through NATS, whose servers are killed too
--trouble         what befalls the servers of NATS; partitions and power cuts need Linux and root
--recovery-events committed while all servers of NATS lose everything, afterwards; only with --lane nats

Example: npm run proof:webhook-kills -- --events 2000 --rounds 1
         npm run proof:webhook-kills -- --lane nats`)
  process.exit(0)
}
if (!['rows', 'nats'].includes(options.lane)) throw new Error(`--lane is rows or nats, not ${options.lane}`)

const floor = {
  events: Number(options.events),
  lost: 0,
  phantoms: 0,
  refused: 0,
  longest_stop_ms: 1_000,
  recovery_seconds_per_10000: 60,
}
const trouble = troubles.find((one) => one === options.trouble)
if (!trouble) throw new Error(`--trouble is one of ${troubles.join(', ')}, not ${options.trouble}`)
const cluster = await startMortalCluster()
const troubled = options.lane === 'nats' ? await startTroubledNats(trouble) : undefined
const nats = troubled?.nats
try {
  const report = await runKills({
    cluster,
    events: floor.events,
    perSecond: Number(options['per-second']),
    rounds: Number(options.rounds),
    kills: Number(options.kills),
    databaseKills: Number(options['database-kills']),
    ...(troubled && { nats: troubled.nats, natsFaults: troubled.faults }),
    note: (line) => process.stderr.write(`${line}\n`),
  })
  const stops = await measureStops(cluster, { times: Number(options.stops), perSecond: 100, natsUrl: nats?.url })
  const recovery =
    nats &&
    (await measureRecovery(cluster, nats, {
      events: Number(options['recovery-events']),
      perSecond: Number(options['per-second']),
    }))
  const hasRecovered =
    !recovery ||
    (recovery.lost === 0 &&
      recovery.deliveries_open === 0 &&
      recovery.seconds <= floor.recovery_seconds_per_10000 * Math.max(1, recovery.wanted / 10_000))
  const passed =
    report.passed && stops.longest_ms <= floor.longest_stop_ms && stops.late === 0 && stops.kept > 0 && hasRecovered
  console.log(
    JSON.stringify({
      proof: 'webhook-kills',
      first_attempts: options.lane,
      trouble,
      ...report,
      stops,
      recovery,
      floor,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await troubled?.stop()
  await cluster.stop()
}
