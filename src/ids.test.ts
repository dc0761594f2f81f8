import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idOfReconciliationId, laterBy, newId, reconciliationIdOf, timeOfId } from './ids.ts'

test('ids of one process ascend, and the millisecond inside is now', () => {
  const before = Date.now()
  const ids = Array.from({ length: 10_000 }, newId)
  expect(ids.toSorted()).toEqual(ids)
  for (const id of ids) expect(timeOfId(id).getTime()).toBeGreaterThanOrEqual(before)
})

test('an id made later has that time and is the same otherwise', () => {
  fc.assert(
    fc.property(fc.nat(10 * 365 * 24 * 60 * 60 * 1000), (ms) => {
      const id = newId()
      const later = laterBy(id, ms)
      expect(timeOfId(later).getTime()).toBe(timeOfId(id).getTime() + ms)
      expect(later).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(later.slice(13)).toBe(id.slice(13))
    }),
  )
})

test('the short spelling of an id leads back to it', () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      const text = reconciliationIdOf(id)
      expect(text).toMatch(/^[0-9A-Za-z]{1,22}$/)
      expect(idOfReconciliationId(text)).toBe(id)
    }),
  )
})

test.each([
  ['00000000-0000-0000-0000-000000000000', '0'],
  ['00000000-0000-0000-0000-00000000003d', 'z'],
  ['00000000-0000-0000-0000-00000000003e', '10'],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7n42DGM5Tflk9n8mt7Fhc7'],
])('%s is spelled %s', (id, text) => {
  expect(reconciliationIdOf(id)).toBe(text)
  expect(idOfReconciliationId(text)).toBe(id)
})

test('short spellings of ids sort as the ids do', () => {
  const ids = [
    '018bcfe5-6800-7000-8000-000000000000',
    ...Array.from({ length: 100 }, newId),
    '0fffffff-ffff-7fff-8fff-ffffffffffff',
  ]
  expect(ids.map(reconciliationIdOf).toSorted()).toEqual(ids.map(reconciliationIdOf))
  expect(new Set(ids.map((id) => reconciliationIdOf(id).length))).toEqual(new Set([21]))
})

test.each(['', '00', '01', 'a-b', 'é', '7n42DGM5Tflk9n8mt7Fhc8', 'zzzzzzzzzzzzzzzzzzzzzz', '1'.repeat(23)])(
  '"%s" is the short spelling of no id',
  (text) => {
    expect(idOfReconciliationId(text)).toBeUndefined()
  },
)
