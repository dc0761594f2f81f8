import { randomUUID } from 'node:crypto'
import type { Context } from '../context.ts'
import { createLog } from '../platform/log.ts'
import type { Db } from '../platform/postgres.ts'
import { allScopes } from '../scopes.ts'

/** Operations run from the command line act as the operator: everything is allowed, and the audit log says where it came from. */
export function commandLineContext(db: Db, operation: string): Context {
  return {
    db,
    now: () => new Date(),
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
    },
    accounts: 'all',
  }
}
