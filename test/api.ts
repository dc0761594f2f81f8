import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { createAPIKeyPair } from '../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import { commandLineContext } from '../src/cli/command-line-context.ts'
import { signToken, type TokenOptions } from './sign-token.ts'
import type { Context } from '../src/context.ts'
import { type Api, type ApiConfig, startApi } from '../src/main/api.ts'
import { connect } from '../src/platform/postgres.ts'
import { Secret } from '../src/platform/secret.ts'
import { type TestDatabase, useDatabase } from './database.ts'
import { type TestVault, useVault } from './vault.ts'

export const roleIds = {
  full: '01900000-0000-7000-8000-00000000000c',
  processing: '01900000-0000-7000-8000-00000000000b',
  systemManagement: '01900000-0000-7000-8000-00000000000a',
  administrator: '01900000-0000-7000-8000-000000000009',
}

export interface KeyPair {
  id: string
  thumbprint: string
  privateKeyPem: string
}

interface KeyPairOptions {
  roleIds?: string[]
  merchantAccountIds?: string[]
  algorithm?: 'ECDSA' | 'RSA'
}

export interface Answer<Body = Record<string, unknown>> {
  status: number
  headers: Headers
  text: string
  body: Body
}

export interface RequestOptions {
  token?: string
  headers?: Record<string, string>
  body?: unknown
  /** Sent as it is. */
  rawBody?: string | Uint8Array
}

export interface TestApi {
  database: TestDatabase
  vault: TestVault
  url(): string
  privateUrl(): string
  logs: string[]
  /** A key pair with full access to all merchant accounts, and a token of it. */
  owner(): KeyPair
  token(): string
  makeKeyPair(options?: KeyPairOptions): Promise<KeyPair>
  makeToken(pair: KeyPair, options?: Omit<TokenOptions, 'privateKeyPem'>): Promise<string>
  makeAccount(id: string): Promise<void>
  request<Body = Record<string, unknown>>(method: string, path: string, options?: RequestOptions): Promise<Answer<Body>>
}

export function apiConfig(databaseUrl: string, overrides: Partial<ApiConfig> = {}): ApiConfig {
  return {
    environment: 'sandbox',
    instance: 'test',
    databaseUrl: new Secret(databaseUrl),
    databaseDirectUrl: undefined,
    databasePoolSize: 10,
    host: '127.0.0.1',
    port: 0,
    privateHost: '127.0.0.1',
    privatePort: 0,
    publicUrl: undefined,
    headerPrefix: 'X-Service-',
    cursorKeys: new Secret(randomBytes(32).toString('base64')),
    verifyConcurrency: 1,
    maxGiftCards: 10,
    embedLimit: 50,
    webhookLoopback: false,
    logLevel: 'debug',
    drainDelayMs: 0,
    shutdownTimeoutMs: 10_000,
    // Where no vault is; whoever stores cards says where one is.
    vaultUrl: 'unix:/nowhere/vault.sock',
    // How busy the machine is must not decide.
    vaultTimeoutMs: 60_000,
    vaultTlsCa: undefined,
    vaultTlsCert: undefined,
    vaultTlsKey: undefined,
    ...overrides,
  }
}

async function asOperator<Result>(databaseUrl: string, work: (ctx: Context) => Promise<Result>): Promise<Result> {
  const db = connect({ url: databaseUrl, applicationName: 'test', poolSize: 1, onError: () => undefined })
  try {
    return await work(commandLineContext(db, 'test'))
  } finally {
    await db.close()
  }
}

export function createKeyPair(
  databaseUrl: string,
  { roleIds: roles = [roleIds.full], merchantAccountIds = [], algorithm = 'ECDSA' }: KeyPairOptions = {},
): Promise<KeyPair> {
  return asOperator(databaseUrl, async (ctx) => {
    const pair = await createAPIKeyPair(ctx, {
      display_name: 'Test',
      role_ids: roles,
      merchant_account_ids: merchantAccountIds,
      algorithm,
    })
    return { id: pair.id, thumbprint: pair.thumbprint, privateKeyPem: pair.private_key ?? '' }
  })
}

export async function createAccount(databaseUrl: string, id: string): Promise<void> {
  await asOperator(databaseUrl, (ctx) =>
    createMerchantAccount(ctx, { id, display_name: id, account_updater_enabled: true }),
  )
}

/** A whole api on this file's own database, with the accounts `default` and `other`. */
export function useApi(overrides: Partial<ApiConfig> = {}): TestApi {
  const database = useDatabase()
  const vault = useVault(database)
  const logs: string[] = []
  let api: Api
  let owner: KeyPair
  let token: string

  const makeKeyPair: TestApi['makeKeyPair'] = (options) => createKeyPair(database.url('florin_api'), options)
  const makeAccount: TestApi['makeAccount'] = (id) => createAccount(database.url('florin_api'), id)

  beforeAll(async () => {
    await makeAccount('default')
    await makeAccount('other')
    owner = await makeKeyPair()
    token = await signToken({ privateKeyPem: owner.privateKeyPem })
    api = await startApi(apiConfig(database.url('florin_api'), { vaultUrl: vault.url(), ...overrides }), (line) =>
      logs.push(line),
    )
  })
  afterAll(() => api.close())

  return {
    database,
    vault,
    logs,
    url: () => api.url,
    privateUrl: () => api.privateUrl,
    owner: () => owner,
    token: () => token,
    makeKeyPair,
    makeAccount,
    makeToken: ({ privateKeyPem }, options = {}) => signToken({ privateKeyPem, ...options }),
    request: (method, path, options = {}) => send(api.url, method, path, { token, ...options }),
  }
}

export async function send<Body = Record<string, unknown>>(
  baseUrl: string,
  method: string,
  path: string,
  { token, headers = {}, body, rawBody }: RequestOptions = {},
): Promise<Answer<Body>> {
  const payload = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  const ask = () =>
    fetch(baseUrl + path, {
      method,
      headers: {
        ...(token !== undefined && token !== '' && { authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload as string }),
      redirect: 'manual',
    })
  // A kept connection may be closed at the moment it is used again; what only reads may ask twice.
  const response = await ask().catch((error: unknown) => {
    if (method === 'GET' || method === 'HEAD') return ask()
    throw error
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, headers: response.headers, text, body: (isJson ? JSON.parse(text) : {}) as Body }
}
