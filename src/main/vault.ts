import { type Config, ConfigError, loadConfig } from '../platform/config.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import { connect } from '../platform/postgres.ts'
import { startPrivateServer } from '../platform/private-server.ts'
import { KeyProviderError } from '../vault/key-provider.ts'
import { openKeyProvider } from '../vault/key-providers/configured.ts'
import { KeyError, startKeyRing } from '../vault/key-ring.ts'
import { startListener } from '../vault/listener.ts'
import { parseAddress } from '../vault/protocol.ts'
import { createSecrets } from '../vault/secrets.ts'
import { createHandler } from '../vault/server.ts'
import { readTlsIdentity } from '../vault/tls-identity.ts'
import { startWaitingSweep } from '../vault/waiting-sweep.ts'
import { databaseProblems, runProcess } from './lifecycle.ts'

const settingNames = [
  'environment',
  'instance',
  'databaseUrl',
  'databaseDirectUrl',
  'databasePoolSize',
  'privateHost',
  'privatePort',
  'logLevel',
  'drainDelayMs',
  'shutdownTimeoutMs',
  'vaultListen',
  'vaultTlsCa',
  'vaultTlsCert',
  'vaultTlsKey',
  'keyProvider',
  'keyFile',
  'transitUrl',
  'transitToken',
  'transitKey',
  'awsRegion',
  'awsAccessKeyId',
  'awsSecretAccessKey',
  'awsKmsKeyId',
  'awsKmsEndpoint',
] as const
export type VaultConfig = Config<(typeof settingNames)[number]>

export interface VaultProcess {
  /** As a client writes it. */
  url: string
  privateUrl: string
  log: Log
  drain(): void
  close(): Promise<void>
}

export async function startVault(config: VaultConfig, writeLog?: (line: string) => void): Promise<VaultProcess> {
  const address = parseAddress(config.vaultListen)
  const tls = readTlsIdentity(config.vaultListen, config)
  const provider = openKeyProvider(config)
  const metrics = createMetrics()
  const log = createLog({
    level: config.logLevel,
    process: 'vault',
    onScrub: metrics.countScrub,
    ...(writeLog && { write: writeLog }),
  })
  const db = connect({
    url: config.databaseUrl.reveal(),
    applicationName: 'florin vault',
    poolSize: config.databasePoolSize,
    onError: (error) => log.warn('a database connection was lost', { error }),
  })
  metrics.watchPool(db)
  const stopping = new AbortController()
  const { instance } = config
  // Undone last first, at the end or when the start fails halfway.
  const undos: (() => Promise<void>)[] = [db.close]
  const undoAll = async () => {
    for (const undo of undos.splice(0).reverse()) await undo()
  }
  try {
    const problems = await databaseProblems(db, 'vault')
    if (problems.length > 0) throw new ConfigError(problems)
    const keys = await startKeyRing({ db, provider, instance, log })
    undos.push(keys.close)
    metrics.watchVaultKeys(keys.uses)
    const secrets = createSecrets({ db, keys, instance })
    undos.push(startWaitingSweep({ db, log }).close)
    const handler = createHandler({ db, keys, secrets, instance, log, metrics, stopping: stopping.signal })
    let draining = false
    const privateServer = await startPrivateServer({
      host: config.privateHost,
      port: config.privatePort,
      problems: async () => (draining ? ['shutting down'] : databaseProblems(db, 'vault')),
      metrics,
    })
    undos.push(privateServer.close)
    const listener = await startListener(address, tls, handler)
    undos.push(listener.close)
    log.info('guarding', { address: listener.url })
    return {
      url: listener.url,
      privateUrl: privateServer.url,
      log,
      drain() {
        draining = true
      },
      close() {
        stopping.abort()
        return undoAll()
      },
    }
  } catch (error) {
    await undoAll()
    throw error
  }
}

/** Keys that do not open are the operator's to mend, like a wrong setting: the words, without the stack. */
function inWords(error: unknown): never {
  if (error instanceof KeyError || error instanceof KeyProviderError) throw new ConfigError([error.message])
  throw error
}

if (import.meta.main) {
  await runProcess(async () => {
    const config = loadConfig('vault', settingNames)
    return {
      ...(await startVault(config).catch(inWords)),
      drainDelayMs: config.drainDelayMs,
      shutdownTimeoutMs: config.shutdownTimeoutMs,
    }
  })
}
