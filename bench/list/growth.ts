import { load } from '../http-load.ts'
import { median, note, percentiles, type Rig, round, type Servers } from '../rig.ts'
import { listRequest, type Rounds } from './bare.ts'

/** A database of one size, served. */
export interface Served {
  rows: number
  database: string
  token: string
  servers: Servers
}

export interface GrowthFigures {
  /** Of each size, the smallest first: what the first page of 20 costs, and how long one caller waits for it. */
  sizes: { rows: number; api_us: number; postgresql_us: number; p50_ms: number }[]
  /** Largest against smallest: CPU of both together, and the wait. */
  cpu: number
  p50: number
}

/** The first page at every size, in turns within one run, so that whatever else the machine does falls on all of them. */
export async function measureGrowth(
  rig: Rig,
  all: readonly Served[],
  { rounds, seconds }: Rounds,
): Promise<GrowthFigures> {
  const measured = all.map(({ rows }) => ({
    rows,
    api: [] as number[],
    postgresql: [] as number[],
    p50: [] as number[],
  }))
  const ask = ({ servers, token }: Served) => {
    const request = listRequest(token, 'limit=20')
    return load({ port: servers.port, connections: 1, seconds, makeRequest: () => request, wantedStatus: 200 })
  }
  for (const served of all) await ask(served)
  for (let count = 1; count <= rounds; count += 1) {
    for (const [index, served] of all.entries()) {
      const start = rig.cpu(served.servers)
      const run = await ask(served)
      const end = rig.cpu(served.servers)
      measured[index]?.api.push(((end.api - start.api) * 1000) / run.answers)
      measured[index]?.postgresql.push(((end.postgresql - start.postgresql) * 1000) / run.answers)
      measured[index]?.p50.push(percentiles(run.latencies).p50)
    }
    note(`growth, round ${count} of ${rounds}`)
  }
  const sizes = measured.map(({ rows, api, postgresql, p50 }) => ({
    rows,
    api_us: Math.round(median(api)),
    postgresql_us: Math.round(median(postgresql)),
    p50_ms: round(median(p50), 3),
  }))
  const ratio = (of: (size: (typeof sizes)[number]) => number) => {
    const [first, last] = [sizes[0], sizes.at(-1)]
    return first && last ? round(of(last) / of(first), 3) : 1
  }
  return { sizes, cpu: ratio((size) => size.api_us + size.postgresql_us), p50: ratio(({ p50_ms: ms }) => ms) }
}
