import { parseArgs } from 'node:util'
import { startMortalCluster } from '../test/webhook-kills/cluster.ts'
import { runKills } from '../test/webhook-kills/run.ts'

/**
 * Those who commit events, those who send them and PostgreSQL are killed with SIGKILL, at every step and at any moment. In the end every
 * event that was committed was received by every subscription that wants it, and nothing else was.
 */
const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '50000' },
    'per-second': { type: 'string', default: '300' },
    rounds: { type: 'string', default: '5' },
    kills: { type: 'string', default: '4' },
    'database-kills': { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:webhook-kills -- [--events 50000] [--per-second 300] [--rounds 5] [--kills 4] [--database-kills 2]

--events          committed at least
--per-second      committed at most
--rounds          after each, retries fall due at once
--kills           processes that die at each point, in each round
--database-kills  how often PostgreSQL dies, in each round

Example: npm run proof:webhook-kills -- --events 2000 --rounds 1`)
  process.exit(0)
}

const floor = { events: Number(options.events), lost: 0, phantoms: 0, refused: 0 }
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
  console.log(JSON.stringify({ proof: 'webhook-kills', ...report, floor }))
  process.exitCode = report.passed ? 0 : 1
} finally {
  await cluster.stop()
}
