import type pg from 'pg'
import { type Sql, toQuery } from '../../src/platform/sql.ts'
import { tables } from './big-table.ts'

/** A node of a plan as EXPLAIN tells it. */
interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: Node[]
}

/** What a statement did to the tables that count. */
export interface Work {
  /** Each look into a table counts for one row at least, found or not. */
  rows: number
  /** Also those of an index that its conditions skip one by one, which no count of rows shows. */
  blocks: number
  sorted: number
  seqScans: string[]
  indexes: string[]
  /** For whoever must mend it. */
  plan: string[]
}

/** Runs the statement and says what it did. */
export async function workOf(
  client: pg.Client,
  statement: Sql,
  counts = (table: string) => tables.includes(table),
): Promise<Work> {
  const { text, values } = toQuery(statement)
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
    values,
  )
  const root = rows[0]?.['QUERY PLAN'][0].Plan
  if (!root) throw new Error('no plan')
  const nodes = nodesOf(root).filter((node) => node['Actual Loops'] > 0)
  const scans = nodes.filter((node) => counts(node['Relation Name'] ?? '') || node['Node Type'] === 'Bitmap Index Scan')
  return {
    rows: sum(scans.map(rowsOf)),
    blocks: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0),
    sorted: Math.max(0, ...nodes.filter((node) => node['Node Type'].includes('Sort')).map(inputOf)),
    seqScans: scans.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'] ?? ''),
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
    plan: linesOf(root),
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((left, right) => left + right, 0)
const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** EXPLAIN gives averages of all loops. */
function rowsOf(node: Node): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return Math.max(1, node['Actual Rows'] + removed) * node['Actual Loops']
}
const inputOf = (node: Node) => sum((node.Plans ?? []).map((child) => child['Actual Rows'] * child['Actual Loops']))

function linesOf(node: Node, depth = 1): string[] {
  const on = [node['Relation Name'], node['Index Name']].filter((name) => name !== undefined).join(' by ')
  const removed = node['Rows Removed by Filter'] === undefined ? '' : `, ${node['Rows Removed by Filter']} removed`
  const line = `${'  '.repeat(depth)}${node['Node Type']} ${on} (${node['Actual Rows']} rows × ${node['Actual Loops']}${removed})`
  return [line, ...(node.Plans ?? []).flatMap((child) => linesOf(child, depth + 1))]
}
