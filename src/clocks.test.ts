import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createClocks, followedMs, realClocks, realTime } from './clocks.ts'
import { timeOfId } from './ids.ts'

beforeEach(() => void vi.useFakeTimers({ now: new Date('2030-01-01T00:00:00Z') }))
afterEach(() => void vi.useRealTimers())

const moves = fc.oneof(
  fc.record({ kind: fc.constant('move'), ms: fc.nat(10_000_000_000) }),
  fc.record({ kind: fc.constant('pass'), ms: fc.nat(5_000) }),
  // What a slow question brings home may be older than what is known.
  fc.record({ kind: fc.constant('load'), ms: fc.nat(10_000_000_000) }),
  fc.record({ kind: fc.constant('use'), ms: fc.constant(0) }),
)

test('whatever moves it, a clock never goes back, ids of its account ascend, and other accounts go by real time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moves, { maxLength: 60 }), async (steps) => {
      let stored = 0
      const clocks = createClocks(() => Promise.resolve(new Map([['moved', stored]])))
      const began = clocks.of(['moved'])
      let last = began.now()
      const ids = [began.newId()]
      for (const { kind, ms } of steps) {
        if (kind === 'move') clocks.move('moved', ms)
        if (kind === 'pass') vi.advanceTimersByTime(ms)
        if (kind === 'load') stored = ms
        await clocks.refresh()
        // A request that began before goes on by the clock as it is.
        for (const clock of [began, clocks.of(['moved'])]) {
          expect(clock.now().getTime()).toBeGreaterThanOrEqual(last.getTime())
          last = clock.now()
          ids.push(clock.newId())
        }
        expect(clocks.of(['other']).now()).toEqual(new Date())
      }
      expect(ids.toSorted()).toEqual(ids)
      expect(new Set(ids).size).toBe(ids.length)
    }),
  )
})

test('the time of an id is that of its clock, and several accounts have no clock in common', () => {
  const clocks = createClocks(() => Promise.resolve(new Map()))
  clocks.move('moved', 3_600_000)
  const { now, newId } = clocks.of(['moved'])
  expect(now()).toEqual(new Date('2030-01-01T01:00:00Z'))
  expect(timeOfId(newId()).getTime()).toBeGreaterThanOrEqual(now().getTime())
  for (const accounts of ['all', [], ['moved', 'other']] as const) {
    expect(clocks.of(accounts).now()).toEqual(new Date('2030-01-01T00:00:00Z'))
  }
  expect(clocks.moved()).toEqual(['moved'])
})

test('what is known is asked for at most once a second, however many begin, and a move is known to all after that', async () => {
  let questions = 0
  let ahead = 0
  const clocks = createClocks(() => {
    questions += 1
    return Promise.resolve(new Map([['moved', ahead]]))
  })
  const begin = () => Promise.all(Array.from({ length: 100 }, () => clocks.refresh()))
  await begin()
  ahead = 60_000
  vi.advanceTimersByTime(followedMs - 1)
  await begin()
  expect([questions, clocks.of(['moved']).now()]).toEqual([1, new Date()])
  vi.advanceTimersByTime(2)
  await begin()
  expect([questions, clocks.of(['moved']).now()]).toEqual([2, new Date(Date.now() + 60_000)])
})

test('who begins later than a second after a move does not take the answer to a question from before it', async () => {
  const answers = [Promise.withResolvers<Map<string, number>>(), Promise.withResolvers<Map<string, number>>()]
  let questions = 0
  const clocks = createClocks(() => answers[questions++]?.promise ?? Promise.reject(new Error('asked too often')))
  const first = clocks.refresh()
  vi.advanceTimersByTime(followedMs + 1)
  const second = clocks.refresh()
  answers[0]?.resolve(new Map())
  await first
  answers[1]?.resolve(new Map([['moved', 60_000]]))
  await second
  expect(clocks.of(['moved']).now()).toEqual(new Date(Date.now() + 60_000))
})

test('a question that fails is told to who asked, and asked again', async () => {
  const load = vi.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue(new Map())
  const clocks = createClocks(load)
  await expect(clocks.refresh()).rejects.toThrow('away')
  await clocks.refresh()
  expect(load).toHaveBeenCalledTimes(2)
})

test('in production there is real time only', async () => {
  await realClocks.refresh()
  expect([realClocks.canMove, realClocks.moved(), realClocks.of(['any'])]).toEqual([false, [], realTime])
  expect(() => realClocks.move('any', 1)).toThrow('no clocks')
})
