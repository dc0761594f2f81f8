import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createAPIKeyPair } from '../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import { commandLineContext } from '../src/cli/command-line-context.ts'
import { type Cluster, startCluster } from '../src/cli/postgres-cluster.ts'
import { codeCache } from '../test/code-cache.ts'
import { signToken } from '../test/sign-token.ts'
import { migrate } from '../src/platform/migrations.ts'
import { connect } from '../src/platform/postgres.ts'
import { fullAccess, note } from './rig.ts'

/** What the proofs of races share: some apis with a vault on one database, and a caller who takes them in turn. */
export interface RaceServers {
  cluster: Cluster
  /** Of the apis. */
  urls: readonly string[]
  /** Signs tokens that reach the account `default`. */
  privateKeyPem: string
  send(
    method: string,
    path: string,
    options?: { body?: object; key?: string },
  ): Promise<{ status: number; text: string }>
  close(): Promise<void>
}

interface Started {
  child: ChildProcess
  address: string
}

/** Fails with what it wrote when it ends before it serves. */
async function start(entry: string, environment: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main', entry)], {
    env: { PATH: process.env['PATH'], ...codeCache, FLORIN_LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, found] = /"address":"([^"]+)","message":"(?:guarding|listening)"/.exec(line) ?? []
      if (found) resolve(found)
      // What a 500 was about.
      if (line.includes('"level":"error"')) note(line)
    })
    child.once('exit', (code) => reject(new Error(`${entry} ended with ${code}`)))
  })
  return { child, address }
}

async function makeKey(databaseUrl: string, account: object): Promise<string> {
  const db = connect({ url: databaseUrl, applicationName: 'proof', poolSize: 1, onError: () => undefined })
  const ctx = commandLineContext(db, 'proof')
  await createMerchantAccount(ctx, { id: 'default', display_name: 'Default', ...account })
  const { private_key } = await createAPIKeyPair(ctx, {
    display_name: 'Proof',
    role_ids: [fullAccess],
    merchant_account_ids: ['default'],
  })
  await db.close()
  return private_key ?? ''
}

/** In turn to each api. */
function sender(urls: readonly string[], token: string, agent: Agent): RaceServers['send'] {
  let turn = 0
  return (method, path, { body, key } = {}) => {
    const url = urls[(turn += 1) % urls.length] ?? ''
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    }
    return new Promise((resolve, reject) => {
      request(url + path, { agent, method, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.once('error', reject)
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
        .once('error', reject)
        .end(body && JSON.stringify(body))
    })
  }
}

/** `account`: what the merchant account `default` says beside its name. */
export async function startRaceServers(account: object = {}, apiCount = 2): Promise<RaceServers> {
  const folder = mkdtempSync(join(tmpdir(), 'frs-'))
  const cluster = await startCluster({ fast: true, maxConnections: 100 })
  const children: ChildProcess[] = []
  const agent = new Agent({ keepAlive: true })
  const close = async () => {
    agent.destroy()
    await Promise.all(
      children.map((child) => {
        const closed = new Promise((resolve) => child.once('close', resolve))
        child.kill('SIGTERM')
        return closed
      }),
    )
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await migrate(cluster.url())
    const databaseUrl = cluster.url({ user: 'florin_api' })
    const privateKeyPem = await makeKey(databaseUrl, account)
    const token = await signToken({ privateKeyPem, lifetimeSeconds: 24 * 60 * 60 })
    const keyFile = join(folder, 'key')
    writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 })
    const vault = await start('vault.ts', {
      DATABASE_URL: cluster.url({ user: 'florin_vault' }),
      FLORIN_KEY_FILE: keyFile,
      FLORIN_VAULT_LISTEN: `unix:${join(folder, 'v.sock')}`,
    })
    children.push(vault.child)
    const environment = {
      DATABASE_URL: databaseUrl,
      FLORIN_ENVIRONMENT: 'sandbox',
      FLORIN_CURSOR_KEYS: randomBytes(32).toString('base64'),
      FLORIN_PORT: '0',
      FLORIN_VAULT_URL: vault.address,
      // Races are about who wins, not about how busy the machine is.
      FLORIN_VAULT_TIMEOUT_MS: '60000',
    }
    const apis = await Promise.all(Array.from({ length: apiCount }, () => start('api.ts', environment)))
    children.push(...apis.map(({ child }) => child))
    const urls = apis.map(({ address }) => address)
    return { cluster, urls, privateKeyPem, send: sender(urls, token, agent), close }
  } catch (error) {
    await close()
    throw error
  }
}
