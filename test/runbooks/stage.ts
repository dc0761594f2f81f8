import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync, cpSync, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Cluster, freePort, startCluster } from '../../src/cli/postgres-cluster.ts'
import { signToken } from '../sign-token.ts'
import { migrate } from '../../src/platform/migrations.ts'
import { type Machine, startMachine } from './machine.ts'
import { blocksOf, readRunbook } from './blocks.ts'
import { follow } from './shell.ts'
import { killServer, type Standby, startStandby } from './standby.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const processes = ['migrate', 'vault', 'api', 'worker'] as const

/** A machine with a Florin installed as deploy/systemd has it, its PostgreSQL, an operator's key and a merchant's endpoint that fails. */
export interface Stage {
  follow(runbook: string): Promise<string>
  /** What a client sees. */
  ask<Body>(method: string, path: string, body?: object): Promise<Body>
  received(): string[]
  close(): Promise<void>
}

export async function startStage(note: (line: string) => void = () => undefined): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-runbooks-'))
  const etc = join(folder, 'etc')
  const releases = join(folder, 'opt')
  for (const path of [etc, releases, join(folder, 'run'), join(folder, 'backups')]) mkdirSync(path)
  symlinkSync(root, join(releases, '0.1.0'))
  symlinkSync(join(releases, '0.1.0'), join(releases, 'current'))
  const cluster = await startCluster({ fast: true })
  await prepareDatabase(cluster, etc)

  const [apiPort, apiHealth, workerHealth, vaultHealth] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ])
  writeFileSync(
    join(etc, 'florin.env'),
    'FLORIN_ENVIRONMENT=sandbox\nFLORIN_INSTANCE=drill\nFLORIN_WEBHOOK_LOOPBACK=true\n',
  )
  const machine = await startMachine({
    folder,
    etc,
    releases,
    programs: [cluster.binaries.directory],
    ports: {
      'florin-api': { FLORIN_PORT: String(apiPort), FLORIN_PRIVATE_PORT: String(apiHealth) },
      'florin-worker': { FLORIN_PRIVATE_PORT: String(workerHealth) },
      'florin-vault': { FLORIN_PRIVATE_PORT: String(vaultHealth) },
    },
  })
  for (const name of ['vault', 'api', 'worker']) machine.start(`florin-${name}`)
  const health = { api: apiHealth, worker: workerHealth, vault: vaultHealth }
  for (const [name, port] of Object.entries(health)) await ready(name, port, machine)

  const keyFile = join(folder, 'operator.pem')
  const environment = { PATH: machine.path, DATABASE_URL_FILE: join(etc, 'api/database-url') }
  await run('florin', ['keys', 'create', '--name', 'Operator', '--out', keyFile], { env: environment })
  const privateKeyPem = readFileSync(keyFile, 'utf8')
  const api = `http://127.0.0.1:${apiPort}`
  async function ask<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await fetch(api + path, {
      method,
      headers: {
        authorization: `Bearer ${await signToken({ privateKeyPem })}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Body
  }

  const endpoint = await startEndpoint()
  await ask('POST', '/merchant-accounts', { id: 'default', display_name: 'Default' })
  await ask('POST', '/payment-services', {
    display_name: 'Cards',
    payment_service_definition_id: 'mock-card',
    fields: [{ key: 'merchant_id', value: 'shop-4711' }],
    accepted_currencies: ['EUR'],
    accepted_countries: ['DE'],
  })
  const subscription = await ask<{ id: string }>('POST', '/webhook-subscriptions', { url: endpoint.url })
  const pay = () =>
    ask<{ id: string; status: string }>('POST', '/transactions', {
      amount: 1299,
      currency: 'EUR',
      country: 'DE',
      intent: 'capture',
      payment_method: { method: 'card', number: '4111111111111111', expiration_date: '12/30' },
    })
  await pay()

  let standby: Standby | undefined
  const standbyPort = await freePort()
  const sockets = `unix:${join(folder, 'run/vault.sock')}`
  const values = {
    etc,
    releases,
    api,
    key: keyFile,
    account: 'default',
    subscription: subscription.id,
    api_health: `http://127.0.0.1:${apiHealth}`,
    worker_health: `http://127.0.0.1:${workerHealth}`,
    vault_health: `http://127.0.0.1:${vaultHealth}`,
    FLORIN_VAULT_URL: sockets,
    version: '0.2.0',
    before: '0.1.0',
    archive: () => makeArchive(folder),
    old_key_pair: async () =>
      (await ask<{ id: string }>('POST', '/api-key-pairs', { display_name: 'Old', role_ids: [await roleId()] })).id,
    delivery: () => failedDelivery(),
    admin: cluster.url({ database: 'florin' }),
    server: `postgresql://florin_admin@127.0.0.1:${cluster.port}`,
    database: 'florin',
    restored: 'florin_restored',
    backups: join(folder, 'backups'),
    primary: `postgresql://florin_admin@127.0.0.1:${cluster.port}`,
    standby: `postgresql://florin_admin@127.0.0.1:${standbyPort}`,
    new_address: `127.0.0.1:${standbyPort}`,
    standby_data: async () => {
      standby = await startStandby(cluster, join(cluster.directory, 'standby'), standbyPort)
      return standby.data
    },
  }
  const roleId = async () => (await ask<{ items: { id: string }[] }>('GET', '/roles')).items[0]?.id ?? ''
  async function failedDelivery(): Promise<string> {
    for (;;) {
      const { items } = await ask<{ items: { id: string; attempt_count: number }[] }>(
        'GET',
        '/webhook-deliveries?undelivered=true',
      )
      const tried = items.find(({ attempt_count }) => attempt_count > 0)
      if (tried) return tried.id
      await sleep(100)
    }
  }
  return {
    ask,
    received: endpoint.received,
    async follow(runbook) {
      const blocks = blocksOf(readRunbook(runbook))
      return await follow(runbook, blocks, {
        folder,
        path: machine.path,
        values,
        note,
        happens: {
          'the endpoint is mended': () => Promise.resolve(endpoint.mend()),
          'the primary is killed': () => Promise.resolve(killServer(cluster)),
        },
      }).catch((error: unknown) => {
        const logs = ['api', 'worker', 'vault'].map((name) => machine.output(`florin-${name}`).slice(-2_000)).join('\n')
        throw new Error(`${String(error)}\n${logs}`)
      })
    },
    async close() {
      await machine.close()
      endpoint.close()
      await standby?.stop()
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Roles with passwords; only the administrator gets in without one. */
async function prepareDatabase(cluster: Cluster, etc: string): Promise<void> {
  const admin = new pg.Client({ connectionString: cluster.url() })
  await admin.connect()
  await admin.query('create database florin')
  await migrate(cluster.url({ database: 'florin' }))
  for (const name of processes) {
    const password = randomBytes(24).toString('hex')
    mkdirSync(join(etc, name))
    const url = `postgresql://florin_${name}:${password}@127.0.0.1:${cluster.port}/florin`
    writeFileSync(join(etc, name, 'database-url'), `${url}\n`)
    await admin.query(`alter role florin_${name} password '${password}'`)
  }
  writeFileSync(
    join(cluster.directory, 'data/pg_hba.conf'),
    ['all florin_admin', 'replication florin_admin']
      .map((who) => `host ${who} 127.0.0.1/32 trust\n`)
      .concat('host all all 127.0.0.1/32 scram-sha-256\n')
      .join(''),
  )
  await admin.query('select pg_reload_conf()')
  await admin.end()
  writeFileSync(join(etc, 'vault/key'), `${randomBytes(32).toString('base64')}\n`)
  writeFileSync(join(etc, 'api/cursor-keys'), `${randomBytes(32).toString('base64')}\n`)
}

async function ready(name: string, port: number, machine: Machine): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (answer?.ok) return
    await sleep(100)
  }
  throw new Error(`${name} is not ready:\n${machine.output(`florin-${name}`)}`)
}

/** A merchant's endpoint, which fails until it is mended. */
async function startEndpoint() {
  let isMended = false
  const received: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (isMended) received.push((JSON.parse(body) as { name: string }).name)
      response.writeHead(isMended ? 204 : 500).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received: () => received,
    mend() {
      isMended = true
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The next version: this one with one migration more. */
async function makeArchive(folder: string): Promise<string> {
  const next = join(folder, 'next')
  const { stdout } = await run('git', ['ls-files'], { cwd: root, maxBuffer: 16 * 1024 * 1024 })
  for (const file of stdout.split('\n').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(join(next, dirname(file)), { recursive: true })
    cpSync(join(root, file), join(next, file), { verbatimSymlinks: true })
  }
  writeFileSync(
    join(next, 'migrations/9999_next.sql'),
    '-- Stands for the next version.\ncreate table next_version (id integer);\n',
  )
  const archive = join(folder, 'florin.tar.gz')
  await run('tar', ['-czf', archive, '-C', next, '.'])
  return archive
}
