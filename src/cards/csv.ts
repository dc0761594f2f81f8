import { TextDecoder } from 'node:util'

export interface CsvRecord {
  /** The line of the file on which it begins; the first is 1. */
  line: number
  fields: string[]
}

export class CsvError extends Error {
  override name = 'CsvError'
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** No honest line is as long; a quote that is never closed would otherwise swallow the file into memory. */
const longestRecord = 65_536

/**
 * Comma-separated values as in RFC 4180 and no other way: fields may be quoted, a quote inside is doubled, lines end with
 * LF or CRLF. Yields what each chunk completes; empty lines are left out.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  let line = 1
  for await (const chunk of chunks) {
    const [records, left, next] = readRecords(rest + decode(decoder, line, chunk), line, false)
    yield records
    rest = left
    line = next
    if (rest.length > longestRecord) throw new CsvError(line, 'is too long. Is a quotation mark never closed?')
  }
  const [records] = readRecords(rest + decode(decoder, line), line, true)
  yield records
}

function decode(decoder: TextDecoder, line: number, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch {
    throw new CsvError(line, 'or a line soon after it is not UTF-8. Save the file as UTF-8.')
  }
}

/** The whole records of the text, what is left of it, and the line on which that begins. */
function readRecords(text: string, firstLine: number, isEnd: boolean): [CsvRecord[], string, number] {
  const records: CsvRecord[] = []
  let line = firstLine
  let position = 0
  while (position < text.length) {
    const found = readRecord(text, position, line, isEnd)
    if (!found) break
    const { fields, lines, end } = found
    if (fields.length > 1 || fields[0] !== '') records.push({ line, fields })
    line += lines
    position = end
  }
  return [records, text.slice(position), line]
}

/** Undefined when the text may stop before the record does. */
function readRecord(
  text: string,
  start: number,
  line: number,
  isEnd: boolean,
): { fields: string[]; lines: number; end: number } | undefined {
  const fields: string[] = []
  let position = start
  let lines = 0
  for (;;) {
    const field = text[position] === '"' ? readQuoted(text, position) : readPlain(text, position)
    if (!field && !isEnd) return undefined
    if (!field) throw new CsvError(line, `opens a quotation mark in field ${fields.length + 1} that is never closed.`)
    fields.push(field.value)
    lines += field.lines
    position = field.end

    const next = text[position]
    if (next === '\n') return { fields, lines: lines + 1, end: position + 1 }
    if (next === '\r' && text[position + 1] === '\n') return { fields, lines: lines + 1, end: position + 2 }
    if (next !== ',') {
      const isCut = next === undefined || (next === '\r' && position + 1 === text.length)
      if (isCut && !isEnd) return undefined
      if (next === undefined) return { fields, lines, end: position }
      throw new CsvError(line + lines, next === '\r' ? loneReturn : misplacedQuote(fields.length))
    }
    position += 1
  }
}

const loneReturn = 'has a carriage return without a line feed. Save the file with LF or CRLF at the ends of lines.'
const misplacedQuote = (field: number) =>
  `has a quotation mark in the wrong place in field ${field}. Quote the whole field and double the quotes inside.`

interface Field {
  value: string
  end: number
  lines: number
}

const plain = /[^",\r\n]*/y

function readPlain(text: string, start: number): Field {
  plain.lastIndex = start
  plain.exec(text)
  return { value: text.slice(start, plain.lastIndex), end: plain.lastIndex, lines: 0 }
}

function readQuoted(text: string, start: number): Field | undefined {
  let close = text.indexOf('"', start + 1)
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close === -1) return undefined
  const inside = text.slice(start + 1, close)
  return { value: inside.replaceAll('""', '"'), end: close + 1, lines: inside.split('\n').length - 1 }
}
