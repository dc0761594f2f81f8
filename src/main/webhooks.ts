import { readEndpointSecrets } from '../areas/webhook-subscriptions/operations/endpoints.ts'
import { realTime } from '../clocks.ts'
import { timeOfId } from '../ids.ts'
import type { Config } from '../platform/config.ts'
import { listen } from '../platform/listen.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { connectNats } from '../platform/nats.ts'
import { type Database, transact } from '../platform/postgres.ts'
import type { Vault } from '../vault/client.ts'
import { createAuthentication } from '../webhooks/authentication.ts'
import { startDispatcher } from '../webhooks/dispatcher.ts'
import { laneStreams } from '../webhooks/lane.ts'
import { createOutbound } from '../webhooks/outbound.ts'
import { createSender } from '../webhooks/sender.ts'
import { readAges } from '../webhooks/store.ts'

export interface Webhooks {
  stop(): Promise<void>
}

/** Everything that tells endpoints what happened, in one process. */
export function startWebhooks({
  db,
  vault,
  log,
  metrics,
  config,
  forStream = false,
}: {
  db: Database
  vault: Vault
  log: Log
  metrics: Metrics
  config: Config<
    'instance' | 'environment' | 'headerPrefix' | 'webhookLoopback' | 'databaseUrl' | 'databaseDirectUrl' | 'natsUrl'
  >
  /** Whether other systems read the stream of events. */
  forStream?: boolean
}): Webhooks {
  const { now } = realTime
  const outbound = createOutbound({ allowLoopback: config.webhookLoopback })
  const nats =
    config.natsUrl && connectNats({ url: config.natsUrl.reveal(), setting: 'NATS_URL', name: 'florin worker', log })
  const dispatcher = startDispatcher({
    db,
    nats,
    send: createSender({
      outbound,
      secretsOf: (endpoint) => readEndpointSecrets({ vault }, endpoint),
      authentication: createAuthentication({ outbound, now }),
      source: { instance: config.instance, environment: config.environment },
      prefix: config.headerPrefix,
      now,
    }),
    now,
    log,
    forStream,
    onAttempt: metrics.observeWebhook,
    onLane: metrics.countLane,
  })
  if (nats) {
    metrics.watchLane(async () => ({
      isOpen: dispatcher.isLaneOpen(),
      pending: await Promise.all(
        laneStreams.map(async ({ name }) => ({ stream: name, count: await nats.count(name).catch(() => undefined) })),
      ),
    }))
  }
  const announcements = listen({
    url: (config.databaseDirectUrl ?? config.databaseUrl).reveal(),
    applicationName: 'florin worker listener',
    channel: 'florin_webhooks',
    onMessage: dispatcher.refresh,
    onGap: dispatcher.refresh,
    onError: (error) => log.warn('changes of subscriptions are not heard', { error }),
  })
  metrics.watchWebhooks(async () => {
    const { queued, overdue } = await transact({ db, accounts: 'all' as const }, ({ db }) => readAges(db))
    const seconds = (since: Date | null) => (since ? Math.max(0, (now().getTime() - since.getTime()) / 1000) : 0)
    return { queued: seconds(queued ? timeOfId(queued) : null), overdue: seconds(overdue) }
  })
  return {
    async stop() {
      await announcements.close()
      await dispatcher.stop()
      await nats?.close()
      outbound.close()
    },
  }
}
