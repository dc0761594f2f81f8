import { realTime } from '../clocks.ts'
import { publishEvents } from '../event-stream/jobs.ts'
import { readBacklog } from '../event-stream/store.ts'
import { createEventStream } from '../event-stream/stream.ts'
import { timeOfId } from '../ids.ts'
import type { Job } from '../jobs/job.ts'
import type { Config } from '../platform/config.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { connectNats } from '../platform/nats.ts'
import type { Database } from '../platform/postgres.ts'
import type { Secret } from '../platform/secret.ts'

/** The stream of events for other systems, as a worker takes part in it. */
export function openEventStream({
  db,
  log,
  metrics,
  url,
  config,
}: {
  db: Database
  log: Log
  metrics: Metrics
  url: Secret
  config: Config<'instance' | 'environment' | 'eventStreamDays' | 'eventStreamMegabytes' | 'eventStreamReplicas'>
}): { publish: Job; close(): Promise<void> } {
  const nats = connectNats({ url: url.reveal(), setting: 'FLORIN_EVENT_STREAM_URL', name: 'florin event stream', log })
  const stream = createEventStream({
    nats,
    limits: {
      days: config.eventStreamDays,
      megabytes: config.eventStreamMegabytes,
      replicas: config.eventStreamReplicas,
    },
    source: config,
  })
  metrics.watchEventStream(async () => {
    const { count, oldest } = await readBacklog(db)
    const age = oldest === null ? 0 : realTime.now().getTime() - timeOfId(oldest).getTime()
    return { isConnected: nats.isConnected(), waiting: count, oldest: Math.max(0, age / 1000) }
  })
  return { publish: publishEvents(stream, metrics.countStreamed), close: () => nats.close() }
}
