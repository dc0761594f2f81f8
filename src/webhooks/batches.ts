import { setTimeout as sleep } from 'node:timers/promises'

const mostTogether = 500
const gatherMs = 20

/** Gathers what comes within a moment and writes it together. `write` does not fail. */
export function createBatches<Item>(write: (items: readonly Item[]) => Promise<void>) {
  const gathered: { item: Item; done: () => void }[] = []
  let writing: Promise<void> | undefined

  async function writeAll(): Promise<void> {
    await sleep(gatherMs)
    while (gathered.length > 0) {
      const batch = gathered.splice(0, mostTogether)
      await write(batch.map(({ item }) => item))
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
