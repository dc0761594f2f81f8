import { open } from 'node:fs/promises'
import { Command } from 'commander'
import { BinFileError, type BinImportResult, importBins } from '../../cards/bin-import.ts'
import { findDatabaseUrl, withDatabase } from '../database-url.ts'
import { CommandError, note, say, sayJson } from '../output.ts'

interface ImportOptions {
  replace?: boolean
  dryRun?: boolean
  json?: boolean
}

export function binsCommand(): Command {
  return new Command('bins')
    .addCommand(importCommand())
    .addHelpText('after', '\nExample:\n  $ florin bins import bins.csv --replace')
}

function importCommand(): Command {
  return new Command('import')
    .description('Read a BIN file: card type, issuer, country and schemes by ranges of numbers.')
    .argument('<file>', 'CSV with the columns bin_start,bin_end,scheme,additional_schemes,card_type,issuer,country')
    .option('--replace', 'remove all ranges that are there (default: only equal ones are replaced)')
    .option('--dry-run', 'do it all, count, and take it back')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
All of the file or nothing: payments see the old ranges until the new ones are complete. docs/bin-file.md describes the
file. The database is the one in DATABASE_URL (as the role florin_worker), else that of the "florin dev" that runs in
this folder.

Examples:
  $ florin bins import bins.csv --dry-run
  $ DATABASE_URL=postgresql://florin_worker:secret@db.internal/florin florin bins import bins.csv --replace`,
    )
    .action(runImport)
}

async function runImport(
  path: string,
  { replace = false, dryRun = false, json = false }: ImportOptions,
): Promise<void> {
  const url = await findDatabaseUrl('worker')
  const file = await open(path).catch((error: unknown) => {
    throw explain(error, path)
  })
  const start = performance.now()
  const { rows, ranges } = await withDatabase(url, (db) =>
    importBins(db, file.createReadStream(), {
      replace,
      dryRun,
      onProgress: json ? () => undefined : progress(),
    }).catch((error: unknown) => {
      throw explain(error, path)
    }),
  )
  const seconds = (performance.now() - start) / 1_000
  if (json) return sayJson(figures({ rows, ranges }, seconds, { replace, dryRun }))
  const verb = dryRun ? 'could be imported; nothing was changed' : 'imported'
  say(
    `${rows} line(s) ${verb} (${seconds.toFixed(1)} s). ${dryRun ? 'There would be' : 'There are'} ${ranges} range(s).`,
  )
}

const figures = ({ rows, ranges }: BinImportResult, seconds: number, mode: { replace: boolean; dryRun: boolean }) => ({
  rows,
  ranges,
  replaced: mode.replace,
  dry_run: mode.dryRun,
  seconds: Number(seconds.toFixed(3)),
  rows_per_second: Math.round(rows / seconds),
})

/** A line every so often: to somebody who waits, or in the log of the job that runs this. */
function progress(): (rows: number) => void {
  const every = 50_000
  let next = every
  return (rows) => {
    if (rows < next) return
    next = rows + every
    note(`${rows} lines read`)
  }
}

function explain(error: unknown, file: string): unknown {
  if (error instanceof BinFileError) {
    const list = error.problems.map(({ line, column, message }) =>
      column === null ? `  line ${line} ${message}` : `  line ${line}, column ${column} ${message}`,
    )
    return new CommandError(`${file} was not imported, and nothing was changed.\n${list.join('\n')}`)
  }
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException
  // Those of the file; the ones of the connection have other system calls.
  if (syscall === 'open' && code === 'ENOENT') return new CommandError(`There is no file ${file}.`)
  if (syscall === 'open' || syscall === 'read') return new CommandError(`${file} cannot be read (${code}).`)
  if (code === '55P03') return new CommandError('Another import is running. Wait until it has ended and try again.')
  return error
}
