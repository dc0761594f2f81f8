import { partitionUpkeep } from '../jobs/partitions.ts'
import { startRunner } from '../jobs/runner.ts'
import { type Config, loadConfig } from '../platform/config.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import { connect } from '../platform/postgres.ts'
import { startPrivateServer } from '../platform/private-server.ts'
import { databaseProblems, runProcess } from './lifecycle.ts'

const settingNames = [
  'environment',
  'instance',
  'databaseUrl',
  'databaseDirectUrl',
  'databasePoolSize',
  'privateHost',
  'privatePort',
  'headerPrefix',
  'logLevel',
  'drainDelayMs',
  'shutdownTimeoutMs',
  'auditRetentionMonths',
  'eventRetentionMonths',
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
  const runner = startRunner({
    db,
    jobs: [partitionUpkeep({ auditMonths: config.auditRetentionMonths, eventMonths: config.eventRetentionMonths })],
    now: () => new Date(),
    log,
    metrics,
  })
  let draining = false
  const privateServer = await startPrivateServer({
    host: config.privateHost,
    port: config.privatePort,
    problems: async () => (draining ? ['shutting down'] : databaseProblems(db)),
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
      await runner.stop()
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
