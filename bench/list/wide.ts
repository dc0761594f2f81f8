import type { Cluster } from '../../src/cli/postgres-cluster.ts'
import { type Client, createClient, pageOf, type Timing, timeQuery } from './ask.ts'
import { makeToken } from './database.ts'
import { filterValues, marks } from './values.ts'
import { accountIds } from './world.ts'

export type WideFigures = Record<string, Timing>

/** Pages that are not the first of one account: over several accounts, from the middle, large ones. */
export async function measureWide(
  cluster: Cluster,
  {
    database,
    port,
    client,
    rows,
    times,
  }: { database: string; port: number; client: Client; rows: number; times: number },
): Promise<WideFigures> {
  const time = async (of: Client, query: string): Promise<Timing> => {
    const { p50, p99 } = await timeQuery(of, query, times)
    return { p50, p99 }
  }
  const ten = createClient(port, await makeToken(cluster, database, accountIds.slice(0, 10)), '*')
  const all = createClient(port, await makeToken(cluster, database, []), '*')
  const status = `status=${marks.status.half}`
  const middle = filterValues(rows)['created_at_lte']?.half ?? ''
  const { next_cursor: cursor } = pageOf(await client.ask(middle))
  const figures = {
    'first page': await time(client, ''),
    'first page, 10 accounts': await time(ten, ''),
    'first page, 10 accounts, by status': await time(ten, status),
    'first page, 200 accounts': await time(all, ''),
    'first page, 200 accounts, by status': await time(all, status),
    'page from the middle': await time(client, `${middle}&cursor=${cursor}`),
    'page of 500': await time(client, 'limit=500'),
  }
  ten.close()
  all.close()
  return figures
}
