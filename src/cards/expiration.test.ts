import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expiresAt, isExpired } from './expiration.ts'

test.each([
  ['01/00', '2000-02-01T00:00:00.000Z'],
  ['02/28', '2028-03-01T00:00:00.000Z'],
  ['11/26', '2026-12-01T00:00:00.000Z'],
  ['12/26', '2027-01-01T00:00:00.000Z'],
  ['12/99', '2100-01-01T00:00:00.000Z'],
])('%s is good until %s', (date, end) => {
  expect(expiresAt(date)?.toISOString()).toBe(end)
  expect(isExpired(date, new Date(Date.parse(end) - 1))).toBe(false)
  expect(isExpired(date, new Date(end))).toBe(true)
})

test.each(['00/30', '13/30', '1/30', '01/2030', '01-30', ' 01/30', '01/30\n', '٠١/٣٠', ''])('%j is no date', (text) => {
  expect(expiresAt(text)).toBeUndefined()
  expect(isExpired(text, new Date(0))).toBe(true)
})

test('a card is good in every moment of its month and never after', () => {
  const moments = fc.date({
    min: new Date('2000-01-01'),
    max: new Date('2099-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(moments, fc.integer({ min: 1, max: 12 }), fc.nat(99), (now, month, year) => {
      const text = `${String(month).padStart(2, '0')}/${String(year).padStart(2, '0')}`
      const isPast = (now.getUTCFullYear() - 2000) * 12 + now.getUTCMonth() + 1 > year * 12 + month
      expect(isExpired(text, now)).toBe(isPast)
    }),
  )
})
