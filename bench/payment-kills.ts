import { parseArgs } from 'node:util'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'
import { targets } from '../test/kills/cases.ts'
import { janitorDeaths } from '../test/kills/gift-card-cases.ts'
import { runKills } from '../test/kills/run.ts'
import { openStage } from '../test/kills/stage.ts'

/**
 * An api is killed with SIGKILL at every step between a request and its answer, and so is the janitor over payments with gift cards.
 * Afterwards clients come back, the janitor goes round, and nothing may be unknown, half-paid, charged twice, lost, or other than the
 * providers' books say.
 */
const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    together: { type: 'string', default: '20' },
    janitors: { type: 'string', default: '5' },
    point: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:payment-kills -- [--kills 100] [--together 20] [--janitors 5] [--point <name>]

--kills     requests that die at each point, of each operation
--together  requests that die with one process; 1: a process each
--janitors  janitors that die at each point on their way
--point     only points whose name contains this

Example: npm run proof:payment-kills -- --kills 5 --point "provider answered"`)
  process.exit(0)
}

const note = (line: string) => process.stderr.write(`${line}\n`)
const cluster = await startCluster({ fast: true, maxConnections: 300 })
try {
  await migrate(cluster.url())
  const stage = await openStage((role) => (role === 'florin_admin' ? cluster.url() : cluster.url({ user: role })))
  try {
    const { details, ...report } = await runKills(stage, {
      account: 'kills',
      targets: targets.filter(({ name }) => name.includes(options.point)),
      janitorDeaths: Array.from({ length: Number(options.janitors) }, () => janitorDeaths)
        .flat()
        .filter(({ point }) => point.includes(options.point)),
      kills: Number(options.kills),
      together: Number(options.together),
      note,
    })
    console.log(JSON.stringify({ proof: 'payment-kills', ...report, violations: details.length }))
    process.exitCode = report.passed ? 0 : 1
  } finally {
    await stage.close()
  }
} finally {
  await cluster.stop()
}
