import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from '../http-load.ts'
import { median, note, percentiles, type Rig, round, type Servers } from '../rig.ts'
import { firstPageText } from './statement.ts'
import { bigAccount } from './world.ts'

export interface PageFigures {
  requests_per_second: number
  /** The same statement by pgbench as florin_api, parsed and planned each time as ours is. */
  bare_per_second: number
  ratio: number
  /** Planned once and then only run, which a transaction pooler does not allow us. */
  prepared_per_second: number
  ratio_to_prepared: number
  latency_ms: { p50: number; p95: number; p99: number }
  cpu_us: { api: number; postgresql: number; postgresql_bare: number; postgresql_without_walls: number }
  /** What row level security adds to PostgreSQL's work for the statement. */
  walls_cost: number
}

export interface Rounds {
  rounds: number
  seconds: number
  connections: number
}

/** What is run in turns: through the API, and the statement alone in three ways. */
const ways = {
  bare: { user: 'florin_api', protocol: 'extended' },
  prepared: { user: 'florin_api', protocol: 'prepared' },
  // The superuser passes through row level security.
  unwalled: { protocol: 'extended' },
} as const

export const listRequest = (token: string, query: string): string =>
  `GET /transactions?${query} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
  `x-service-merchant-account-id: ${bigAccount}\r\n\r\n`

/** First pages of this size, through the API against the same statement by pgbench. */
export async function measurePage(
  rig: Rig,
  servers: Servers,
  { database, token, limit, rounds, seconds, connections }: Rounds & { database: string; token: string; limit: number },
): Promise<PageFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'fcl-'))
  const script = join(folder, 'page.sql')
  writeFileSync(script, firstPageText(limit))
  const request = listRequest(token, `limit=${limit}`)
  const ask = () => load({ port: servers.port, connections, seconds, makeRequest: () => request, wantedStatus: 200 })

  const rates = { api: [] as number[], bare: [] as number[], prepared: [] as number[] }
  const cpu = { api: [] as number[], postgresql: [] as number[], bare: [] as number[], unwalled: [] as number[] }
  const latencies: number[] = []
  const runBare = async (way: keyof typeof ways) => {
    const before = rig.cpu(servers).postgresql
    const rate = await rig.pgbench(script, { connections, seconds, database, ...ways[way] })
    const spent = rig.cpu(servers).postgresql - before
    return { rate, cpuUs: (spent * 1000) / (rate * Math.ceil(seconds)) }
  }
  try {
    await ask()
    await runBare('bare')
    for (let count = 1; count <= rounds; count += 1) {
      const start = rig.cpu(servers)
      const run = await ask()
      const end = rig.cpu(servers)
      const [bare, prepared, unwalled] = [await runBare('bare'), await runBare('prepared'), await runBare('unwalled')]
      for (const latency of run.latencies) latencies.push(latency)
      rates.api.push(run.answers / run.seconds)
      rates.bare.push(bare.rate)
      rates.prepared.push(prepared.rate)
      cpu.api.push(((end.api - start.api) * 1000) / run.answers)
      cpu.postgresql.push(((end.postgresql - start.postgresql) * 1000) / run.answers)
      cpu.bare.push(bare.cpuUs)
      cpu.unwalled.push(unwalled.cpuUs)
      note(
        `page of ${limit}, round ${count} of ${rounds}: ${Math.round(run.answers / run.seconds)}/s through the API, ${Math.round(bare.rate)}/s by pgbench`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const against = (others: readonly number[]) =>
    round(median(rates.api.map((rate, index) => rate / (others[index] ?? 0))), 3)
  return {
    requests_per_second: Math.round(median(rates.api)),
    bare_per_second: Math.round(median(rates.bare)),
    ratio: against(rates.bare),
    prepared_per_second: Math.round(median(rates.prepared)),
    ratio_to_prepared: against(rates.prepared),
    latency_ms: percentiles(latencies),
    cpu_us: {
      api: Math.round(median(cpu.api)),
      postgresql: Math.round(median(cpu.postgresql)),
      postgresql_bare: Math.round(median(cpu.bare)),
      postgresql_without_walls: Math.round(median(cpu.unwalled)),
    },
    walls_cost: round(median(cpu.bare.map((spent, index) => spent / (cpu.unwalled[index] ?? 0))) - 1, 3),
  }
}
