import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../platform/log.ts'

const mostTogether = 500
const gatherMs = 20
const retryMs = 500

/** Gathers what comes within a moment and writes it together, until the database takes it. */
export function createBatches<Item>({
  write,
  log,
  failure,
}: {
  write: (items: readonly Item[]) => Promise<void>
  log: Log
  /** What the log says each time that it does not take them. */
  failure: string
}) {
  const gathered: { item: Item; done: () => void }[] = []
  let writing: Promise<void> | undefined

  async function persist(items: readonly Item[]): Promise<void> {
    for (;;) {
      try {
        return await write(items)
      } catch (error) {
        log.warn(failure, { count: items.length, error })
        await sleep(retryMs)
      }
    }
  }

  async function writeAll(): Promise<void> {
    await sleep(gatherMs)
    while (gathered.length > 0) {
      const batch = gathered.splice(0, mostTogether)
      await persist(batch.map(({ item }) => item))
      for (const { done } of batch) done()
    }
    writing = undefined
  }

  return {
    /** Ends when it is written. */
    add(item: Item): Promise<void> {
      return new Promise((done) => {
        gathered.push({ item, done })
        writing ??= writeAll()
      })
    },
    async flush(): Promise<void> {
      while (writing) await writing
    },
  }
}
