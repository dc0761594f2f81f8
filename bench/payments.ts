import pg from 'pg'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'
import { runModel } from '../test/payment-model/run.ts'
import { createWorld, type World } from '../test/payment-model/world.ts'

/**
 * Random sequences of payments, answers of buyers, captures, refunds, crashes and lost answers, against a model in memory; after every
 * step everything on record, ours and the provider's, must be what the model says. A difference is made short and printed with its seed.
 */
const sequences = Number(process.env['MODEL_SEQUENCES'] ?? 200)
const seed = Number(process.env['MODEL_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const path = process.env['MODEL_PATH']
const lanes = path === undefined ? Number(process.env['MODEL_LANES'] ?? 3) : 1
const note = (line: string) => process.stderr.write(`${line}\n`)

const cluster = await startCluster({ fast: true, maxConnections: 100 })
const worlds: World[] = []
try {
  const client = new pg.Client({ connectionString: cluster.url() })
  await client.connect()
  await client.query('create database template_of_lanes')
  await migrate(cluster.url({ database: 'template_of_lanes' }))
  for (let lane = 0; lane < lanes; lane += 1) {
    const database = `lane_${lane}`
    await client.query(`create database ${database} template template_of_lanes`)
    const url = (user?: string) => cluster.url({ database, ...(user && { user }) })
    worlds.push(await createWorld({ apiUrl: url('florin_api'), workerUrl: url('florin_worker'), adminUrl: url() }))
  }
  await client.end()

  note(`seed ${seed}, ${sequences} sequences in ${lanes} lanes`)
  const began = performance.now()
  const seconds = () => Number(((performance.now() - began) / 1000).toFixed(1))
  let done = 0
  const results = await Promise.all(
    worlds.map((world, lane) =>
      runModel(world, {
        sequences: Math.ceil((sequences - lane) / lanes),
        // Each lane its own, and all of them from one.
        seed: seed + lane,
        ...(path !== undefined && { path }),
        onSequence: () => {
          done += 1
          if (done % 500 === 0) note(`${done} of ${sequences} sequences, ${seconds()} s`)
        },
      }),
    ),
  )
  const differences = results.flatMap(({ difference }) => difference ?? [])
  for (const difference of differences) note(`\n${difference}`)
  const total = (field: 'sequences' | 'commands') => results.reduce((sum, result) => sum + result[field], 0)
  const endings: Record<string, number> = {}
  for (const [ending, times] of results.flatMap((result) => Object.entries(result.endings))) {
    endings[ending] = (endings[ending] ?? 0) + times
  }
  const passed = differences.length === 0
  console.log(
    JSON.stringify({
      proof: 'payments',
      sequences: total('sequences'),
      commands: total('commands'),
      requests: endings,
      differences: differences.length,
      seed,
      seconds: seconds(),
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await Promise.all(worlds.map((world) => world.close()))
  await cluster.stop()
}
