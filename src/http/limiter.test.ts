import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ApiError } from '../errors.ts'
import { type CountedUse, createLimiter, type Subject } from './limiter.ts'

const limit = 3
const windowMs = 60_000
const token: Subject = { kind: 'token', id: 'kid.jti' }

/** A database that counts right, by a clock of its own, and some processes that ask it. */
function setUp({ processes = 1, latency = (): number => 0 } = {}) {
  let time = 1_000
  let asked = 0
  let times: number[] = []
  const count = async (): Promise<CountedUse> => {
    asked += 1
    time += latency()
    const recent = times.filter((at) => at >= time - windowMs)
    const allowed = recent.length < limit
    if (allowed) times = [...recent, time]
    const waitMs = (recent[0] ?? time) + windowMs - time
    time += latency()
    return { allowed, remaining: Math.max(0, limit - recent.length - 1), waitMs }
  }
  const limiters = Array.from({ length: processes }, () =>
    createLimiter({ count, limit, windowSeconds: 60, now: () => time }),
  )
  const ask = async (index = 0) => {
    try {
      return { headers: (await limiters[index]?.(token)) ?? {}, refused: undefined }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { headers: error.headers, refused: error }
    }
  }
  return { ask, pass: (ms: number) => (time += ms), asked: () => asked, allowed: () => times }
}

test('what passes says how many more may and when there are more', async () => {
  const { ask, pass } = setUp()
  expect((await ask()).headers).toEqual({ 'ratelimit-policy': '"embed";q=3;w=60', ratelimit: '"embed";r=2;t=61' })
  pass(30_500)
  expect((await ask()).headers['ratelimit']).toBe('"embed";r=1;t=30')
})

test('what is refused says when to come back, and what to do', async () => {
  const { ask, pass } = setUp()
  for (let use = 0; use < limit; use += 1) await ask()
  pass(1_500)
  const { refused, headers } = await ask()
  expect(refused?.code).toBe('too_many_requests')
  expect(refused?.message).toMatch(/sign a new token for every checkout/)
  expect(headers).toEqual({
    'ratelimit-policy': '"embed";q=3;w=60',
    ratelimit: '"embed";r=0;t=59',
    'retry-after': '59',
  })
})

test('after a refusal the database is not asked until the time has come', async () => {
  const { ask, pass, asked } = setUp()
  for (let use = 0; use < limit + 1; use += 1) await ask()
  const before = asked()
  for (let second = 0; second < 59; second += 1) {
    pass(1_000)
    expect((await ask()).headers['retry-after']).toBe(String(60 - second))
  }
  expect(asked()).toBe(before)
  pass(1_001)
  expect((await ask()).refused).toBeUndefined()
  expect(asked()).toBe(before + 1)
})

test('Retry-After is true: whoever waits so long passes, in whatever process, however slow the database', async () => {
  const latency = fc.integer({ min: 0, max: 900 })
  const steps = fc.array(fc.record({ process: fc.nat(2), pause: fc.nat(20_000) }), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(steps, fc.array(latency, { minLength: 1, maxLength: 7 }), async (asks, delays) => {
      let turn = 0
      const { ask, pass } = setUp({ processes: 3, latency: () => delays[(turn += 1) % delays.length] ?? 0 })
      for (const { process, pause } of asks) {
        pass(pause)
        const { refused } = await ask(process)
        if (!refused) continue
        const seconds = Number(refused.headers['retry-after'])
        expect(seconds).toBeGreaterThanOrEqual(1)
        expect(Number.isInteger(seconds)).toBe(true)
        pass(seconds * 1_000)
        expect((await ask(process)).refused).toBeUndefined()
      }
    }),
  )
})

test('what does not exist is not limited and has no headers', async () => {
  const limiter = createLimiter({ count: async () => undefined, limit, windowSeconds: 60 })
  expect(await limiter({ kind: 'session', id: 'x' })).toEqual({})
})

test('a database that cannot be asked lets nobody pass', async () => {
  const limiter = createLimiter({
    count: () => Promise.reject(new Error('the connection is closed')),
    limit,
    windowSeconds: 60,
  })
  await expect(limiter(token)).rejects.toThrow('the connection is closed')
})
