import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createAPIKeyPair } from '../../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../../src/areas/merchant-accounts/operations.ts'
import { commandLineContext } from '../../src/cli/command-line-context.ts'
import { signToken } from '../sign-token.ts'
import { connect, type Database } from '../../src/platform/postgres.ts'
import { connectVault, type Vault } from '../../src/vault/client.ts'
import { codeCache } from '../code-cache.ts'
import type { PlantedBug } from '../kill-hook.ts'
import {
  type ApiOptions,
  fillCompileCache,
  type JanitorOptions,
  keepSpares,
  type RunningProcess,
  runJanitor,
  startLaterApi,
  startProcess,
  startVictim,
} from './processes.ts'

/** Everything of a deployment but the api that dies: a database, a vault, an api that lives on, and one of a later time. */
export interface Stage {
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  /** As the worker has it. */
  worker: Database
  /** The worker's janitor, in a process of its own. */
  runJanitor(options: JanitorOptions): Promise<NodeJS.Signals | null>
  vault: Vault
  /** A new merchant account, with a payment service and a gift card service. */
  makeAccount(id: string): Promise<void>
  send(url: string, request: StageRequest): Promise<StageAnswer>
  apis: StageApis
  /** The same with a mistake in it. */
  withPlant(bugs: readonly PlantedBug[]): Promise<StageApis>
  close(): Promise<void>
}

export interface StageApis {
  victims: ReturnType<typeof keepSpares<Awaited<ReturnType<typeof startVictim>>>>
  steady: RunningProcess
  later: RunningProcess
}

export interface StageRequest {
  account: string
  path: string
  body?: unknown
  key?: string | undefined
}

export interface StageAnswer {
  status: number
  isReplayed: boolean
  text: string
  body: Record<string, unknown>
}

const fullAccess = '01900000-0000-7000-8000-00000000000c'
/** Longer than the lease of a key, and than the first wait before an attempt is asked about. */
const laterMs = 3 * 60_000

export async function openStage(
  urlOf: (role: 'florin_admin' | 'florin_api' | 'florin_worker' | 'florin_vault') => string,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'fk-'))
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 })
  const admin = new pg.Pool({ connectionString: urlOf('florin_admin'), max: 4 })
  admin.on('error', () => undefined)
  const token = await makeToken(urlOf('florin_api'))
  const common = { ...codeCache, FLORIN_INSTANCE: 'test' }
  await fillCompileCache(common)
  const vaultProcess = await startProcess('vault.ts', {
    ...common,
    DATABASE_URL: urlOf('florin_vault'),
    FLORIN_KEY_FILE: keyFile,
    FLORIN_VAULT_LISTEN: `unix:${join(folder, 'v.sock')}`,
  })
  const options: ApiOptions = {
    folder,
    environment: {
      ...common,
      DATABASE_URL: urlOf('florin_api'),
      FLORIN_CURSOR_KEYS: randomBytes(32).toString('base64'),
      FLORIN_PORT: '0',
      FLORIN_DATABASE_POOL_SIZE: '40',
      FLORIN_VAULT_URL: vaultProcess.url,
    },
  }
  const started: RunningProcess[] = [vaultProcess]
  const pools: StageApis['victims'][] = []
  const startApis = async (bugs: readonly PlantedBug[]): Promise<StageApis> => {
    const victims = keepSpares(() => startVictim(options, bugs), bugs.length > 0 ? 1 : 2)
    const later = await startLaterApi(options, { aheadMs: laterMs, bugs })
    // One is enough to see a mistake.
    const steady = bugs.length > 0 ? later : await startLaterApi(options, { aheadMs: 0, bugs })
    started.push(later, steady)
    pools.push(victims)
    return { victims, steady, later }
  }
  const apis = await startApis([])
  const worker = connect({
    url: urlOf('florin_worker'),
    applicationName: 'kills',
    poolSize: 4,
    onError: () => undefined,
  })
  const vault = connectVault({ url: vaultProcess.url, timeoutMs: 10_000 })
  const send: Stage['send'] = (url, request) => sendTo(url, token, request)
  const janitorEnvironment = { ...common, DATABASE_URL: urlOf('florin_worker'), FLORIN_VAULT_URL: vaultProcess.url }

  return {
    query: async (text, values = []) => (await admin.query(text, values)).rows,
    worker,
    runJanitor: (asked) => runJanitor({ folder, environment: janitorEnvironment }, asked),
    vault,
    send,
    apis,
    withPlant: startApis,
    async makeAccount(id) {
      await asOperator(urlOf('florin_api'), (ctx) => createMerchantAccount(ctx, { id, display_name: id }))
      const make = async (path: string, body: object) => {
        const { status, text } = await send(apis.steady.url, { account: id, path, body })
        if (status !== 201) throw new Error(`${path} was answered ${status}: ${text}`)
      }
      await make('/payment-services', {
        display_name: 'Sandbox',
        payment_service_definition_id: 'mock-card',
        fields: [{ key: 'merchant_id', value: 'x' }],
        accepted_currencies: ['EUR'],
        accepted_countries: ['DE'],
      })
      await make('/gift-card-services', {
        display_name: 'Gift cards',
        gift_card_service_definition_id: 'mock-gift-card',
        fields: [{ key: 'api_key', value: 'x' }],
      })
    },
    async close() {
      await Promise.all(pools.map((victims) => victims.close()))
      await vault.close()
      for (const running of started.toReversed()) {
        running.kill('SIGKILL')
        await running.exited
      }
      await worker.close()
      await admin.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Operator = ReturnType<typeof commandLineContext>

async function asOperator<Result>(databaseUrl: string, work: (ctx: Operator) => Promise<Result>): Promise<Result> {
  const db = connect({ url: databaseUrl, applicationName: 'kills', poolSize: 1, onError: () => undefined })
  try {
    return await work(commandLineContext(db, 'kills'))
  } finally {
    await db.close()
  }
}

async function makeToken(databaseUrl: string): Promise<string> {
  const { private_key } = await asOperator(databaseUrl, (ctx) =>
    createAPIKeyPair(ctx, { display_name: 'Kills', role_ids: [fullAccess], merchant_account_ids: [] }),
  )
  return await signToken({ privateKeyPem: private_key ?? '', lifetimeSeconds: 24 * 60 * 60 })
}

/** Rejects when the connection is cut before the answer is complete. */
async function sendTo(url: string, token: string, { account, path, body, key }: StageRequest): Promise<StageAnswer> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'x-service-merchant-account-id': account,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    isReplayed: response.headers.get('idempotency-replayed') === 'true',
    text,
    body: JSON.parse(text) as Record<string, unknown>,
  }
}
