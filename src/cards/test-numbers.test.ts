import { expect, test } from 'vitest'
import { cardSchemeIds } from '../card-schemes.ts'
import { detectCard } from './detect.ts'
import { cardTypes } from './facts.ts'
import { passesLuhn } from '../platform/luhn.ts'
import { authenticationNumbers, findTestFacts, forcingNumbers, isTestNumber, testNumbers } from './test-numbers.ts'

const everyNumber = [...testNumbers, ...forcingNumbers, ...authenticationNumbers]

test.each(everyNumber)('$number is a number of $scheme by the range table too', ({ number, scheme }) => {
  expect(number).toMatch(/^\d{13,19}$/)
  expect(passesLuhn(number)).toBe(true)
  expect(detectCard(number)).toMatchObject({ scheme, lengthFits: true })
})

test('every entry is well formed and none is there twice', () => {
  for (const { scheme, additionalSchemes, cardType, country } of everyNumber) {
    expect(cardSchemeIds).toEqual(expect.arrayContaining([scheme, ...additionalSchemes]))
    expect(cardTypes).toContain(cardType)
    expect(country).toMatch(/^[A-Z]{2}$/)
  }
  expect(new Set(everyNumber.map(({ number }) => number)).size).toBe(everyNumber.length)
})

test('a number that forces an outcome is a test number of its own: no two force the same', () => {
  expect(new Set(forcingNumbers.map(({ forces }) => forces)).size).toBe(forcingNumbers.length)
  for (const { number } of forcingNumbers) {
    expect(isTestNumber(number)).toBe(true)
    expect(findTestFacts(number)).toMatchObject({ scheme: 'visa', cardType: 'credit', country: 'US' })
  }
})

test('every scheme that issues both has a credit and a debit card; the debit schemes have a debit card', () => {
  const has = (scheme: string, type: string) =>
    testNumbers.some((entry) => entry.scheme === scheme && entry.cardType === type)
  const both = [
    'visa',
    'mastercard',
    'amex',
    'discover',
    'diners-club',
    'jcb',
    'unionpay',
    'elo',
    'hipercard',
    'mir',
    'rupay',
  ]
  const missing = both.filter((scheme) => !has(scheme, 'credit') || !has(scheme, 'debit'))
  expect(missing).toEqual([])
  expect(['maestro', 'dankort', 'bancontact'].filter((scheme) => !has(scheme, 'debit'))).toEqual([])
  expect(testNumbers.some(({ cardType }) => cardType === 'prepaid')).toBe(true)
})

test('a test card comes from a bank of the sandbox; another card of the same range does not', () => {
  expect(findTestFacts('4111111111111111')).toEqual({
    scheme: 'visa',
    additionalSchemes: [],
    cardType: 'credit',
    issuer: 'Sandbox Bank US',
    country: 'US',
  })
  expect(isTestNumber('4111111111111111')).toBe(true)
  expect(isTestNumber('4111111111111129')).toBe(false)
  expect(findTestFacts('4111111111111129')).toBeUndefined()
})
