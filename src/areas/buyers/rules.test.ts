import fc from 'fast-check'
import { expect, test } from 'vitest'
import { searchKey, taxIdKinds } from './rules.ts'

test('there are 58 kinds of tax ids', () => {
  expect(new Set(taxIdKinds).size).toBe(58)
  for (const kind of taxIdKinds) expect(kind).toMatch(/^[a-z]{2}\.[a-z_]+$/)
})

test.each([
  ['Ada LOVELACE', 'ada lovelace'],
  ['ÉMILIE', 'émilie'],
  ['e\u0301mile', 'Émile'],
  ['Weiß', 'WEISS'],
  ['ΟΔΟΣ', 'οδος'],
  ['Ａda', 'ada'],
])('%s and %s are one text to a search', (left, right) => {
  expect(searchKey(left)).toBe(searchKey(right))
})

test('a text begins with each of its beginnings', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 200 }), fc.nat(199), (text, length) => {
      expect(searchKey(text).startsWith(searchKey(text.slice(0, length + 1)))).toBe(true)
    }),
  )
})

test('no text makes a key that is empty or too long for the column', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (text) => {
      const { length } = Array.from(searchKey(text))
      expect(length).toBeGreaterThanOrEqual(1)
      expect(length).toBeLessThanOrEqual(200)
    }),
  )
  expect(Array.from(searchKey('\u{fdfa}'.repeat(200)))).toHaveLength(200)
})
