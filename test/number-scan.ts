/** Finds card numbers in bytes, however they are written. */

interface Form {
  name: string
  /** Of the whole number, or of its first digits: then the beginning of what the whole number gives. */
  write(digits: string): Buffer
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const grouped = (digits: string, separator: string) => latin1(digits.replaceAll(/(\d{4})(?=\d)/g, `$1${separator}`))

/** UTF-16 without the last zero, so that both byte orders are found. */
const utf16 = (digits: string) => Buffer.from(digits, 'utf16le').subarray(0, -1)

/** The characters that are the same whatever stands before and after; `before` bytes precede the number in its group of three. */
function base64(digits: string, before: number): Buffer {
  const encoded = latin1('\0'.repeat(before) + digits).toString('base64')
  const bits = (bytes: number) => (bytes * 8) / 6
  return latin1(encoded.slice(Math.ceil(bits(before)), Math.floor(bits(before + digits.length))))
}

export const forms: readonly Form[] = [
  { name: 'plain', write: latin1 },
  { name: 'groups with spaces', write: (digits) => grouped(digits, ' ') },
  { name: 'groups with dashes', write: (digits) => grouped(digits, '-') },
  ...[0, 1, 2].map((before) => ({ name: `base64 after ${before}`, write: (digits: string) => base64(digits, before) })),
  { name: 'hex', write: (digits) => latin1(latin1(digits).toString('hex')) },
  { name: 'UTF-16', write: utf16 },
]

/** What becomes of UTF-16 where zero bytes cannot be: PostgreSQL writes bytes in hex, a heap snapshot has blanks instead. */
const shownForms: readonly Form[] = [
  { name: 'UTF-16 in hex', write: (digits) => latin1(utf16(digits).toString('hex')) },
  { name: 'UTF-16 with blanks', write: (digits) => latin1(digits.split('').join(' ')) },
]

export interface Hit {
  number: string
  form: string
  at: number
}

export interface NumberScanner {
  find(sink: Buffer | string): Hit[]
}

const sharedDigits = 6

/**
 * All numbers of a range begin alike, so each form is one search for that beginning and a look at what follows it: as many
 * passes over the bytes as there are forms and ranges, however many numbers there are.
 */
export function createNumberScanner(numbers: readonly string[]): NumberScanner {
  const ranges = Map.groupBy(numbers, (number) => `${number.slice(0, sharedDigits)} ${number.length}`)
  const searches = [...ranges.values()].flatMap((range) =>
    [...forms, ...shownForms].map(({ name, write }) => {
      const [first = ''] = range
      const wanted = new Map(range.map((number) => [write(number).toString('latin1'), number]))
      return { name, prefix: write(first.slice(0, sharedDigits)), length: write(first).length, wanted }
    }),
  )
  return {
    find(sink) {
      const bytes = typeof sink === 'string' ? Buffer.from(sink, 'utf8') : sink
      const hits: Hit[] = []
      for (const { name, prefix, length, wanted } of searches) {
        for (let at = bytes.indexOf(prefix); at !== -1; at = bytes.indexOf(prefix, at + 1)) {
          const number = wanted.get(bytes.toString('latin1', at, at + length))
          if (number !== undefined) hits.push({ number, form: name, at })
        }
      }
      return hits
    },
  }
}

/** A number in every form there is, for planting; as text, where the two bytes of UTF-16 are two characters. */
export const inEveryForm = (number: string) => forms.map(({ write }) => write(number).toString('latin1')).join('|')

/** So many different card numbers. */
export function makeNumbers(count: number, make: () => string): string[] {
  const numbers = new Set<string>()
  while (numbers.size < count) numbers.add(make())
  return [...numbers]
}

/** The same with a wrong check digit. */
export const mistyped = (number: string) => number.slice(0, -1) + String((Number(number.at(-1)) + 1) % 10)
