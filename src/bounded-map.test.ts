import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('it never holds more than its limit and never answers with another value', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 20 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.boolean())),
      (limit, steps) => {
        const map = new BoundedMap<number, string>(limit)
        for (const [key, isWrite] of steps) {
          if (isWrite) map.set(key, `v${key}`)
          else expect([undefined, `v${key}`]).toContain(map.get(key))
          expect(map.size).toBeLessThanOrEqual(limit)
        }
      },
    ),
  )
})

test('what is used stays while others come and go', () => {
  const map = new BoundedMap<string, number>(10)
  map.set('kept', 1)
  for (let index = 0; index < 1_000; index += 1) {
    map.set(`other ${index}`, index)
    expect(map.get('kept')).toBe(1)
  }
})

test('what was deleted is gone', () => {
  const map = new BoundedMap<string, number>(4)
  for (const key of ['a', 'b', 'c']) map.set(key, 1)
  map.delete('a')
  expect(map.get('a')).toBeUndefined()
  map.clear()
  expect(map.size).toBe(0)
})
