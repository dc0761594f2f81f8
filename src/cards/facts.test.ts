import { expect, test } from 'vitest'
import { type BinFacts, cardFacts } from './facts.ts'

const nothing: BinFacts = { scheme: null, additionalSchemes: [], cardType: null, issuer: null, country: null }

test('without BIN facts the number alone speaks', () => {
  expect(cardFacts('4571000000000001', nothing)).toEqual({
    scheme: 'visa',
    additionalSchemes: ['dankort'],
    cardType: null,
    issuer: null,
    country: null,
    bin: '45710000',
    last4: '0001',
  })
})

test('facts that name a scheme have the last word on the other schemes too', () => {
  expect(cardFacts('4571000000000001', { ...nothing, scheme: 'visa' }).additionalSchemes).toEqual([])
  expect(
    cardFacts('4571000000000001', { ...nothing, scheme: 'dankort', additionalSchemes: ['visa', 'dankort', 'visa'] }),
  ).toMatchObject({ scheme: 'dankort', additionalSchemes: ['visa'] })
})

test('facts that name none add to what the number says', () => {
  const facts = { ...nothing, additionalSchemes: ['star', 'visa', 'dankort'] as const }
  expect(cardFacts('4571000000000001', facts)).toMatchObject({ scheme: 'visa', additionalSchemes: ['star', 'dankort'] })
})

test.each([
  ['4222222222222', '422222'],
  ['378282246310005', '378282'],
  ['4111111111111111', '41111111'],
  ['6799990100000000019', '67999901'],
])('%s shows %s: eight digits only where enough others stay hidden', (number, bin) => {
  expect(cardFacts(number, nothing).bin).toBe(bin)
})
