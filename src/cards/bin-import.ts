import { type Database, type Db, transact } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { type BinColumns, type BinLine, type BinProblem, readHeader, readLine } from './bin-file.ts'
import { type BinStep, startSteps } from './bin-steps.ts'
import { CsvError, type CsvRecord, readCsv } from './csv.ts'

/** The file cannot be taken as it is; nothing was changed. */
export class BinFileError extends Error {
  override name = 'BinFileError'
  readonly problems: readonly BinProblem[]

  constructor(problems: readonly BinProblem[]) {
    super(`the BIN file has ${problems.length} problem(s)`)
    this.problems = problems
  }
}

export interface BinImport {
  /** Remove what is there; otherwise ranges of the file replace equal ones and join the others. */
  replace: boolean
  /** Do everything but the commit. */
  dryRun: boolean
  onProgress: (rows: number) => void
}

export interface BinImportResult {
  rows: number
  /** Ranges in the table afterwards. */
  ranges: number
}

const mostProblems = 20
const batchSize = 5_000

class DryRun extends Error {
  readonly result: BinImportResult

  constructor(result: BinImportResult) {
    super('dry run')
    this.result = result
  }
}

/**
 * Reads a BIN file into the database in one transaction: others see all of the old or all of the new. Memory does not
 * grow with the file.
 */
export async function importBins(
  db: Database,
  chunks: AsyncIterable<Uint8Array>,
  { replace, dryRun, onProgress }: BinImport,
): Promise<BinImportResult> {
  try {
    return await transact({ db, accounts: 'all' }, async ({ db }) => {
      // Readers do not notice this lock; another import waits, and gives up after the role's lock_timeout.
      await db.run(sql`lock table card_bins in share row exclusive mode`)
      if (replace) await db.run(sql`delete from card_bins`)
      const rows = await writeFile(db, chunks, onProgress)
      const result = { rows, ranges: await rebuildSteps(db) }
      if (dryRun) throw new DryRun(result)
      return result
    })
  } catch (error) {
    if (error instanceof DryRun) return error.result
    throw error
  }
}

async function writeFile(
  db: Db,
  chunks: AsyncIterable<Uint8Array>,
  onProgress: BinImport['onProgress'],
): Promise<number> {
  const problems: BinProblem[] = []
  let columns: BinColumns | undefined
  let batch: BinLine[] = []
  let rows = 0

  const flush = async () => {
    // A file with problems is read on, to tell more of them at once, but no longer written.
    if (problems.length === 0) problems.push(...(await writeBatch(db, batch)))
    rows += batch.length
    batch = []
    onProgress(rows)
    if (problems.length >= mostProblems) throw new BinFileError(problems.slice(0, mostProblems))
  }

  try {
    for await (const records of readCsv(chunks)) {
      for (const record of records) {
        if (!columns) {
          columns = columnsOf(record)
          continue
        }
        const line = readLine(record, columns)
        if ('start' in line) batch.push(line)
        else problems.push(...line)
        if (batch.length === batchSize || problems.length >= mostProblems) await flush()
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    problems.push({ line: error.line, column: null, message: error.message })
  }
  await flush()
  if (!columns) problems.push({ line: 1, column: null, message: 'is missing: the file is empty.' })
  if (problems.length > 0) throw new BinFileError(problems)
  return rows
}

function columnsOf(record: CsvRecord): BinColumns {
  const header = readHeader(record)
  if (header.every((column) => typeof column === 'string')) return header
  throw new BinFileError(header)
}

/** The lines whose range an earlier line of the file has already. */
async function writeBatch(db: Db, lines: readonly BinLine[]): Promise<BinProblem[]> {
  const fresh = new Map<string, BinLine>()
  const repeated: number[] = []
  for (const line of lines) {
    const range = `${line.start}-${line.end}`
    if (fresh.has(range)) repeated.push(line.line)
    else fresh.set(range, line)
  }
  return [...repeated, ...(await writeLines(db, [...fresh.values()]))].map((line) => ({
    line,
    column: 'bin_start',
    message: 'and bin_end are those of an earlier line. Remove one of the two.',
  }))
}

/**
 * Returns the numbers of the lines that were not written. A row that is already there gives way, unless this import wrote
 * it: then it has the time of our transaction.
 */
async function writeLines(db: Db, lines: readonly BinLine[]): Promise<number[]> {
  const rows = await db.run<{ line: number }>(sql`
    with given as (
      select * from unnest(${lines.map(({ line }) => line)}::integer[], ${lines.map(({ start }) => start)}::bigint[],
        ${lines.map(({ end }) => end)}::bigint[], ${lines.map(({ scheme }) => scheme)}::text[],
        ${lines.map(({ additionalSchemes }) => additionalSchemes.join(';'))}::text[],
        ${lines.map(({ cardType }) => cardType)}::text[], ${lines.map(({ issuer }) => issuer)}::text[],
        ${lines.map(({ country }) => country)}::text[])
        as given (line, bin_start, bin_end, scheme, additional_schemes, card_type, issuer, country)
    ), written as (
      insert into card_bins (bin_start, bin_end, scheme, additional_schemes, card_type, issuer, country, imported_at)
      select bin_start, bin_end, scheme, string_to_array(additional_schemes, ';'), card_type, issuer, country, now()
      from given
      on conflict (bin_start, bin_end) do update
      set scheme = excluded.scheme, additional_schemes = excluded.additional_schemes, card_type = excluded.card_type,
        issuer = excluded.issuer, country = excluded.country, imported_at = excluded.imported_at
      where card_bins.imported_at < excluded.imported_at
      returning bin_start, bin_end
    )
    select line from given left join written using (bin_start, bin_end) where written.bin_start is null order by line`)
  return rows.map(({ line }) => line)
}

/** Makes card_bin_steps anew from card_bins; returns how many ranges there are. Within a transaction. */
export async function rebuildSteps(db: Db): Promise<number> {
  await db.run(sql`delete from card_bin_steps`)
  await db.run(sql`declare bin_ranges no scroll cursor for select bin_start, bin_end from card_bins order by bin_start`)
  let batch: BinStep[] = []
  let ranges = 0
  const steps = startSteps((step) => batch.push(step))
  const flush = async () => {
    for (let start = 0; start < batch.length; start += batchSize) {
      await insertSteps(db, batch.slice(start, start + batchSize))
    }
    batch = []
  }
  for (;;) {
    const rows = await db.run<{ bin_start: number; bin_end: number }>(sql`fetch 5000 from bin_ranges`)
    if (rows.length === 0) break
    for (const { bin_start, bin_end } of rows) steps.add({ start: bin_start, end: bin_end })
    ranges += rows.length
    await flush()
  }
  steps.finish()
  await flush()
  await db.run(sql`close bin_ranges`)
  await db.run(sql`update card_bin_current set made_by = pg_current_xact_id()::text::bigint`)
  return ranges
}

async function insertSteps(db: Db, steps: readonly BinStep[]): Promise<void> {
  await db.run(sql`
    insert into card_bin_steps (made_by, at, bin_start, bin_end)
    select pg_current_xact_id()::text::bigint, at, bin_start, bin_end
    from unnest(${steps.map(({ at }) => at)}::bigint[], ${steps.map(({ range }) => range?.start ?? null)}::bigint[],
      ${steps.map(({ range }) => range?.end ?? null)}::bigint[]) as step (at, bin_start, bin_end)`)
}
