import { type EventRow, type EventSource, renderEvent } from '../events/envelope.ts'
import type { Nats, WantedStream } from '../platform/nats.ts'
import { streamName, streamSubjects, subjectOf } from './subject.ts'

export interface StreamLimits {
  days: number
  megabytes: number
  replicas: number
}

/** The stream as its one publisher sees it. */
export interface EventStream {
  /** Where it ends, and the ids of the last events in it. Made first where there is none. */
  open(most: number): Promise<{ last: number; ids: string[] }>
  /**
   * Adds events after `last`, in this order and without gaps: each one says which number it comes after, so that nothing is stored behind one that
   * was lost, nor by a publisher that does not know of another. Answers with the events that are stored, and why the next one is not.
   */
  append(events: readonly EventRow[], last: number): Promise<{ stored: EventRow[]; failure: unknown }>
}

const publishMs = 5_000
const nanosecondsADay = 24 * 60 * 60 * 1_000_000_000
const duplicateWindow = 120 * 1_000_000_000

const wanted = ({ days, megabytes, replicas }: StreamLimits): WantedStream => ({
  name: streamName,
  subjects: [streamSubjects],
  retention: 'limits',
  storage: 'file',
  discard: 'old',
  num_replicas: replicas,
  max_age: days * nanosecondsADay,
  max_bytes: megabytes * 1_048_576,
  duplicate_window: duplicateWindow,
  // Whoever may read may make consumers, and each costs the servers something.
  max_consumers: 100,
})

export function createEventStream(options: { nats: Nats; limits: StreamLimits; source: EventSource }): EventStream {
  const { nats, limits, source } = options
  return {
    async open(most) {
      await nats.ensureStream(wanted(limits))
      return await nats.readEnd(streamName, most)
    },
    async append(events, last) {
      const outcomes = await Promise.allSettled(
        events.map((event, index) =>
          nats.publish(subjectOf(event), renderEvent(event, source), {
            id: event.id,
            after: last + index,
            timeoutMs: publishMs,
          }),
        ),
      )
      const failed = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
      return {
        stored: events.filter((_, index) => outcomes[index]?.status === 'fulfilled'),
        failure: failed?.reason,
      }
    },
  }
}
