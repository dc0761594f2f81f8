import type { CardScheme } from '../card-schemes.ts'
import { type CardRange, cardRanges } from './ranges.ts'

export interface DetectedCard {
  scheme: CardScheme
  additionalSchemes: readonly CardScheme[]
  /** False for numbers of no known scheme: some have no check digit. */
  usesLuhn: boolean
  /** Whether the scheme has numbers of this length. */
  lengthFits: boolean
}

const digits = 8
const end = 10 ** digits

interface Piece {
  from: number
  range: CardRange | undefined
}

/** What the first digits of a number tell. Shorter than 8 digits: as if zeros followed. */
export function detectCard(number: string): DetectedCard {
  const range = findRange(Number(number.slice(0, digits).padEnd(digits, '0')))
  return {
    scheme: range?.scheme ?? 'other',
    additionalSchemes: range?.additionalSchemes ?? [],
    usesLuhn: range?.usesLuhn ?? false,
    lengthFits: range === undefined || range.lengths.includes(number.length),
  }
}

/** The pieces lie side by side from the first number to the last, so the piece is the last one that starts at or before. */
function findRange(start: number): CardRange | undefined {
  let low = 0
  let high = pieces.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((pieces[middle]?.from ?? end) <= start) low = middle
    else high = middle - 1
  }
  return pieces[low]?.range
}

const pieces = cut(cardRanges)

function cut(ranges: readonly CardRange[]): Piece[] {
  const spans = ranges.flatMap((range) =>
    range.prefixes.split(' ').map((prefix) => {
      const [first = '', last = first] = prefix.split('-')
      return {
        range,
        length: first.length,
        from: Number(first.padEnd(digits, '0')),
        until: Number(last.padEnd(digits, '9')) + 1,
      }
    }),
  )
  const edges = new Set([0, ...spans.flatMap(({ from, until }) => [from, until])])
  return [...edges]
    .filter((from) => from < end)
    .sort((left, right) => left - right)
    .map((from) => {
      const [longest] = spans
        .filter((span) => span.from <= from && from < span.until)
        .sort((left, right) => right.length - left.length)
      return { from, range: longest?.range }
    })
}
