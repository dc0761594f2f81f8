import fc from 'fast-check'
import { expect, test } from 'vitest'
import { passesLuhn } from './luhn.ts'

const digits = fc.stringMatching(/^\d{12,18}$/)
const checkDigits = '0123456789'.split('')

test('exactly one last digit is right', () => {
  fc.assert(
    fc.property(digits, (start) => {
      expect(checkDigits.filter((digit) => passesLuhn(start + digit))).toHaveLength(1)
    }),
  )
})

test('one mistyped digit is always noticed', () => {
  fc.assert(
    fc.property(digits, fc.nat(), fc.integer({ min: 1, max: 9 }), (start, position, shift) => {
      const number = start + checkDigits.find((digit) => passesLuhn(start + digit))
      const at = position % number.length
      const mistyped = number.slice(0, at) + ((Number(number[at]) + shift) % 10) + number.slice(at + 1)
      expect(passesLuhn(number)).toBe(true)
      expect(passesLuhn(mistyped)).toBe(false)
    }),
  )
})

test('nothing is not a number', () => {
  expect(passesLuhn('')).toBe(false)
  expect(passesLuhn('0')).toBe(true)
})
