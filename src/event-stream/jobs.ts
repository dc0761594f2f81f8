import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '../jobs/job.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { deleteWaiting, listWaiting } from './store.ts'
import type { EventStream } from './stream.ts'

const mostTogether = 500
const idleMs = 50
const afterErrorMs = 1_000

/**
 * Tells the stream what happened, one process at a time: the job's lease says who. That is for economy only. The stream itself refuses what a second
 * publisher adds without knowing of the first, and whoever begins looks at its end: what was stored by somebody who then died is not stored again,
 * however long ago that was.
 */
export const publishEvents = (stream: EventStream, onPublished: (count: number) => void): Job => ({
  kind: 'publish-events',
  everyMs: 1_000,
  leaseMs: 10_000,
  async run({ db, log, signal }) {
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined)
    let last: number | undefined
    let isFailing = false
    while (!signal.aborted) {
      try {
        // Before the rows are read: what somebody else adds from here on is noticed.
        last ??= await takeUp(db, stream)
        const count = await publishNext(db, stream, last)
        last += count
        onPublished(count)
        if (isFailing) log.info('events are published again')
        isFailing = false
        if (count < mostTogether) await pause(idleMs)
      } catch (error) {
        last = undefined
        if (!isFailing) {
          log.warn('events cannot be published; they wait in event_stream_queue. See docs/runbooks/nats.md', { error })
        }
        isFailing = true
        await pause(afterErrorMs)
      }
    }
  },
})

/** The number of the last event of the stream. Those that are there already wait no more. */
async function takeUp(db: Db, stream: EventStream): Promise<number> {
  const { last, ids } = await stream.open(mostTogether)
  await forget(db, ids)
  return last
}

async function publishNext(db: Db, stream: EventStream, last: number): Promise<number> {
  const events = await transact({ db, accounts: 'all' as const }, ({ db }) => listWaiting(db, mostTogether))
  if (events.length === 0) return 0
  const { stored, failure } = await stream.append(events, last)
  await forget(
    db,
    stored.map(({ id }) => id),
  )
  if (failure !== undefined) throw new Error('not all events were stored', { cause: failure })
  return stored.length
}

const forget = (db: Db, ids: readonly string[]) =>
  ids.length === 0 ? undefined : transact({ db, accounts: 'all' as const }, ({ db }) => deleteWaiting(db, ids))
