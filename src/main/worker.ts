import { accountUpdaterInquiry } from '../areas/account-updater/jobs.ts'
import { sweepCheckoutSessions } from '../areas/checkout/jobs.ts'
import { settleClock } from '../areas/merchant-accounts/clock/jobs.ts'
import { loadClocks } from '../areas/merchant-accounts/clock/operations.ts'
import { expireCards, replaceDeclinedCard, resolveEnrolments, sweepNumbers } from '../areas/payment-methods/jobs.ts'
import { findService } from '../areas/payment-services/operations/routing.ts'
import { createRuleBook } from '../areas/simulator-rules/operations/book.ts'
import { acceptReviews, fetchDueStatements, resolveAttempts, sweepIdempotencyKeys } from '../areas/transactions/jobs.ts'
import { oldestOpenOutcome } from '../areas/transactions/operations/resolve.ts'
import { sendSandboxNotifications, sweepNotifications } from '../areas/transactions/notifications/jobs.ts'
import { expireWebhookDeliveries } from '../areas/webhook-deliveries/jobs.ts'
import { replayWebhooks } from '../areas/webhook-subscriptions/replays/jobs.ts'
import { createClocks, realClocks } from '../clocks.ts'
import { createConnectors, createGiftCards } from '../connectors/registry.ts'
import { sandboxAccountUpdater } from '../connectors/sandbox/account-updater.ts'
import { createNotificationSender } from '../connectors/sandbox/notifications.ts'
import { partitionUpkeep } from '../jobs/partitions.ts'
import { startRunner } from '../jobs/runner.ts'
import { readOldestDue } from '../jobs/store.ts'
import { sweepUses } from '../jobs/sweep-uses.ts'
import { byEveryClock } from '../jobs/time-rule.ts'
import { type Config, loadConfig } from '../platform/config.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import { connect } from '../platform/postgres.ts'
import { startPrivateServer } from '../platform/private-server.ts'
import { connectVault, vaultOptions } from '../vault/client.ts'
import { openEventStream } from './event-stream.ts'
import { databaseProblems, runProcess } from './lifecycle.ts'
import { startWebhooks } from './webhooks.ts'

const settingNames = [
  'environment',
  'instance',
  'databaseUrl',
  'databaseDirectUrl',
  'databasePoolSize',
  'privateHost',
  'privatePort',
  'headerPrefix',
  'webhookLoopback',
  'natsUrl',
  'eventStreamUrl',
  'eventStreamDays',
  'eventStreamMegabytes',
  'eventStreamReplicas',
  'logLevel',
  'drainDelayMs',
  'shutdownTimeoutMs',
  'vaultUrl',
  'vaultTimeoutMs',
  'vaultTlsCa',
  'vaultTlsCert',
  'vaultTlsKey',
  'auditRetentionMonths',
  'eventRetentionMonths',
  'deliveryRetentionMonths',
] as const
export type WorkerConfig = Config<(typeof settingNames)[number]>

export interface Worker {
  privateUrl: string
  log: Log
  drain(): void
  close(): Promise<void>
}

export async function startWorker(config: WorkerConfig): Promise<Worker> {
  const metrics = createMetrics()
  const log = createLog({ level: config.logLevel, process: 'worker', onScrub: metrics.countScrub })
  const db = connect({
    url: config.databaseUrl.reveal(),
    applicationName: 'florin worker',
    poolSize: config.databasePoolSize,
    onError: (error) => log.warn('a database connection was lost', { error }),
  })
  metrics.watchPool(db)
  const vault = connectVault({ ...vaultOptions(config), timeoutMs: config.vaultTimeoutMs })
  const isSandbox = config.environment === 'sandbox'
  const clocks = isSandbox ? createClocks(() => loadClocks(db)) : realClocks
  const nowOf = (account: string) => clocks.of([account]).now()
  const connectors = createConnectors({ environment: config.environment, db, now: nowOf, rules: createRuleBook(db) })
  const giftCards = createGiftCards({ environment: config.environment, db, now: nowOf })
  const sendDue = createNotificationSender({
    db,
    now: nowOf,
    secretOf: async (account, serviceId) => {
      const service = await findService({ db, vault, connectors, accounts: [account] }, serviceId)
      return (await service?.access.secrets())?.['webhook_secret']
    },
  })
  // In the order in which they happen to an account whose clock was moved.
  const timeRules = [
    resolveAttempts({ vault, connectors, giftCards }),
    resolveEnrolments(vault, connectors),
    fetchDueStatements({ vault, connectors, giftCards }),
    acceptReviews(),
    sweepCheckoutSessions(vault),
    expireCards(vault),
    sweepIdempotencyKeys(),
    sweepNotifications(),
  ]
  const eventStream = config.eventStreamUrl && openEventStream({ db, log, metrics, config, url: config.eventStreamUrl })
  const runner = startRunner({
    db,
    jobs: [
      partitionUpkeep({
        auditMonths: config.auditRetentionMonths,
        eventMonths: config.eventRetentionMonths,
        deliveryMonths: config.deliveryRetentionMonths,
      }),
      ...timeRules.map(byEveryClock),
      sweepNumbers(vault),
      sweepUses,
      replaceDeclinedCard(vault),
      expireWebhookDeliveries,
      replayWebhooks,
      ...(eventStream ? [eventStream.publish] : []),
      // Production needs a contract with the schemes; until a connector speaks to them, only the sandbox answers.
      ...(isSandbox
        ? [
            accountUpdaterInquiry(vault, sandboxAccountUpdater),
            sendSandboxNotifications(sendDue),
            settleClock(timeRules),
          ]
        : []),
    ],
    clocks,
    log,
    metrics,
  })
  metrics.watchWork(async () => ({
    job: await readOldestDue(db),
    outcome: await oldestOpenOutcome({ db, accounts: 'all' }),
  }))
  const webhooks = startWebhooks({ db, vault, log, metrics, config, forStream: eventStream !== undefined })
  let draining = false
  const privateServer = await startPrivateServer({
    host: config.privateHost,
    port: config.privatePort,
    problems: async () => (draining ? ['shutting down'] : databaseProblems(db, 'worker')),
    metrics,
  })
  log.info('working', { address: privateServer.url })
  return {
    privateUrl: privateServer.url,
    log,
    drain() {
      draining = true
    },
    async close() {
      await Promise.all([runner.stop(), webhooks.stop()])
      await eventStream?.close()
      await vault.close()
      await db.close()
      await privateServer.close()
    },
  }
}

if (import.meta.main) {
  await runProcess(async () => {
    const config = loadConfig('worker', settingNames)
    return {
      ...(await startWorker(config)),
      drainDelayMs: config.drainDelayMs,
      shutdownTimeoutMs: config.shutdownTimeoutMs,
    }
  })
}
