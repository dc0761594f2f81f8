import { expect, test } from 'vitest'
import { Breaker } from './breaker.ts'

function broken(): Breaker {
  const breaker = new Breaker(16)
  for (let failure = 0; failure < 5; failure += 1) breaker.fail(0)
  return breaker
}

test('five failures in a row leave an endpoint alone, and a success between does not', () => {
  const breaker = new Breaker(16)
  for (let failure = 0; failure < 4; failure += 1) breaker.fail(0)
  breaker.succeed()
  breaker.fail(0)
  expect(breaker.room(0)).toBe(16)
  expect(broken().room(4_999)).toBe(0)
})

test('one delivery probes it, and only one', () => {
  const breaker = broken()
  expect(breaker.room(5_000)).toBe(1)
  breaker.begin()
  expect(breaker.room(5_000)).toBe(0)
})

test('a probe that fails makes the pause twice as long, those that were on their way do not', () => {
  const breaker = broken()
  breaker.fail(100)
  expect(breaker.room(5_000)).toBe(1)
  breaker.begin()
  breaker.fail(5_000)
  expect([breaker.room(14_999), breaker.room(15_000)]).toEqual([0, 1])
})

test('one that is back is trusted step by step', () => {
  const breaker = broken()
  breaker.begin()
  breaker.succeed()
  const rooms = [1, 2, 3, 4, 5, 6].map(() => {
    const room = breaker.room(5_000)
    breaker.succeed()
    return room
  })
  expect(rooms).toEqual([1, 2, 4, 8, 16, 16])
})
