import { parseArgs } from 'node:util'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'
import { connect } from '../src/platform/postgres.ts'
import { runWalks } from '../test/walks/run.ts'

/** Readers walk through lists of transactions, with filters and without, while others write and change them. */
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '550' },
    floor: { type: 'string', default: '500' },
    rows: { type: 'string', default: '5000' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run proof:walks -- [--seconds 60] [--rate 550] [--floor 500] [--rows 5000]\n\n--rate: transactions to write a second; --floor: fewer are a failure; --rows: there before the first walk\n\nExample: npm run proof:walks -- --seconds 5 --floor 0',
  )
  process.exit(0)
}
const floor = Number(options.floor)

const cluster = await startCluster({})
await migrate(cluster.url())
const open = (user: string | undefined, poolSize: number) =>
  connect({
    url: cluster.url(user === undefined ? {} : { user }),
    applicationName: 'bench',
    poolSize,
    onError: () => undefined,
  })
const databases = { admin: open(undefined, 1), api: open('florin_api', 6), writer: open('florin_api', 10) }
try {
  const report = await runWalks(databases, {
    seconds: Number(options.seconds),
    perSecond: Number(options.rate),
    rows: Number(options.rows),
    largestPage: 500,
  })
  const wrong = report.missed + report.repeated + report.strange
  const passed = wrong === 0 && report.inserted_per_second >= floor
  console.log(JSON.stringify({ proof: 'walks', ...report, inserted_per_second_floor: floor, passed }))
  process.exitCode = passed ? 0 : 1
} finally {
  for (const database of Object.values(databases)) await database.close()
  await cluster.stop()
}
