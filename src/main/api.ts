import type { AddressInfo } from 'node:net'
import { loadSigningKey, touchKeyPairs } from '../areas/api-key-pairs/operations.ts'
import { findBuyerByReference } from '../areas/buyers/operations.ts'
import { loadClocks } from '../areas/merchant-accounts/clock/operations.ts'
import {
  getMerchantAccount,
  merchantAccountExists,
  oldestMerchantAccount,
} from '../areas/merchant-accounts/operations.ts'
import { createRuleBook } from '../areas/simulator-rules/operations/book.ts'
import { loadThreeDSScenarios } from '../areas/three-ds-scenarios/operations.ts'
import { createClocks, realClocks, realTime } from '../clocks.ts'
import { createAntiFraud, createConnectors, createGiftCards } from '../connectors/registry.ts'
import { approvalPages } from '../connectors/sandbox/approvals/pages.ts'
import { buildApp } from '../http/app.ts'
import { createAuthenticator } from '../http/authenticate.ts'
import { createCursorCodec } from '../http/cursor.ts'
import { createKeyRing } from '../http/key-ring.ts'
import { createLimiter } from '../http/limiter.ts'
import { createAccountDirectory } from '../http/merchant-account.ts'
import { routes } from '../http/routes.ts'
import { findStaticFiles } from '../http/static-files.ts'
import { createUseRecorder } from '../http/use-recorder.ts'
import { type Config, loadConfig } from '../platform/config.ts'
import { listen } from '../platform/listen.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import { connect } from '../platform/postgres.ts'
import { startPrivateServer } from '../platform/private-server.ts'
import { windowSeconds } from '../platform/uses.ts'
import { connectVault, vaultOptions } from '../vault/client.ts'
import { checkTarget } from '../webhooks/addresses.ts'
import { countUse } from './count-use.ts'
import { databaseProblems, runProcess } from './lifecycle.ts'
import { returnPages } from './return-pages.ts'

const settingNames = [
  'environment',
  'instance',
  'databaseUrl',
  'databaseDirectUrl',
  'databasePoolSize',
  'host',
  'port',
  'privateHost',
  'privatePort',
  'publicUrl',
  'headerPrefix',
  'cursorKeys',
  'verifyConcurrency',
  'maxGiftCards',
  'embedLimit',
  'webhookLoopback',
  'logLevel',
  'drainDelayMs',
  'shutdownTimeoutMs',
  'vaultUrl',
  'vaultTimeoutMs',
  'vaultTlsCa',
  'vaultTlsCert',
  'vaultTlsKey',
] as const
export type ApiConfig = Config<(typeof settingNames)[number]>

export interface Api {
  url: string
  privateUrl: string
  log: Log
  drain(): void
  close(): Promise<void>
}

export async function startApi(config: ApiConfig, writeLog?: (line: string) => void): Promise<Api> {
  const metrics = createMetrics()
  const log = createLog({
    level: config.logLevel,
    process: 'api',
    onScrub: metrics.countScrub,
    ...(writeLog && { write: writeLog }),
  })
  const db = connect({
    url: config.databaseUrl.reveal(),
    applicationName: 'florin api',
    poolSize: config.databasePoolSize,
    onError: (error) => log.warn('a database connection was lost', { error }),
  })
  metrics.watchPool(db)
  const clocks = config.environment === 'sandbox' ? createClocks(() => loadClocks(db)) : realClocks
  const vault = connectVault({ ...vaultOptions(config), timeoutMs: config.vaultTimeoutMs })

  const keys = createKeyRing((thumbprint) => loadSigningKey(db, thumbprint))
  const uses = createUseRecorder((ids) => touchKeyPairs(db, ids, realTime.now()), log)

  let draining = false
  let baseUrl = config.publicUrl ?? ''
  const nowOf = (account: string) => clocks.of([account]).now()
  const connectors = createConnectors({
    environment: config.environment,
    db,
    now: nowOf,
    baseUrl: () => baseUrl,
    rules: createRuleBook(db),
    scenarios: (account) => loadThreeDSScenarios(db, account),
  })
  const giftCards = createGiftCards({ environment: config.environment, db, now: nowOf })
  const merchantName = async (id: string) => (await getMerchantAccount({ db, accounts: [id] }, id)).display_name
  const sandboxPages = config.environment === 'sandbox' ? approvalPages({ db, now: nowOf, merchantName }) : []
  const app = buildApp({
    routes,
    files: findStaticFiles(),
    pages: [...returnPages({ db, vault, connectors, giftCards, clocks, log }), ...sandboxPages],
    authenticate: createAuthenticator({
      keys,
      now: realTime.now,
      concurrency: config.verifyConcurrency,
      onUse: uses.record,
      onVerify: metrics.observeVerification,
    }),
    accounts: createAccountDirectory({
      exists: (id) => merchantAccountExists(db, id),
      oldest: () => oldestMerchantAccount(db),
    }),
    buyers: {
      idOf: async (accounts, externalIdentifier) =>
        (await findBuyerByReference({ db, accounts }, { externalIdentifier }))?.id,
    },
    limiter: createLimiter({ count: countUse(db, config.embedLimit), limit: config.embedLimit, windowSeconds }),
    cursors: createCursorCodec(
      config.cursorKeys
        .reveal()
        .split(',')
        .map((key) => Buffer.from(key, 'base64')),
    ),
    db,
    vault,
    connectors,
    antiFraud: createAntiFraud(config),
    instance: config.instance,
    environment: config.environment,
    maxGiftCards: config.maxGiftCards,
    checkTarget: (url) => checkTarget(url, { allowLoopback: config.webhookLoopback }),
    giftCards,
    clocks,
    log,
    metrics,
    headerPrefix: config.headerPrefix,
    isDraining: () => draining,
    baseUrl: () => baseUrl,
  })
  // Not before: building the app takes a while, in which no connection makes progress.
  const announcements = listen({
    url: (config.databaseDirectUrl ?? config.databaseUrl).reveal(),
    applicationName: 'florin api listener',
    channel: 'florin_keys',
    onMessage: keys.forget,
    onGap: keys.forgetAll,
    onError: (error) => log.warn('key announcements are not heard', { error }),
  })
  const privateServer = await startPrivateServer({
    host: config.privateHost,
    port: config.privatePort,
    problems: async () => (draining ? ['shutting down'] : databaseProblems(db, 'api')),
    metrics,
  })
  await app.listen({ host: config.host, port: config.port })
  const { port } = app.server.address() as AddressInfo
  const url = `http://${config.host}:${port}`
  baseUrl ||= url
  log.info('listening', { address: url })

  return {
    url,
    privateUrl: privateServer.url,
    log,
    drain() {
      draining = true
    },
    async close() {
      draining = true
      // An answer that was on its way when the draining began said "keep-alive"; its connection would hold up the end.
      const reaper = setInterval(() => app.server.closeIdleConnections(), 100)
      await app.close()
      clearInterval(reaper)
      await uses.close()
      await announcements.close()
      await vault.close()
      await db.close()
      await privateServer.close()
    },
  }
}

if (import.meta.main) {
  await runProcess(async () => {
    const config = loadConfig('api', settingNames)
    return {
      ...(await startApi(config)),
      drainDelayMs: config.drainDelayMs,
      shutdownTimeoutMs: config.shutdownTimeoutMs,
    }
  })
}
