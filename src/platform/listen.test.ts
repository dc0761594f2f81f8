import { expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { listen } from './listen.ts'

const database = useDatabase()

test('a listener that is closed while it connects, or begins to listen, ends and reports nothing', async () => {
  const errors: Error[] = []
  for (let time = 0; time < 20; time += 1) {
    const listener = listen({
      url: database.url('florin_worker'),
      applicationName: 'florin test',
      channel: 'florin_test',
      onMessage: () => undefined,
      onGap: () => undefined,
      onError: (error) => errors.push(error),
    })
    await new Promise((resolve) => setTimeout(resolve, time / 2))
    await listener.close()
  }
  expect(errors).toEqual([])
})
