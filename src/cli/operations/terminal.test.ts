import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Field, flagOf } from './manifest.ts'
import { objectLines } from './object-lines.ts'
import { valueOf } from './request.ts'
import { layOut } from './table.ts'
import { fit, printable, printableJson, widthOf } from './terminal-text.ts'
import { ageOf, textAt } from './values.ts'

/** Text that somebody wrote to make trouble, among other text. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '\u001B[2J',
    '\u009B31m',
    '\u202Eabc',
    '数学は美しい',
    '👩‍👩‍👧‍👦',
    'é́́',
    '\r\n',
    '\u0000',
    '\uD800',
    '﷽',
    '\u2028',
  ),
)
const texts = fc.array(hostile, { maxLength: 4 }).map((parts) => parts.join(''))
const value = fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null), fc.array(texts, { maxLength: 3 }))
const item = fc.record({
  id: fc.uuid(),
  name: texts,
  amount: fc.integer(),
  currency: fc.constantFrom('EUR', 'JPY', 'BHD'),
  more: value,
})
const obeyed = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

test('no line of a table is wider than the terminal, whatever is in it, on any terminal', () => {
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 5 }),
      item,
      fc.integer({ min: 1, max: 200 }),
      (items, later, width) => {
        const { heading, line } = layOut(['id', 'name', 'amount', 'more'], items, width)
        for (const text of [heading, ...[...items, later].map(line)]) {
          expect(widthOf(text)).toBeLessThanOrEqual(width)
          expect(text).not.toMatch(obeyed)
        }
      },
    ),
  )
})

test('a table keeps ids whole, cuts texts, and leaves out what has no room', () => {
  const items = [
    {
      id: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e',
      status: 'capture_succeeded',
      note: 'A long text about this',
      empty: null,
    },
  ]
  const linesAt = (width: number) => {
    const { heading, line } = layOut(['id', 'status', 'note', 'empty'], items, width)
    return [heading, ...items.map(line)]
  }
  expect(linesAt(80)).toEqual([
    'ID                                    STATUS             NOTE',
    '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e  capture_succeeded  A long text about this',
  ])
  expect(linesAt(75)[1]).toBe('0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e  capture_succeeded  A long text about…')
  expect(linesAt(60)[1]).toBe('0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e  capture_succeeded')
  expect(linesAt(20)[1]).toBe('0192f4a6-7e0c-7c33-…')
})

test('in 80 columns a payment has its status, its amount and its age; with more room, the moment', () => {
  const items = [
    {
      id: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e',
      merchant_account_id: 'default',
      status: 'authorization_void_pending',
      amount: 123456,
      currency: 'EUR',
      created_at: '2026-11-15T12:00:00.123Z',
    },
  ]
  const now = Date.parse('2026-11-18T13:00:00Z')
  const linesAt = (paths: string[], width: number) => {
    const { heading, line } = layOut(paths, items, width, now)
    return [heading, ...items.map(line)]
  }
  const usual = ['id', 'status', 'amount', 'created_at']
  expect(linesAt(usual, 80)).toEqual([
    'ID                                    STATUS                   AMOUNT       AGE',
    '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e  authorization_void_pen…  1234.56 EUR  3d',
  ])
  expect(linesAt(usual, 101)[1]).toMatch(/ authorization_void_pending  1234.56 EUR  2026-11-15T12:00:00Z$/)
  expect(linesAt(['id', 'merchant_account_id', ...usual.slice(1)], 81)[1]).toBe(
    '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e  default  authorization_void_p…  1234.56 EUR',
  )
})

test('an age has at most four characters for 999 years, and is negative where the clock of an account is ahead', () => {
  const ages = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 364 * 86_400, 365 * 86_400, 999 * 365 * 86_400, -90]
  const now = Date.parse('2026-11-15T12:00:00Z')
  expect(ages.map((seconds) => ageOf(new Date(now - seconds * 1_000).toISOString(), now))).toEqual([
    '0s',
    '59s',
    '1m',
    '59m',
    '1h',
    '23h',
    '1d',
    '364d',
    '1y',
    '999y',
    '-1m',
  ])
  expect(ageOf(null, now)).toBe('')
})

test('nothing that a terminal obeys reaches it from an object, and every value is there', () => {
  fc.assert(
    fc.property(fc.dictionary(texts, value), (thing) => {
      for (const line of objectLines(thing)) expect(line).not.toMatch(obeyed)
      expect(printableJson(thing, 2).replaceAll('\n', '')).not.toMatch(obeyed)
      expect(JSON.parse(printableJson(thing))).toEqual(JSON.parse(JSON.stringify(thing)))
    }),
  )
})

test('text takes as many cells as it is given', () => {
  fc.assert(
    fc.property(texts.map(printable), fc.integer({ min: 0, max: 60 }), (text, width) => {
      expect(widthOf(fit(text, width))).toBe(width)
    }),
  )
  expect(widthOf('数学')).toBe(4)
  expect(widthOf('é')).toBe(1)
  expect(fit('数学', 3)).toBe('数…')
})

test('an object is told by its names, without what is empty, with amounts as people write them', () => {
  expect(
    objectLines({
      id: 'a',
      amount: 1299,
      currency: 'EUR',
      settled_amount: 500,
      settled_currency: 'JPY',
      note: null,
      key: '-----BEGIN\nabc\n-----END\n',
      nested: { 'a.b': true, list: [{ x: 1 }, { x: 2 }], names: ['m', 'n'], none: [] },
    }),
  ).toEqual([
    'id                a',
    'amount            12.99 EUR',
    'currency          EUR',
    'settled_amount    500 JPY',
    'settled_currency  JPY',
    'key               -----BEGIN',
    '                  abc',
    '                  -----END',
    'nested.a.b        yes',
    'nested.list.0.x   1',
    'nested.list.1.x   2',
    'nested.names      m, n',
  ])
  expect(textAt({ amount: -5, currency: 'BHD' }, 'amount')).toBe('-0.005 BHD')
})

const scalars: [Field['kind'], fc.Arbitrary<unknown>][] = [
  ['string', fc.string()],
  ['integer', fc.maxSafeInteger()],
  ['json', fc.jsonValue()],
]
const typed = (kind: Field['kind'], value: unknown) => (kind === 'string' ? String(value) : JSON.stringify(value))
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test.each(scalars)('what is typed for a field of the kind %s is what is sent', (kind, values) => {
  fc.assert(
    fc.property(values, fc.array(values, { minLength: 2 }), (one, many) => {
      expect(wire(valueOf({ name: 'x', kind }, ['before', typed(kind, one)]))).toEqual(wire(one))
      const texts = many.map((value) => typed(kind, value))
      expect(wire(valueOf({ name: 'x', kind, isList: true }, texts))).toEqual(wire(many))
    }),
  )
})

test('what is no number, no JSON or no choice is refused with the option, and is not repeated', () => {
  const refusal = (field: Partial<Field>, text: string) => {
    try {
      return valueOf({ name: 'a.b_c', kind: 'string', ...field }, [text])
    } catch (error) {
      return (error as Error).message
    }
  }
  for (const text of ['', 'x4111', '1.5', '1e3', '0x10', ' 1', '9007199254740993', 'NaN']) {
    expect(refusal({ kind: 'integer' }, text)).toBe('--a.b-c must be a whole number.')
  }
  expect(refusal({ name: 'amount', kind: 'integer' }, '12.99')).toMatch(/^--amount must be .* 1299 is 12\.99\.$/)
  expect(refusal({ kind: 'number' }, '1.5')).toBe(1.5)
  expect(refusal({ kind: 'json' }, '{"number": 4111')).toBe('--a.b-c must be JSON, in single quotes.')
  expect(refusal({ choices: ['m', 'n'] }, '4111')).toBe('--a.b-c must be one of m, n.')
  expect(refusal({ isList: true }, '["m", "n"]')).toEqual(['m', 'n'])
  expect(flagOf({ name: 'a.b_c' })).toBe('--a.b-c')
})
