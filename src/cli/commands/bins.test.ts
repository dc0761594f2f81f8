import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../../test/database.ts'
import { connect, transact } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'

const database = useDatabase()
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-bins-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The command by itself, as the program runs it. */
const program = `
  import { binsCommand } from ${JSON.stringify(join(import.meta.dirname, 'bins.ts'))}
  import { reportError } from ${JSON.stringify(join(import.meta.dirname, '../output.ts'))}
  const args = process.argv.slice(1)
  await binsCommand().parseAsync(args, { from: 'user' }).catch((error) => reportError(error, args.includes('--json')))`

function bins(args: string[], environment: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, DATABASE_URL: database.url('florin_worker'), ...environment }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--input-type=module', '-e', program, '--', ...args],
      { env },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}

async function fileOf(lines: string[]): Promise<string> {
  const file = join(folder, `${lines.length}-${Math.random()}.csv`)
  await writeFile(file, ['bin_start,bin_end,scheme,additional_schemes,card_type,issuer,country', ...lines].join('\n'))
  return file
}

const countRanges = async () => {
  const [row] = await database.query<{ count: string }>('select count(*) from card_bins')
  return Number(row?.count)
}

test.each([[[]], [['import']]])('%j explains itself', async (command) => {
  const { code, stdout } = await bins([...command, '--help'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/Examples?:\n {2}\$ /)
})

const banks = (count: number) =>
  Array.from(
    { length: count },
    (_, index) => `${40_000_000 + index},,visa,${index % 7 ? '' : 'star;pulse'},debit,"Bank ${index}, Ltd",US`,
  )

test('200,000 lines are imported and the speed is told', async () => {
  const { code, stdout, stderr } = await bins(['import', await fileOf(banks(200_000)), '--replace', '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const report = JSON.parse(stdout) as { rows_per_second: number }
  expect(report).toMatchObject({ rows: 200_000, ranges: 200_000, replaced: true, dry_run: false })
  expect(report.rows_per_second).toBeGreaterThan(1_000)
  expect(await countRanges()).toBe(200_000)
})

test('progress is told beside the result', async () => {
  const { stdout, stderr } = await bins(['import', await fileOf(banks(50_000)), '--replace'])
  expect(stderr).toBe('50000 lines read\n')
  expect(stdout).toMatch(/^50000 line\(s\) imported \([\d.]+ s\)\. There are 50000 range\(s\)\.\n$/)
})

test('a dry run says what would be and changes nothing', async () => {
  const before = await countRanges()
  const { stdout } = await bins(['import', await fileOf(['500000,,,,,,']), '--dry-run', '--replace'])
  expect(stdout).toMatch(/^1 line\(s\) could be imported; nothing was changed .* There would be 1 range\(s\)\.\n$/)
  expect(await countRanges()).toBe(before)
})

test('problems are told with line and column, on standard error', async () => {
  const file = await fileOf(['500000,,,,,,', '600000,,vise,,charge,,', '700000,,'])
  const { code, stdout, stderr } = await bins(['import', file])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`${file} was not imported, and nothing was changed.\n`)
  expect(stderr).toMatch(/\n {2}line 3, column scheme must be empty or one of accel, amex, /)
  expect(stderr).toContain('\n  line 3, column card_type must be empty or one of credit, debit, prepaid.\n')
  expect(stderr).toContain('\n  line 4 has 3 fields and the header 7.')
  const inJson = await bins(['import', file, '--json'])
  expect(JSON.parse(inJson.stderr)).toEqual({ error: expect.stringContaining('line 3, column scheme') })
})

test('what stands in the way is named with what to do', async () => {
  expect((await bins(['import', '/nowhere/bins.csv'])).stderr).toBe('error: There is no file /nowhere/bins.csv.\n')
  expect((await bins(['import', folder])).stderr).toContain('cannot be read (EISDIR)')
  const file = await fileOf(['500000,,,,,,'])
  const refusal = await bins(['import', file], { DATABASE_URL: database.url('florin_api') })
  expect(refusal.stderr).toMatch(/does not let this user do that .* Use a user that may/)

  const db = connect({ url: database.url(), applicationName: 'test', poolSize: 1, onError: () => undefined })
  await transact({ db, accounts: 'all' }, async ({ db }) => {
    await db.run(sql`lock table card_bins in share row exclusive mode`)
    const second = await bins(['import', file], { PGOPTIONS: '-c lock_timeout=100ms' })
    expect(second.stderr).toBe('error: Another import is running. Wait until it has ended and try again.\n')
  })
  await db.close()
})
