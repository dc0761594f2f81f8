/** Too many calls wait already. */
export class OverloadedError extends Error {
  override name = 'OverloadedError'
}

export interface BatchOptions<Item, Result> {
  /** One result for each item, in their order. */
  run(items: readonly Item[]): Promise<Result[]>
  /** Two items of the same key never share a batch. Without it any may. */
  keyOf?(item: Item): string
  /** Whether one item may be to blame, so that each should be tried by itself. */
  isOnesFault(error: unknown): boolean
  largest?: number
  lanes?: number
  mostWaiting?: number
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Turns calls that come at the same time into one: while the lanes are busy, what arrives gathers. Nobody waits for a
 * timer; a lone call goes at once.
 */
export function createBatcher<Item, Result>({
  run,
  keyOf,
  isOnesFault,
  largest = 200,
  lanes = 2,
  mostWaiting = 5_000,
}: BatchOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let busy = 0
  let scheduled = false

  function take(): Waiting<Item, Result>[] {
    const keys = new Set<string>()
    const batch: Waiting<Item, Result>[] = []
    const left: Waiting<Item, Result>[] = []
    for (const entry of waiting) {
      const key = keyOf?.(entry.item)
      if (batch.length < largest && (key === undefined || !keys.has(key))) batch.push(entry)
      else left.push(entry)
      // Also when it was left: a later call of the same key must not overtake it.
      if (key !== undefined) keys.add(key)
    }
    waiting.splice(0, waiting.length, ...left)
    return batch
  }

  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item))
      if (results.length !== batch.length) throw new Error('a batch must give one result for each item')
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
    } catch (error) {
      if (batch.length === 1 || !isOnesFault(error)) for (const { reject } of batch) reject(error)
      else await Promise.all(batch.map((entry) => settle([entry])))
    }
  }

  function start(): void {
    scheduled = false
    while (busy < lanes && waiting.length > 0) {
      busy += 1
      void settle(take()).finally(() => {
        busy -= 1
        schedule()
      })
    }
  }

  // After the events at hand, so that calls that arrived together go together.
  function schedule(): void {
    if (scheduled || busy >= lanes || waiting.length === 0) return
    scheduled = true
    setImmediate(start)
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length >= mostWaiting) {
        reject(new OverloadedError(`${mostWaiting} calls wait already`))
        return
      }
      waiting.push({ item, resolve, reject })
      schedule()
    })
}
