import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createBatcher, OverloadedError } from './batch.ts'

interface Item {
  key: string
  value: number
}

function recorder({ failOn }: { failOn?: (items: readonly Item[]) => Error | undefined } = {}) {
  const batches: number[][] = []
  const add = createBatcher<Item, number>({
    async run(items) {
      batches.push(items.map(({ value }) => value))
      await sleep(5)
      const error = failOn?.(items)
      if (error) throw error
      return items.map(({ value }) => value * 10)
    },
    keyOf: ({ key }) => key,
    isOnesFault: (error) => (error as Error).message === 'bad row',
    largest: 10,
    lanes: 1,
    mostWaiting: 50,
  })
  return { add, batches }
}

test('calls that come together go together, and each gets its own result', async () => {
  const { add, batches } = recorder()
  const results = await Promise.all(Array.from({ length: 25 }, (_, value) => add({ key: String(value), value })))
  expect(results).toEqual(Array.from({ length: 25 }, (_, value) => value * 10))
  expect(batches.map(({ length }) => length)).toEqual([10, 10, 5])
})

test('a lone call does not wait for company', async () => {
  const { add, batches } = recorder()
  expect(await add({ key: 'a', value: 1 })).toBe(10)
  expect(batches).toEqual([[1]])
})

test('calls of the same key never share a batch and keep their order', async () => {
  const { add, batches } = recorder()
  await Promise.all([1, 2, 3].map((value) => add({ key: 'same', value })))
  expect(batches).toEqual([[1], [2], [3]])
})

test('without keys the same item may be in a batch as often as it comes', async () => {
  const sizes: number[] = []
  const add = createBatcher<number, number>({
    async run(items) {
      sizes.push(items.length)
      return [...items]
    },
    isOnesFault: () => false,
  })
  expect(await Promise.all([7, 7, 7].map(add))).toEqual([7, 7, 7])
  expect(sizes).toEqual([3])
})

test('a bad row fails alone', async () => {
  const { add } = recorder({
    failOn: (items) => (items.some(({ value }) => value === 3) ? new Error('bad row') : undefined),
  })
  const results = await Promise.allSettled([1, 2, 3, 4].map((value) => add({ key: String(value), value })))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
})

test('when nothing works at all, nobody is asked again one by one', async () => {
  const { add, batches } = recorder({ failOn: () => new Error('connection lost') })
  const results = await Promise.allSettled([1, 2, 3].map((value) => add({ key: String(value), value })))
  expect(results.every(({ status }) => status === 'rejected')).toBe(true)
  expect(batches).toHaveLength(1)
})

test('the queue has an end: what comes beyond it is refused at once', async () => {
  const { add } = recorder()
  const results = await Promise.allSettled(Array.from({ length: 60 }, (_, value) => add({ key: String(value), value })))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(10)
  expect(refused.every(({ reason }) => reason instanceof OverloadedError)).toBe(true)
})
