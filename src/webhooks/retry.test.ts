import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextAttemptAt, retryAfterMs } from './retry.ts'

const now = new Date('2026-11-15T12:00:00Z')
const week = new Date(now.getTime() + 7 * 24 * 3_600_000)
const inSeconds = (attempts: number, more: object = {}) => {
  const at = nextAttemptAt({ attempts, now, expiresAt: week, random: () => 0, ...more })
  return at && (at.getTime() - now.getTime()) / 1000
}

test('the delays are those of the documentation', () => {
  const delays = Array.from({ length: 11 }, (_none, index) => inSeconds(index + 1))
  expect(delays).toEqual([5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 43_200])
})

test('nothing is tried later than seven days after the event', () => {
  expect(inSeconds(20, { expiresAt: new Date(now.getTime() + 43_199_000) })).toBeNull()
})

test('jitter only ever adds, by a tenth at most', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempts, random) => {
      const [least, actual] = [inSeconds(attempts), inSeconds(attempts, { random: () => random })]
      expect(actual).toBeGreaterThanOrEqual(least ?? 0)
      expect(actual).toBeLessThanOrEqual((least ?? 0) * 1.1)
    }),
  )
})

test('what a receiver asks for is honoured, up to a day, and never makes it earlier', () => {
  expect(inSeconds(1, { retryAfterMs: 60_000 })).toBe(60)
  expect(inSeconds(5, { retryAfterMs: 60_000 })).toBe(1800)
  expect(inSeconds(1, { retryAfterMs: 100 * 3_600_000 })).toBe(24 * 3600)
  expect(retryAfterMs('120', now)).toBe(120_000)
  expect(retryAfterMs('Sun, 15 Nov 2026 12:01:00 GMT', now)).toBe(60_000)
  expect([undefined, 'soon', '-5', '99999999999'].map((value) => retryAfterMs(value, now))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
