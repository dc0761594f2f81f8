import type { WorkerConfig } from '../src/main/worker.ts'
import { Secret } from '../src/platform/secret.ts'
import type { TestApi } from './api.ts'

/** A worker beside the api of a test, without NATS unless that is said. */
export const workerConfig = (
  api: Pick<TestApi, 'database' | 'vault'>,
  overrides: Partial<WorkerConfig> = {},
): WorkerConfig => ({
  environment: 'sandbox',
  instance: 'local',
  databaseUrl: new Secret(api.database.url('florin_worker')),
  databaseDirectUrl: undefined,
  databasePoolSize: 5,
  privateHost: '127.0.0.1',
  privatePort: 0,
  headerPrefix: 'X-Service-',
  webhookLoopback: true,
  natsUrl: undefined,
  eventStreamUrl: undefined,
  eventStreamDays: 1,
  eventStreamMegabytes: 64,
  eventStreamReplicas: 3,
  logLevel: 'silent',
  drainDelayMs: 0,
  shutdownTimeoutMs: 10_000,
  vaultUrl: api.vault.url(),
  vaultTimeoutMs: 60_000,
  vaultTlsCa: undefined,
  vaultTlsCert: undefined,
  vaultTlsKey: undefined,
  auditRetentionMonths: 13,
  eventRetentionMonths: 13,
  deliveryRetentionMonths: 2,
  ...overrides,
})
