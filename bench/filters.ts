import pg from 'pg'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { startApi } from '../src/main/api.ts'
import { migrate } from '../src/platform/migrations.ts'
import { apiConfig } from '../test/api.ts'
import { type RunResult, runComparisons } from '../test/filters/run.ts'
import { openWorld } from '../test/filters/world.ts'
import { note } from './rig.ts'

/**
 * Random queries of GET /transactions on random transactions, walking in both directions, against an oracle in memory; one comparison is
 * one page. The first difference ends it, and is printed with its seed.
 */
const comparisons = Number(process.env['FILTERS_COMPARISONS'] ?? 200_000)
const seed = Number(process.env['FILTERS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

const began = performance.now()
const seconds = () => Number(((performance.now() - began) / 1000).toFixed(1))

async function runOn(databaseUrl: string, admin: pg.Pool): Promise<RunResult> {
  const api = await startApi(apiConfig(databaseUrl, { logLevel: 'error' }), note)
  const run = (text: string, values?: unknown[]) => admin.query(text, values)
  const world = await openWorld({ apiUrl: api.url, databaseUrl, existing: [], run })
  let told = 0
  const onProgress = (done: number) => {
    if (done - told < 10_000) return
    told = done
    note(`${done} of ${comparisons} comparisons, ${seconds()} s`)
  }
  try {
    return await runComparisons(world, { comparisons, seed, onProgress })
  } finally {
    world.close()
    await api.close()
  }
}

const cluster = await startCluster({ fast: true })
const admin = new pg.Pool({ connectionString: cluster.url(), max: 1 })
try {
  note(`seed ${seed}, ${comparisons} comparisons`)
  await migrate(cluster.url())
  const result = await runOn(cluster.url({ user: 'florin_api' }), admin)
  if (result.difference) note(`\n${result.difference.description}`)
  const passed = !result.difference && result.comparisons >= comparisons
  console.log(
    JSON.stringify({
      proof: 'filters',
      comparisons: result.comparisons,
      telling: result.telling,
      differences: result.difference ? 1 : 0,
      seed,
      seconds: seconds(),
      comparisons_per_filter: result.perFilter,
      telling_per_filter: result.tellingPerFilter,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await admin.end()
  await cluster.stop()
}
