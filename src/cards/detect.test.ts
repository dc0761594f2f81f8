import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cardSchemeIds } from '../card-schemes.ts'
import { detectCard } from './detect.ts'
import { type CardRange, cardRanges } from './ranges.ts'

interface Prefix {
  range: CardRange
  first: string
  last: string
}

const prefixes: Prefix[] = cardRanges.flatMap((range) =>
  range.prefixes.split(' ').map((text) => {
    const [first = '', last = first] = text.split('-')
    return { range, first, last }
  }),
)

/** Slow and in another way: digits are compared as text, prefix by prefix. */
function slowly(number: string): CardRange | undefined {
  let found: Prefix | undefined
  for (const prefix of prefixes) {
    const start = number.slice(0, prefix.first.length)
    if (start < prefix.first || start > prefix.last) continue
    if (!found || prefix.first.length > found.first.length) found = prefix
  }
  return found?.range
}

function expectAgreement(number: string): void {
  const range = slowly(number)
  const detected = detectCard(number)
  if (
    detected.scheme !== (range?.scheme ?? 'other') ||
    detected.usesLuhn !== (range?.usesLuhn ?? false) ||
    detected.lengthFits !== (range?.lengths.includes(number.length) ?? true) ||
    detected.additionalSchemes.join() !== (range?.additionalSchemes ?? []).join()
  ) {
    expect.fail(`${number.slice(0, 8)}: ${detected.scheme}, expected ${range?.scheme ?? 'other'}`)
  }
}

/** The number right before or after, with the same count of digits. */
function neighbour(digits: string, step: 1n | -1n): string | undefined {
  const next = BigInt(digits) + step
  return next < 0n || String(next).length > digits.length ? undefined : String(next).padStart(digits.length, '0')
}

test.each(prefixes.map(({ range, first, last }) => ({ scheme: range.scheme, first, last })))(
  'the edges of $first to $last are where they are written ($scheme)',
  ({ first, last }) => {
    for (const length of [13, 16, 19]) {
      const lowest = first.padEnd(length, '0')
      const highest = last.padEnd(length, '9')
      for (const number of [lowest, highest, neighbour(lowest, -1n), neighbour(highest, 1n)]) {
        if (number !== undefined) expectAgreement(number)
      }
    }
  },
)

test('100,000 numbers are what a slow search in the table says', () => {
  const anyNumber = fc.stringMatching(/^\d{13,19}$/)
  const nearATable = fc
    .tuple(fc.constantFrom(...prefixes), fc.boolean(), fc.stringMatching(/^\d{19}$/), fc.integer({ min: 13, max: 19 }))
    .map(([{ first, last }, atStart, rest, length]) => ((atStart ? first : last) + rest).slice(0, length))
  fc.assert(fc.property(fc.oneof(anyNumber, nearATable), expectAgreement), { numRuns: 100_000 })
})

test('where ranges overlap a longer prefix decides: none of one length overlap, and each range is well formed', () => {
  for (const { first, last } of prefixes) {
    expect(first).toMatch(/^\d{1,8}$/)
    expect(last).toHaveLength(first.length)
    expect(first <= last, `${first}-${last}`).toBe(true)
  }
  for (const [index, one] of prefixes.entries()) {
    for (const other of prefixes.slice(index + 1)) {
      const overlaps = one.first.length === other.first.length && one.first <= other.last && other.first <= one.last
      expect(overlaps, `${one.first}-${one.last} and ${other.first}-${other.last}`).toBe(false)
    }
  }
})

// Facts from outside the table, so that a slip in it is noticed.
test.each([
  ['4111111111111111', 'visa'],
  ['4571000000000000', 'visa', 'dankort'],
  ['4570999999999999', 'visa'],
  ['5555555555554444', 'mastercard'],
  ['2220999999999999', 'other'],
  ['2221000000000000', 'mastercard'],
  ['2720999999999999', 'mastercard'],
  ['2721000000000000', 'other'],
  ['2199999999999999', 'other'],
  ['2200000000000000', 'mir'],
  ['2204999999999999', 'mir'],
  ['2205000000000000', 'other'],
  ['340000000000000', 'amex'],
  ['350000000000000', 'other'],
  ['370000000000000', 'amex'],
  ['3527999999999999', 'other'],
  ['3528000000000000', 'jcb'],
  ['3589999999999999', 'jcb'],
  ['3590000000000000', 'other'],
  ['30000000000000', 'diners-club'],
  ['30599999999999', 'diners-club'],
  ['30600000000000', 'other'],
  ['30950000000000', 'diners-club'],
  ['36000000000000', 'diners-club'],
  ['38000000000000', 'diners-club'],
  ['39999999999999', 'diners-club'],
  ['3841000000000000', 'hipercard'],
  ['3841010000000000', 'diners-club'],
  ['5019000000000000', 'dankort'],
  ['5018000000000000', 'maestro'],
  ['5020000000000000', 'maestro'],
  ['5066990000000000', 'elo'],
  ['5090000000000000', 'elo'],
  ['5085000000000000', 'rupay'],
  ['5084990000000000', 'other'],
  ['6011000000000000', 'discover'],
  ['6062820000000000', 'hipercard'],
  ['6069850000000000', 'rupay'],
  ['6079849999999999', 'rupay'],
  ['6079850000000000', 'other'],
  ['6221260000000000', 'unionpay'],
  ['6229259999999999', 'unionpay'],
  ['6277800000000000', 'elo'],
  ['6362970000000000', 'elo'],
  ['6439999999999999', 'other'],
  ['6440000000000000', 'discover'],
  ['6500020000000000', 'other'],
  ['6500310000000000', 'elo'],
  ['6521490000000000', 'discover'],
  ['6521500000000000', 'rupay'],
  ['6531499999999999', 'rupay'],
  ['6531500000000000', 'discover'],
  ['6550000000000000', 'elo'],
  ['6703000000000000', 'bancontact', 'maestro'],
  ['6759000000000000', 'maestro'],
  ['8171999999999999', 'unionpay'],
  ['8172000000000000', 'rupay'],
  ['8299999999999999', 'rupay'],
  ['8300000000000000', 'other'],
  ['135400000000000', 'uatp'],
  ['9792000000000000', 'other'],
  ['0000000000000000', 'other'],
  ['9999999999999999999', 'other'],
])('%s is %s %s', (number, scheme, ...additional) => {
  expect(detectCard(number)).toMatchObject({ scheme, additionalSchemes: additional })
})

test('every scheme is in the table or has no number of its own', () => {
  const recognised = new Set(cardRanges.map(({ scheme }) => scheme))
  expect(cardSchemeIds.filter((id) => !recognised.has(id))).toEqual([
    'accel',
    'cirrus',
    'culiance',
    'eftpos-australia',
    'nyce',
    'pulse',
    'qcard',
    'star',
  ])
})

test('a length that the scheme does not have is told', () => {
  expect(detectCard('411111111111111').lengthFits).toBe(false)
  expect(detectCard('4111111111111111').lengthFits).toBe(true)
  expect(detectCard('3782822463100050').lengthFits).toBe(false)
  expect(detectCard('9111111111111').lengthFits).toBe(true)
})

test('the first six or eight digits are enough', () => {
  expect(detectCard('411111').scheme).toBe('visa')
  expect(detectCard('65215000').scheme).toBe('rupay')
})
