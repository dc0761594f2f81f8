import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BinRange, type BinStep, startSteps } from './bin-steps.ts'

function stepsOf(ranges: readonly BinRange[]): BinStep[] {
  const steps: BinStep[] = []
  const { add, finish } = startSteps((step) => steps.push(step))
  for (const range of ranges.toSorted((one, other) => one.start - other.start)) add(range)
  finish()
  return steps
}

const width = ({ start, end }: BinRange) => end - start

function narrowest(ranges: readonly BinRange[], number: number): BinRange | null {
  const holding = ranges.filter(({ start, end }) => start <= number && number <= end)
  return holding.toSorted((one, other) => width(one) - width(other) || other.start - one.start)[0] ?? null
}

const ranges = fc.uniqueArray(
  fc.tuple(fc.nat(60), fc.nat(60)).map(([one, other]) => ({ start: Math.min(one, other), end: Math.max(one, other) })),
  { selector: ({ start, end }) => `${start}-${end}`, maxLength: 40 },
)

test('at every number the last step names the narrowest range that holds it', () => {
  fc.assert(
    fc.property(ranges, (given) => {
      const steps = stepsOf(given)
      for (let number = -1; number <= 61; number += 1) {
        const range = steps.findLast(({ at }) => at <= number)?.range ?? null
        expect(range).toBe(narrowest(given, number))
      }
    }),
    { numRuns: 2_000 },
  )
})

test('steps ascend, and there are at most two for each range', () => {
  fc.assert(
    fc.property(ranges, (given) => {
      const places = stepsOf(given).map(({ at }) => at)
      expect(places).toEqual([...new Set(places)].toSorted((one, other) => one - other))
      expect(places.length).toBeLessThanOrEqual(2 * given.length)
    }),
  )
})
