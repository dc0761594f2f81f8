import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { loadSigningKey } from '../src/areas/api-key-pairs/operations.ts'
import { buildApp } from '../src/http/app.ts'
import { createAuthenticator } from '../src/http/authenticate.ts'
import { createCursorCodec } from '../src/http/cursor.ts'
import { createKeyRing } from '../src/http/key-ring.ts'
import { routes } from '../src/http/routes.ts'
import { createLog } from '../src/platform/log.ts'
import { createMetrics } from '../src/platform/metrics.ts'
import { connect } from '../src/platform/postgres.ts'
import { connectVault } from '../src/vault/client.ts'
import { allScopes } from '../src/scopes.ts'
import { realClocks } from '../src/clocks.ts'

/**
 * The api of `npm run bench:auth`, once with authentication and once without, and otherwise the same. Logging is on, as in
 * production. The parent reads the event loop's delay over IPC.
 */
const databaseUrl = process.argv[2] ?? ''
const isOpen = process.argv[3] === 'open'
const db = connect({ url: databaseUrl, applicationName: 'bench', poolSize: 4, onError: () => undefined })
const authenticate = createAuthenticator({
  keys: createKeyRing((thumbprint) => loadSigningKey(db, thumbprint)),
  now: () => new Date(),
  concurrency: 1,
  onUse: () => undefined,
})
const anybody = Promise.resolve({
  keyPairId: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e',
  thumbprint: null,
  displayName: 'nobody',
  tokenId: null,
  scopes: new Set(allScopes),
  reach: ['default'],
  pins: null,
  checkoutSessionId: null,
})
const app = buildApp({
  routes,
  files: new Map(),
  pages: [],
  authenticate: isOpen ? () => anybody : authenticate,
  accounts: { exists: async () => true, fallback: async () => 'default' },
  buyers: { idOf: async () => undefined },
  limiter: async () => ({}),
  cursors: createCursorCodec([Buffer.alloc(32, 1)]),
  db,
  vault: connectVault({ url: 'unix:/nowhere' }),
  connectors: new Map(),
  antiFraud: new Map(),
  giftCards: new Map(),
  instance: 'test',
  environment: 'sandbox',
  maxGiftCards: 10,
  checkTarget: () => undefined,
  clocks: realClocks,
  log: createLog({ level: 'info', process: 'bench' }),
  metrics: createMetrics(),
  headerPrefix: 'X-Service-',
  isDraining: () => false,
  baseUrl: () => 'http://127.0.0.1',
})
await app.listen({ host: '127.0.0.1', port: 0 })

const delay = monitorEventLoopDelay({ resolution: 1 })
process.on('message', (message) => {
  if (message === 'measure') {
    delay.reset()
    delay.enable()
  } else if (message === 'report') {
    delay.disable()
    const ms = (nanoseconds: number) => nanoseconds / 1e6
    process.send?.({ p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) })
  }
})
process.on('disconnect', () => process.exit(0))
process.send?.({ port: (app.server.address() as AddressInfo).port })
