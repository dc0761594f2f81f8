import { randomUUID } from 'node:crypto'
import { realClocks, realTime } from '../clocks.ts'
import type { Context } from '../context.ts'
import { createLog } from '../platform/log.ts'
import type { Db } from '../platform/postgres.ts'
import { allScopes } from '../scopes.ts'
import type { Vault } from '../vault/client.ts'

/** No command that works on the database stores a card. */
const noVault = new Proxy({} as Vault, {
  get() {
    throw new Error('the command line has no vault')
  },
})

/** Operations run from the command line act as the operator: everything is allowed, and the audit log says where it came from. */
export function commandLineContext(db: Db, operation: string): Context {
  return {
    db,
    vault: noVault,
    connectors: new Map(),
    antiFraud: new Map(),
    giftCards: new Map(),
    instance: '',
    environment: 'sandbox',
    maxGiftCards: 10,
    checkTarget: () => undefined,
    clocks: realClocks,
    ...realTime,
    log: createLog({ level: 'silent', process: 'florin' }),
    requestId: randomUUID(),
    operation,
    baseUrl: '',
    caller: {
      keyPairId: null,
      thumbprint: null,
      displayName: 'command line',
      tokenId: null,
      scopes: new Set(allScopes),
      reach: 'all',
      pins: null,
      checkoutSessionId: null,
    },
    accounts: 'all',
  }
}
