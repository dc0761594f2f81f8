import type { FlorinEvent } from '@florin/sdk'

export interface SeenEvent {
  event: FlorinEvent
  /** How often it came. */
  times: number
  at: Date
}

const most = 100

/** What has come, by id, so that a copy is known as one. The newest hundred are kept, in memory: this is an example. */
export function createSeen() {
  const events = new Map<string, SeenEvent>()
  const refused = { count: 0, reason: '' }
  return {
    refused,
    add(event: FlorinEvent): void {
      const known = events.get(event.id)
      if (known) known.times += 1
      else events.set(event.id, { event, times: 1, at: new Date() })
      const [oldest] = events.keys()
      if (events.size > most && oldest !== undefined) events.delete(oldest)
    },
    refuse(reason: string): void {
      refused.count += 1
      refused.reason = reason
    },
    newestFirst: (): SeenEvent[] => [...events.values()].toReversed(),
  }
}

export type Seen = ReturnType<typeof createSeen>
