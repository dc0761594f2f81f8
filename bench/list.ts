import { writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { createClient } from './list/ask.ts'
import { measurePage, type Rounds } from './list/bare.ts'
import { measureCombinations } from './list/combinations.ts'
import { makeToken, provideDatabase, sizesOf } from './list/database.ts'
import { measureFilters } from './list/filters.ts'
import { measureGrowth, type Served } from './list/growth.ts'
import { failuresOf, floors, type Report, type SizeFigures } from './list/report.ts'
import { measureWide } from './list/wide.ts'
import { bigAccount, fewestRows } from './list/world.ts'
import { note, type Rig, round, startRig } from './rig.ts'

/**
 * What lists of transactions cost at a size: every filter, combinations of them, several accounts, and the first page through the API against the same
 * statement by pgbench. With several sizes also how the first page's cost grows.
 */
const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    times: { type: 'string', default: '200' },
    combinations: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
    pool: { type: 'string', default: '10' },
    data: { type: 'string' },
    figures: { type: 'string' },
    'node-options': { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run bench:list -- [--rows 100000] [--times 200] [--combinations 500] [--rounds 5] [--seconds 5] [--connections 8] [--pool 10] [--node-options=--cpu-prof]
  --rows     how many transactions; several sizes with commas between, to see the growth
  --data     a folder that keeps the data for the next run; 10 million rows take about 55 GB
  --figures  a file that the figures are written to as well; docs/scale.md is made from docs/scale.json

Example: npm run bench:list -- --rows 100000,1000000,10000000 --data /var/tmp/florin-list --figures docs/scale.json`)
  process.exit(0)
}
const sizes = options.rows
  .split(',')
  .map(Number)
  .sort((left, right) => left - right)
if (!sizes.every((rows) => Number.isSafeInteger(rows) && rows >= fewestRows)) {
  throw new Error(`--rows ${options.rows}: must be ${fewestRows} or more, several with commas between`)
}
const times = Number(options.times)
const how: Rounds = {
  rounds: Number(options.rounds),
  seconds: Number(options.seconds),
  connections: Number(options.connections),
}

async function serve(rig: Rig, rows: number): Promise<Served> {
  const database = await provideDatabase(rig.cluster, rows)
  const token = await makeToken(rig.cluster, database, [bigAccount])
  return { rows, database, token, servers: await rig.startServers({ database, nodeOptions: options['node-options'] }) }
}

async function measureSize(rig: Rig, { rows, database, token, servers }: Served): Promise<SizeFigures> {
  const client = createClient(servers.port, token, bigAccount)
  note(`${rows} rows: every filter`)
  const filters = await measureFilters(client, rows, times)
  note(`${rows} rows: combinations`)
  const combinations = await measureCombinations(client, rows, Number(options.combinations))
  note(`${rows} rows: several accounts, the middle, large pages`)
  const wide = await measureWide(rig.cluster, { database, port: servers.port, client, rows, times })
  client.close()
  const page = (limit: number) => measurePage(rig, servers, { ...how, database, token, limit })
  const pages = { '20': await page(20), '500': await page(500) }
  return { rows, bytes: await sizesOf(rig.cluster, database), filters, combinations, wide, pages }
}

/** As a server of its own would have it, and so that filling writes no log. */
const settings = {
  shared_buffers: Math.max(...sizes) > 1_000_000 ? '4GB' : '512MB',
  max_wal_size: '2GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
}

const loadBefore = round(loadavg()[0] ?? 0, 1)
const rig = await startRig({
  environment: 'production',
  pool: options.pool,
  settings,
  ...(options.data === undefined ? {} : { data: options.data }),
})
try {
  const served: Served[] = []
  for (const rows of sizes) served.push(await serve(rig, rows))
  const figures: SizeFigures[] = []
  for (const one of served) figures.push(await measureSize(rig, one))
  const measured = {
    sizes: figures,
    ...(served.length > 1 ? { growth: await measureGrowth(rig, served, how) } : {}),
  }
  const failed = failuresOf(measured)
  const machine = {
    cpus: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    postgresql: rig.cluster.binaries.version,
    shared_buffers: settings.shared_buffers,
    load_before: loadBefore,
  }
  const passed = failed.length === 0
  const report: Report = { bench: 'list', machine, ...how, times, ...measured, floors, failed, passed }
  if (options.figures !== undefined) writeFileSync(options.figures, `${JSON.stringify(report, null, 2)}\n`)
  console.log(JSON.stringify(report))
  process.exitCode = passed ? 0 : 1
} finally {
  await rig.close()
}
