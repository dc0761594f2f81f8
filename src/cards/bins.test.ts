import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { connect, type Database, type Db, transact } from '../platform/postgres.ts'
import { type Sql, sql, toQuery } from '../platform/sql.ts'
import { type BinFileError, type BinImport, importBins, rebuildSteps } from './bin-import.ts'
import { findBinFacts } from './bins.ts'

const database = useDatabase()
let api: Database
let worker: Database

beforeAll(() => {
  const as = (role: 'florin_api' | 'florin_worker') =>
    connect({ url: database.url(role), applicationName: 'test', poolSize: 2, onError: () => undefined })
  api = as('florin_api')
  worker = as('florin_worker')
})
afterAll(async () => {
  await api.close()
  await worker.close()
})

const header = 'bin_start,bin_end,scheme,additional_schemes,card_type,issuer,country'

async function* bytes(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield new TextEncoder().encode(part)
}

const take = (lines: string[], options: Partial<BinImport> = {}) =>
  importBins(worker, bytes([header, ...lines].join('\n')), {
    replace: true,
    dryRun: false,
    onProgress: () => undefined,
    ...options,
  })

const issuerOf = async (number: string) => (await findBinFacts(api, number)).issuer

/** What stands in the way of the file. */
async function problemsOf(text: string, replace = true): Promise<string[]> {
  const options = { replace, dryRun: false, onProgress: () => undefined }
  const error = await importBins(worker, bytes(text), options).catch((error: unknown) => error as BinFileError)
  if (!('problems' in error)) throw new Error('the file was taken')
  return error.problems.map(({ line, column, message }) => `${line} ${column}: ${message}`)
}

test('every column arrives, and what is empty is not known', async () => {
  await take(['40000100,40000199,visa,star;pulse,debit,"First, Second & ""Third""",US', '50000000,,,,,,'])
  expect(await findBinFacts(api, '4000015000000000')).toEqual({
    scheme: 'visa',
    additionalSchemes: ['star', 'pulse'],
    cardType: 'debit',
    issuer: 'First, Second & "Third"',
    country: 'US',
  })
  const nothing = { scheme: null, additionalSchemes: [], cardType: null, issuer: null, country: null }
  expect(await findBinFacts(api, '5000000099999999')).toEqual(nothing)
  expect(await findBinFacts(api, '5000000100000000')).toEqual(nothing)
})

test('the narrowest range that holds the number wins, and its edges are its own', async () => {
  await take([
    '400000,499999,,,,wide,',
    '41000000,41999999,,,,middle,',
    '41500000000,41500000000,,,,one,',
    '41400000,42500000,,,,across,',
  ])
  const answers = {
    '3999999999999999': null,
    '4000000000000000': 'wide',
    '4099999999999999': 'wide',
    '4100000000000000': 'middle',
    '4149999999999999': 'middle',
    '4150000000000000': 'one',
    '4150000000099999': 'one',
    '4150000000100000': 'middle',
    '4199999999999999': 'middle',
    '4200000000000000': 'across',
    '4250000099999999': 'across',
    '4250000100000000': 'wide',
    '4999999999999999': 'wide',
    '5000000000000000': null,
  }
  const found = Object.fromEntries(
    await Promise.all(Object.keys(answers).map(async (number) => [number, await issuerOf(number)] as const)),
  )
  expect(found).toEqual(answers)
})

test("the operator's file comes before the list of test cards, which fills what the file leaves open", async () => {
  await take(['411111,,,star,,Operator,'])
  expect(await findBinFacts(api, '4111111111111111')).toEqual({
    scheme: 'visa',
    additionalSchemes: ['star'],
    cardType: 'credit',
    issuer: 'Operator',
    country: 'US',
  })
  await take([])
  expect(await issuerOf('4111111111111111')).toBe('Sandbox Bank US')
  expect(await issuerOf('4111111111111129')).toBeNull()
})

test('without --replace ranges join, and an equal one takes the place of the old', async () => {
  await take(['400000,499999,,,,wide,', '410000,410000,,,,old,'])
  expect(await take(['410000,410000,,,,new,', '420000,420000,,,,more,'], { replace: false })).toEqual({
    rows: 2,
    ranges: 3,
  })
  expect(await issuerOf('4100000000000000')).toBe('new')
  expect(await issuerOf('4200000000000000')).toBe('more')
  expect(await issuerOf('4300000000000000')).toBe('wide')
})

test('a dry run counts and changes nothing', async () => {
  await take(['400000,499999,,,,before,'])
  expect(await take(['400000,499999,,,,after,', '500000,,,,,x,'], { dryRun: true })).toEqual({ rows: 2, ranges: 2 })
  expect(await issuerOf('4000000000000000')).toBe('before')
})

test('readers see the old set until the new one is whole', async () => {
  await take(['400000,,,,,old,'])
  const seen: (string | null)[] = []
  async function* slowly(): AsyncGenerator<Uint8Array> {
    yield* bytes(`${header}\n`, '400000,,,,,new,\n')
    seen.push(await issuerOf('4000000000000000'))
  }
  await importBins(worker, slowly(), { replace: true, dryRun: false, onProgress: () => undefined })
  expect([...seen, await issuerOf('4000000000000000')]).toEqual(['old', 'new'])
})

test('two imports at once leave the set of one of them', async () => {
  const many = (issuer: string) => Array.from({ length: 300 }, (_, index) => `${400_000 + index},,,,,${issuer},`)
  await Promise.all([take(many('one')), take(many('two'))])
  const rows = await database.query<{ issuer: string; count: string }>(
    'select issuer, count(*) from card_bins group by 1',
  )
  expect(rows.map(({ count }) => Number(count))).toEqual([300])
})

test('every problem is told with its line and column, and nothing is changed', async () => {
  await take(['400000,,,,,before,'])
  const lines = [
    '4000,,,,,,',
    '400000,399999,,,,,',
    '400000,,vísa,,,,',
    '400000,,,visa;vise,,,',
    '400000,,,,Debit,,',
    `400000,,,,,${'x'.repeat(201)},`,
    '400000,,,,,,de',
    '400000,,,,,',
    '4111111111111111,,4111111111111111,,,,',
    '600000,,,,,,"',
  ]
  const found = await problemsOf([header, ...lines].join('\n'))
  expect(found.map((text) => text.split(':')[0])).toEqual([
    '2 bin_start',
    '2 bin_end',
    '3 bin_end',
    '4 scheme',
    '5 additional_schemes',
    '6 card_type',
    '7 issuer',
    '8 country',
    '9 null',
    '10 bin_start',
    '10 bin_end',
    '10 scheme',
    '11 null',
  ])
  expect(found.join()).not.toContain('4111')
  expect(await issuerOf('4000000000000000')).toBe('before')
})

test('at most 20 problems are told', async () => {
  expect(await problemsOf([header, ...Array.from({ length: 50 }, () => 'x,400000,,,,,')].join('\n'))).toHaveLength(20)
})

test.each([true, false])(
  'a range that is there twice is a problem, near or far in the file (replace: %s)',
  async (replace) => {
    const near = ['400000,,,,,,', '410000,,,,,,', '40000000,40000099,,,,,']
    expect(await problemsOf([header, ...near].join('\n'), replace)).toEqual([
      expect.stringMatching(/^4 bin_start: and bin_end are those of an earlier line/),
    ])
    const far = Array.from({ length: 6_000 }, (_, index) => `${4_000_000 + index},,,,,,`)
    expect(await problemsOf([header, ...far, far[0]].join('\n'), replace)).toEqual([
      expect.stringMatching(/^6002 bin_start/),
    ])
  },
)

test.each([
  ['', /^1 null: is missing: the file is empty/],
  ['400000,499999,visa', /^1 null: is not a header.*bin_start,bin_end,scheme/],
  ['bin_start,Scheme', /^1 number 2: has an unknown name/],
  ['bin_start,bin_start', /^1 bin_start: is named twice/],
  ['bin_end,scheme', /^1 bin_start: is missing/],
])('the header %j is refused', async (text, problem) => {
  expect(await problemsOf(text)).toEqual([expect.stringMatching(problem)])
})

test('columns may be left out and come in any order', async () => {
  await importBins(worker, bytes('issuer,bin_start\r\nBank,400000\r\n'), {
    replace: true,
    dryRun: false,
    onProgress: () => undefined,
  })
  expect(await issuerOf('4000000000000000')).toBe('Bank')
})

/** The plan of the statement that a lookup really sends. */
async function planOf(number: string): Promise<{ text: string; pages: number }> {
  let statement: Sql | undefined
  const spy: Db = { inTransaction: false, run: (given) => Promise.resolve((statement = given) && []) }
  await findBinFacts(spy, number)
  const { text, values } = toQuery(statement ?? sql``)
  const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: Record<string, unknown> }] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  )
  const plan = row?.['QUERY PLAN'][0].Plan ?? {}
  return { text: JSON.stringify(plan), pages: Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']) }
}

test('a lookup is a few index pages however 500,000 ranges overlap, and never a scan', async () => {
  // Statistics taken at another moment than the test's would make another plan.
  for (const table of ['card_bins', 'card_bin_steps', 'card_bin_current']) {
    await database.query(`alter table ${table} set (autovacuum_enabled = off)`)
  }
  await database.query('delete from card_bins')
  // A quarter of a million ranges one in the other, and as many side by side in the innermost one.
  await database.query(`
    insert into card_bins (bin_start, bin_end, additional_schemes, issuer, imported_at)
    select 40000000000 + n, 49999999999 - n, array[]::text[], 'around ' || n, now() from generate_series(1, 250000) n
    union all
    select 45000000000 + n * 1000, 45000000000 + n * 1000 + 998, '{}', 'beside ' || n, now() from generate_series(1, 250000) n`)
  await transact({ db: worker, accounts: 'all' }, ({ db }) => rebuildSteps(db))

  // Where a thousand ranges begin behind the same eight digits all of them are read, because the database must not hear more digits.
  const expected = [
    ['4500000150000000', 'beside 1', 30],
    ['4500000199900000', 'around 250000', 30],
    ['4000010000000000', 'around 100000', 8_000],
    ['4999999999900000', null, 8_000],
    ['3999999999900000', null, 30],
    ['9999999999900000', null, 30],
  ] as const
  for (const isAnalyzed of [false, true]) {
    if (isAnalyzed) await database.query('analyze card_bins; analyze card_bin_steps; analyze card_bin_current')
    for (const [number, issuer, most] of expected) {
      expect(await issuerOf(number)).toBe(issuer)
      const { text, pages } = await planOf(number)
      expect(text).not.toMatch(/"Seq Scan"[^}]*"card_bin(s|_steps)"/)
      expect([number, isAnalyzed, pages <= most ? most : pages]).toEqual([number, isAnalyzed, most])
    }
  }

  // A million steps are gone and nobody has vacuumed: they must not lie in the way.
  await take(['400000,,,,,alone,'])
  for (const number of ['3999999999900000', '4000000000000000', '4500000150000000', '9999999999900000']) {
    expect(await issuerOf(number)).toBe(number.startsWith('400000') ? 'alone' : null)
    expect((await planOf(number)).pages).toBeLessThanOrEqual(30)
  }
})

test('the database is not told more than eight digits of a number', async () => {
  const told: unknown[] = []
  const spy: Db = {
    inTransaction: false,
    async run(given) {
      told.push(...toQuery(given).values)
      return []
    },
  }
  await findBinFacts(spy, '4111119876543210')
  expect(told).toEqual([41111198000, 41111198000, 41111199000, 1000])
})
