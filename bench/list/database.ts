import { createHash } from 'node:crypto'
import { createAPIKeyPair } from '../../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../../src/areas/merchant-accounts/operations.ts'
import { commandLineContext } from '../../src/cli/command-line-context.ts'
import type { Cluster } from '../../src/cli/postgres-cluster.ts'
import { signToken } from '../../test/sign-token.ts'
import { migrate } from '../../src/platform/migrations.ts'
import { connect, type Database } from '../../src/platform/postgres.ts'
import { sql } from '../../src/platform/sql.ts'
import { fullAccess, note } from '../rig.ts'
import { drawRow } from './draw.ts'
import { fillTables } from './fill.ts'
import { tables } from './lines.ts'
import { accountIds } from './world.ts'

const nameOf = (rows: number) => `list_${rows}`

/** A hash of rows as this code makes them: other rows, other hash. */
function sampleOf(rows: number): string {
  const hash = createHash('sha256')
  for (let row = 0; row < Math.min(rows, 2_000); row += 1) {
    const drawn = drawRow(row, rows)
    for (const { columns, lines } of Object.values(tables)) hash.update(columns.join()).update(lines(drawn))
  }
  return hash.digest('hex')
}

/** The name of the database with this many transactions: the one that is there, brought to the newest migrations, or a new one. */
export async function provideDatabase(cluster: Cluster, rows: number): Promise<string> {
  const database = nameOf(rows)
  const server = connectTo(cluster.url())
  try {
    const [existing] = await server.run(sql`select from pg_database where datname = ${database}`)
    if (existing && (await isUsable(cluster.url({ database }), rows))) {
      note(`${database} is there already`)
      return database
    }
    await server.pool.query(`drop database if exists ${database} with (force)`)
    await server.pool.query(`create database ${database}`)
  } finally {
    await server.close()
  }
  await migrate(cluster.url({ database }))
  await makeAccounts(cluster.url({ database, user: 'florin_api' }))
  await fillTables(cluster, database, rows)
  await markMade(cluster.url({ database }), rows)
  return database
}

/** Made to the end, of the same rows, and by migrations that have not been changed since; newer ones are applied. */
async function isUsable(url: string, rows: number): Promise<boolean> {
  const db = connectTo(url)
  try {
    const [made] = await db.run<{ sample: string }>(sql`select sample from bench.made`)
    if (made?.sample !== sampleOf(rows)) return false
    const { applied } = await migrate(url)
    if (applied.length > 0) note(`applied ${applied.join(', ')}`)
    return true
  } catch (error) {
    note(`the data cannot be used again: ${String(error)}`)
    return false
  } finally {
    await db.close()
  }
}

async function markMade(url: string, rows: number): Promise<void> {
  const db = connectTo(url)
  await db.pool.query('create schema bench; create table bench.made (sample text not null)')
  await db.run(sql`insert into bench.made values (${sampleOf(rows)})`)
  await db.close()
}

async function makeAccounts(url: string): Promise<void> {
  const db = connectTo(url)
  const ctx = commandLineContext(db, 'bench')
  for (const id of accountIds) await createMerchantAccount(ctx, { id, display_name: id })
  await db.close()
}

/** A token of a new key pair that is bound to these accounts; to all of them when none is named. */
export async function makeToken(
  cluster: Cluster,
  database: string,
  merchantAccountIds: readonly string[],
): Promise<string> {
  const db = connectTo(cluster.url({ database, user: 'florin_api' }))
  const { private_key } = await createAPIKeyPair(commandLineContext(db, 'bench'), {
    display_name: 'Bench',
    role_ids: [fullAccess],
    merchant_account_ids: [...merchantAccountIds],
  })
  await db.close()
  return await signToken({ privateKeyPem: private_key ?? '', lifetimeSeconds: 24 * 60 * 60 })
}

export interface Sizes {
  database: number
  [table: string]: number
}

/** In bytes; of tables with their indexes. */
export async function sizesOf(cluster: Cluster, database: string): Promise<Sizes> {
  const db = connectTo(cluster.url({ database }))
  const [whole] = await db.run<{ size: number }>(sql`select pg_database_size(current_database()) as size`)
  const parts = await db.run<{ name: string; size: number }>(sql`
    select name, pg_total_relation_size(name::regclass) as size from unnest(${Object.keys(tables)}::text[]) as name`)
  await db.close()
  return { database: whole?.size ?? 0, ...Object.fromEntries(parts.map(({ name, size }) => [name, size])) }
}

const connectTo = (url: string): Database =>
  connect({ url, applicationName: 'bench', poolSize: 1, onError: () => undefined })
