import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createAPIKeyPair } from '../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import { verifyTransactions } from '../src/areas/transactions/operations/verify.ts'
import { commandLineContext } from '../src/cli/command-line-context.ts'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { signToken } from '../test/sign-token.ts'
import { migrate } from '../src/platform/migrations.ts'
import { connect } from '../src/platform/postgres.ts'
import { startProcess } from '../test/kills/processes.ts'
import { runStorm } from '../test/notification-storm/run.ts'
import { fullAccess, note } from './rig.ts'

/**
 * Forged, replayed, duplicated, reordered and late messages against a running api with payments in every state. Afterwards every payment is what
 * it was or what the provider says, once; the books agree; and the same messages once more change nothing.
 */
const { values: options } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:notifications -- [--messages 10000] [--rounds 4] [--seed <number>]

--rounds  sets of payments in each of the two accounts
--seed    of an earlier run, to have the same messages again

Example: npm run proof:notifications -- --messages 500 --rounds 2`)
  process.exit(0)
}

const seed = Number(options.seed)
const folder = mkdtempSync(join(tmpdir(), 'fn-'))
const keyFile = join(folder, 'key')
writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 })
const cluster = await startCluster({ fast: true, maxConnections: 100 })
try {
  await migrate(cluster.url())
  const admin = new pg.Pool({ connectionString: cluster.url(), max: 2 })
  const db = connect({
    url: cluster.url({ user: 'florin_api' }),
    applicationName: 'proof',
    poolSize: 2,
    onError: () => undefined,
  })
  const operator = commandLineContext(db, 'proof')
  for (const id of ['measure', 'storm-a', 'storm-b']) await createMerchantAccount(operator, { id, display_name: id })
  const { private_key } = await createAPIKeyPair(operator, {
    display_name: 'Proof',
    role_ids: [fullAccess],
    merchant_account_ids: [],
  })
  const token = await signToken({ privateKeyPem: private_key ?? '', lifetimeSeconds: 24 * 60 * 60 })
  const vault = await startProcess('vault.ts', {
    DATABASE_URL: cluster.url({ user: 'florin_vault' }),
    FLORIN_KEY_FILE: keyFile,
    FLORIN_VAULT_LISTEN: `unix:${join(folder, 'v.sock')}`,
  })
  const api = await startProcess('api.ts', {
    DATABASE_URL: cluster.url({ user: 'florin_api' }),
    FLORIN_INSTANCE: 'proof',
    FLORIN_CURSOR_KEYS: randomBytes(32).toString('base64'),
    FLORIN_PORT: '0',
    FLORIN_DATABASE_POOL_SIZE: '20',
    FLORIN_VAULT_URL: vault.url,
  })
  try {
    note(`seed ${seed}`)
    const began = performance.now()
    const { violations, ...report } = await runStorm(
      {
        url: api.url,
        async request(account, method, path, { body } = {}) {
          const response = await fetch(api.url + path, {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              'x-service-merchant-account-id': account,
              ...(body !== undefined && { 'content-type': 'application/json' }),
            },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          })
          const text = await response.text()
          return {
            status: response.status,
            headers: response.headers,
            text,
            body: JSON.parse(text || '{}') as Record<string, unknown>,
          }
        },
        query: async (text, values = []) => (await admin.query(text, values)).rows as never,
        async differences() {
          const found: unknown[] = []
          await verifyTransactions(
            { db, accounts: 'all' },
            { onDifference: (difference) => void found.push(difference) },
          )
          return found
        },
      },
      { messages: Number(options.messages), rounds: Number(options.rounds), seed, note },
    )
    for (const violation of violations.slice(0, 50)) note(violation)
    const passed = violations.length === 0
    const seconds = Number(((performance.now() - began) / 1000).toFixed(1))
    console.log(
      JSON.stringify({ proof: 'notifications', ...report, violations: violations.length, seed, seconds, passed }),
    )
    process.exitCode = passed ? 0 : 1
  } finally {
    for (const running of [api, vault]) {
      running.kill('SIGTERM')
      await running.exited
    }
    await db.close()
    await admin.end()
  }
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
