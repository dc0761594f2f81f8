import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Cluster } from '../../src/cli/postgres-cluster.ts'
import { connect, type Database } from '../../src/platform/postgres.ts'
import { sql } from '../../src/platform/sql.ts'
import { note } from '../rig.ts'
import { drawRow } from './draw.ts'
import { tables } from './lines.ts'

/** Fills the tables that transactions are listed from. Indexes, keys and what refers to them are taken away before and made again after. */
export async function fillTables(cluster: Cluster, database: string, rows: number): Promise<void> {
  const url = cluster.url({ database })
  const admin = connect({ url, applicationName: 'bench', poolSize: 1, onError: () => undefined })
  try {
    const taken = await takeIndexes(admin)
    await copyRows({ program: join(cluster.binaries.directory, 'psql'), url, rows })
    await admin.pool.query("set maintenance_work_mem = '1GB'")
    for (const [index, { make }] of taken.entries()) {
      note(`making index ${index + 1} of ${taken.length}: ${make.slice(0, 100)}`)
      await admin.pool.query(make)
    }
    note('vacuum and analyze')
    for (const table of Object.keys(tables)) await admin.pool.query(`vacuum (analyze) ${table}`)
  } finally {
    await admin.close()
  }
}

/** What PostgreSQL says of them itself, in the order in which they can be made. */
async function takeIndexes(admin: Database): Promise<{ make: string; drop: string }[]> {
  const names = Object.keys(tables)
  const found = await admin.run<{ make: string; drop: string }>(sql`
    with filled as (select name::regclass::oid as id from unnest(${names}::text[]) as name)
    select make, "drop" from (
      select format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as make,
        format('alter table %s drop constraint %I', conrelid::regclass, conname) as "drop", contype = 'f' as is_reference
      from pg_constraint
      where contype in ('p', 'u', 'f') and conparentid = 0
        and (conrelid in (select id from filled) or confrelid in (select id from filled))
      union all
      select pg_get_indexdef(indexrelid), format('drop index %s', indexrelid::regclass), false
      from pg_index
      where indrelid in (select id from filled) and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
    ) as taken
    order by is_reference, make`)
  for (const { drop } of found.toReversed()) await admin.pool.query(drop)
  return found
}

const rowsAtOnce = 500

/** One stream for each table; who makes the rows waits for the slowest. */
async function copyRows({ program, url, rows }: { program: string; url: string; rows: number }): Promise<void> {
  const streams = Object.entries(tables).map(([name, { columns, lines }]) => ({
    lines,
    ...copyInto(program, url, name, columns),
  }))
  const report = progressOf(rows)
  const ended = Promise.all(streams.map(({ ended }) => ended))
  for (let first = 0; first < rows; first += rowsAtOnce) {
    const drawn = Array.from({ length: Math.min(rowsAtOnce, rows - first) }, (_, index) => drawRow(first + index, rows))
    const full = streams.filter(({ input, lines }) => !input.write(drawn.map(lines).join('')))
    await Promise.race([Promise.all(full.map(({ input }) => once(input, 'drain'))), ended])
    report(first + drawn.length)
  }
  for (const { input } of streams) input.end()
  await ended
}

/** Truncated in the same transaction, so that nothing goes into the write-ahead log and the rows are frozen at once. No trigger runs. */
function copyInto(program: string, url: string, table: string, columns: readonly string[]) {
  const commands = [`truncate ${table}`, `copy ${table} (${columns.join(', ')}) from stdin (freeze)`]
  const args = ['-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', ...commands.flatMap((command) => ['-c', command]), url]
  const child = spawn(program, args, {
    env: { ...process.env, PGOPTIONS: '-c session_replication_role=replica' },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  // Its exit code says more than the broken pipe.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`copy into ${table}: ${complaint}`))))
  })
  return { input: child.stdin, ended }
}

function progressOf(rows: number): (done: number) => void {
  const start = performance.now()
  let told = start
  return (done) => {
    const now = performance.now()
    if (now - told < 2_000 && done < rows) return
    told = now
    const perSecond = done / ((now - start) / 1000)
    note(`${done} of ${rows} rows, ${Math.round(perSecond)} rows/s, ${Math.ceil((rows - done) / perSecond)} s left`)
  }
}
