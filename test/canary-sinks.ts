import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Deployment, ProcessKind } from './deployment.ts'
import {
  dumpDatabase,
  dumpTables,
  type HeapWatch,
  type Query,
  readDataDirectory,
  readServerLog,
  readTree,
  takeSnapshot,
} from './leak-scan.ts'
import { forms, inEveryForm } from './number-scan.ts'

const kinds: readonly ProcessKind[] = ['api', 'worker', 'vault']

/** Puts a number into every sink whose processes do not do it by themselves, in every form the sink can hold. */
export async function plantEverywhere(query: Query, deployment: Deployment, number: string): Promise<void> {
  const text = inEveryForm(number)
  await query('create table canary_scratch (place int, written text, bytes bytea)')
  // Several rows: a header of the write-ahead log may stand in the middle of one.
  for (let place = 0; place < 5; place += 1) {
    const values = [place, text.replaceAll('\0', ''), Buffer.from(text, 'latin1')]
    await query('insert into canary_scratch values ($1, $2, $3)', values)
  }
  await writeFile(join(deployment.temporaryFolder, 'planted'), text, 'latin1')
}

/** The forms in which a planted number must be found. */
export function plantedForms(sink: string): string[] {
  const isText = ['tables', 'log of PostgreSQL', 'dump'].includes(sink)
  const utf16 = isText ? 'UTF-16 in hex' : sink.startsWith('heap') ? 'UTF-16 with blanks' : 'UTF-16'
  return [...forms.map(({ name }) => name).filter((name) => name !== 'UTF-16'), utf16].sort()
}

/** Everything that is left when the requests have ended. */
export async function canarySinks(
  query: Query,
  deployment: Deployment,
  heaps: Record<ProcessKind, HeapWatch>,
  databaseUrl: string,
): Promise<Map<string, Buffer | string>> {
  const sinks = new Map<string, Buffer | string>()
  for (const kind of kinds) {
    const { processes } = deployment
    sinks.set(`heap of the ${kind}`, await takeSnapshot(processes[kind], heaps[kind].snapshotPath))
    sinks.set(`output of the ${kind}`, deployment.output(kind))
  }
  sinks.set('tables', [...(await dumpTables(query)).values()].join('\n'))
  const files = await readDataDirectory(query)
  sinks.set('write-ahead log', files.wal)
  sinks.set('data directory', files.rest)
  sinks.set('log of PostgreSQL', await readServerLog(query))
  sinks.set('dump', await dumpDatabase(databaseUrl))
  sinks.set('temporary files', await readTree(deployment.temporaryFolder))
  return sinks
}
