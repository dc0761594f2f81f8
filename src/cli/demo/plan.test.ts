import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NewTransaction } from '../../areas/transactions/schema/create.ts'
import { isTestNumber } from '../../cards/test-numbers.ts'
import { compile } from '../../platform/validator.ts'
import { fewestTransactions, planShop, type Story } from './plan.ts'
import { ongoing } from './ongoing.ts'
import { recipes } from './recipes.ts'
import { createRhythm } from './rhythm.ts'

const day = 24 * 60 * 60 * 1000
const shops = fc.record({
  seed: fc.integer({ min: 0, max: 4_294_967_295 }),
  transactions: fc.integer({ min: fewestTransactions, max: 400 }),
  days: fc.integer({ min: 1, max: 120 }),
})
const check = (holds: (stories: Story[], days: number) => void) =>
  fc.assert(
    fc.property(shops, (options) => holds(planShop(options), options.days)),
    { numRuns: 25 },
  )

test('the same seed plans the same shop, another seed another one', () => {
  fc.assert(
    fc.property(shops, (options) => {
      expect(planShop(options)).toEqual(planShop(options))
      expect(planShop({ ...options, seed: (options.seed + 1) % 4_294_967_296 })).not.toEqual(planShop(options))
    }),
    // Of these eight customers none would have stored a card.
    { numRuns: 10, examples: [[{ seed: 2_321_212_642, transactions: 42, days: 1 }]] },
  )
})

test('there are as many payments as were asked for, and one of each kind at least', () => {
  check((stories) => {
    const names = new Set(stories.map(({ name }) => name))
    expect([...recipes, ...ongoing].map(({ name }) => name).filter((name) => !names.has(name))).toEqual([])
  })
  expect(planShop({ seed: 7, transactions: 321, days: 3 })).toHaveLength(321)
})

test('every planned payment is one that the API would take, with a test number of the sandbox', () => {
  const problemsOf = compile(NewTransaction)
  check((stories) => {
    for (const { payment } of stories) {
      expect(problemsOf(payment)).toEqual([])
      const method = payment.payment_method
      if (method?.method === 'card') expect(isTestNumber(method.number)).toBe(true)
    }
  })
})

test('steps are in order and in the past, no refund is larger than its payment, and no gift card pays more than it has', () => {
  check((stories, days) => {
    const spent = new Map<string, number>()
    for (const { begins, steps, payment, giftCard, customer } of stories) {
      const times = steps.map(({ after }) => after)
      expect(times).toEqual(times.toSorted((left, right) => left - right))
      const agoMs = 'share' in begins ? (1 - begins.share) * days * day : begins.agoMs
      expect(times.every((after) => after <= agoMs)).toBe(true)
      const refunded = steps.reduce((sum, step) => sum + (step.act === 'refund' && !step.outcome ? step.amount : 0), 0)
      expect(refunded).toBeLessThanOrEqual(payment.amount)
      if (!giftCard) continue
      const { number, pin } = giftCard.card === 'own' ? (customer.giftCard ?? { number: '', pin: '0' }) : giftCard.card
      spent.set(number, (spent.get(number) ?? 0) + giftCard.amount)
      expect(giftCard.amount).toBeGreaterThan(0)
      expect(spent.get(number)).toBeLessThanOrEqual(Number(pin))
    }
  })
})

test('shares of the time ascend from the first day to now, and more is sold in the evening than at night', () => {
  const now = Date.parse('2026-11-15T12:34:56Z')
  const timeOf = createRhythm(now, 90)
  const times = Array.from({ length: 9_001 }, (_, index) => timeOf(index / 9_000))
  expect(times).toEqual(times.toSorted((left, right) => left - right))
  expect(times.at(0)).toBe(now - 90 * day)
  expect(times.at(-1)).toBe(now)
  const at = (hour: number) => times.filter((time) => new Date(time).getUTCHours() === hour).length
  expect(at(20)).toBeGreaterThan(5 * at(3))
})
