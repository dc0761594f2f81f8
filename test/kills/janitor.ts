import { resolveDue } from '../../src/areas/transactions/operations/resolve.ts'
import { createConnectors, createGiftCards } from '../../src/connectors/registry.ts'
import { newId } from '../../src/ids.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/postgres.ts'
import { connectVault } from '../../src/vault/client.ts'

/** A process of its own: the worker's janitor goes round once. What time it is, and where it dies, is for kill-hook.ts to say. */
const { DATABASE_URL: url = '', FLORIN_VAULT_URL: vaultUrl = '', ACCOUNT: account = '' } = process.env
const db = connect({ url, applicationName: 'janitor', poolSize: 4, onError: () => undefined })
const vault = connectVault({ url: vaultUrl, timeoutMs: 10_000 })
const now = () => new Date()
const sandbox = { environment: 'sandbox', db, now } as const
await resolveDue(
  {
    db,
    vault,
    now,
    newId,
    accounts: [account],
    log: createLog({ level: 'error', process: 'janitor' }),
    connectors: createConnectors(sandbox),
    giftCards: createGiftCards(sandbox),
  },
  new AbortController().signal,
)
await vault.close()
await db.close()
