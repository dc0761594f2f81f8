import { parseArgs } from 'node:util'
import { startMortalCluster } from '../test/webhook-kills/cluster.ts'
import { runKills } from '../test/webhook-kills/run.ts'
import { measureStops } from '../test/webhook-kills/stops.ts'

/**
 * Those who commit events, those who send them and PostgreSQL are killed with SIGKILL, at every step and at any moment. In the end every
 * event that was committed was received by every subscription that wants it, and nothing else was. Afterwards, with nobody killed, a
 * subscription is made inactive under load, and is sent nothing a second later.
 */
const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '50000' },
    'per-second': { type: 'string', default: '300' },
    rounds: { type: 'string', default: '5' },
    kills: { type: 'string', default: '4' },
    'database-kills': { type: 'string', default: '2' },
    stops: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:webhook-kills -- [--events 50000] [--per-second 300] [--rounds 5] [--kills 4] [--database-kills 2] [--stops 20]

--events          committed at least
--per-second      committed at most
--rounds          after each, retries fall due at once
--kills           processes that die at each point, in each round
--database-kills  how often PostgreSQL dies, in each round
--stops           how often a subscription is made inactive, afterwards

Example: npm run proof:webhook-kills -- --events 2000 --rounds 1`)
  process.exit(0)
}

const floor = { events: Number(options.events), lost: 0, phantoms: 0, refused: 0, longest_stop_ms: 1_000 }
const cluster = await startMortalCluster()
try {
  const report = await runKills({
    cluster,
    events: floor.events,
    perSecond: Number(options['per-second']),
    rounds: Number(options.rounds),
    kills: Number(options.kills),
    databaseKills: Number(options['database-kills']),
    note: (line) => process.stderr.write(`${line}\n`),
  })
  const stops = await measureStops(cluster, { times: Number(options.stops), perSecond: 100 })
  const passed = report.passed && stops.longest_ms <= floor.longest_stop_ms && stops.late === 0 && stops.kept > 0
  console.log(JSON.stringify({ proof: 'webhook-kills', ...report, stops, floor, passed }))
  process.exitCode = passed ? 0 : 1
} finally {
  await cluster.stop()
}
