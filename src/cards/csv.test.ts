import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CsvRecord, readCsv } from './csv.ts'

/** In pieces of so many bytes, so that characters, quotes and ends of lines are cut in two. */
async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function read(text: string | Uint8Array, size = 1_000): Promise<CsvRecord[]> {
  const records: CsvRecord[] = []
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  for await (const some of readCsv(pieces(bytes, size))) records.push(...some)
  return records
}

const field = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '1', ',', '"', '\n', '\r', ' ', 'é', '漢', '🙂') }),
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
)
const write = (value: string, isQuoted: boolean) =>
  isQuoted || /[",\r\n\uFEFF]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value

test('what was written is read, however it is quoted, ended and cut into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(field, { minLength: 2, maxLength: 5 }), fc.boolean()), { maxLength: 10 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.integer({ min: 1, max: 30 }),
      async (rows, lineEnd, endsWithLineEnd, size) => {
        const text =
          rows.map(([fields, isQuoted]) => fields.map((value) => write(value, isQuoted)).join(',')).join(lineEnd) +
          (endsWithLineEnd ? lineEnd : '')
        const records = await read(text, size)
        expect(records.map(({ fields }) => fields)).toEqual(rows.map(([fields]) => fields))
      },
    ),
    { numRuns: 2_000 },
  )
})

test('a record knows its line, and a byte order mark and empty lines do not count', async () => {
  expect(await read('\uFEFFa,b\r\n\r\n"c\nc",d\n\ne\n\n', 3)).toEqual([
    { line: 1, fields: ['a', 'b'] },
    { line: 3, fields: ['c\nc', 'd'] },
    { line: 6, fields: ['e'] },
  ])
  expect(await read('')).toEqual([])
})

test.each([
  ['a,b\nc,d"e\n', 2, /quotation mark in the wrong place in field 2/],
  ['a,b\n"c"d,e\n', 2, /quotation mark in the wrong place in field 1/],
  ['a,b\n\n"c,d\n', 3, /opens a quotation mark in field 1 that is never closed/],
  ['a,b\rc,d\n', 1, /carriage return without a line feed/],
  ['a,b\nc\r', 2, /carriage return without a line feed/],
  [Uint8Array.of(97, 10, 0xff, 10), 2, /not UTF-8/],
  [Uint8Array.of(97, 10, 0xc3), 2, /not UTF-8/],
])('%j is refused on its line', async (text, line, message) => {
  for (const size of [1, 1_000]) {
    await expect(read(text, size)).rejects.toMatchObject({ name: 'CsvError', message: expect.stringMatching(message) })
  }
  await expect(read(text, 1)).rejects.toMatchObject({ line })
})

test('a quotation mark that is never closed does not swallow the file', async () => {
  const text = `a,b\n"${'x'.repeat(200_000)}`
  await expect(read(text)).rejects.toMatchObject({ line: 2, message: expect.stringContaining('too long') })
})
