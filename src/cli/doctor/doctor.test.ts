import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocket, type Server } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest'
import { type DatabaseRole, useDatabase } from '../../../test/database.ts'
import { useVault } from '../../../test/vault.ts'
import { migrate } from '../../platform/migrations.ts'
import { root } from '../repository.ts'
import { clockFinding } from './database.ts'
import { examine } from './examine.ts'
import type { Finding } from './finding.ts'
import { checkDisk, checkNode } from './machine.ts'

const database = useDatabase()
const empty = useDatabase({ template: 'template0' })
const vault = useVault(database)
const cursorKeys = Buffer.alloc(32).toString('base64')

/** As a process of this role would be started. */
function as(role: 'api' | 'worker' | 'vault', more: Record<string, string> = {}) {
  for (const [name, value] of Object.entries({
    DATABASE_URL: database.url(`florin_${role}`),
    FLORIN_VAULT_URL: vault.url(),
    ...(role === 'api' && { FLORIN_CURSOR_KEYS: cursorKeys }),
    ...(role === 'vault' && { FLORIN_KEY_FILE: vault.keyFile }),
    ...more,
  })) {
    vi.stubEnv(name, value)
  }
}

/** Everything but what is well. */
const ill = async () => (await examine()).filter(({ status }) => status !== 'ok' && status !== 'skipped')
const finding = async (name: string): Promise<Finding | undefined> =>
  (await examine()).find(({ check }) => check === name)
const tells = (status: 'warning' | 'problem', message: RegExp, fix: RegExp) => ({
  status,
  message: expect.stringMatching(message),
  why: expect.stringMatching(/\.$/),
  fix: expect.stringMatching(fix),
})

async function connectAs(applicationName: string, role: DatabaseRole): Promise<void> {
  const client = new pg.Client({ connectionString: database.url(role), application_name: applicationName })
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.end())
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

beforeEach(() => connectAs('florin worker listener', 'florin_worker'))
afterEach(() => vi.unstubAllEnvs())

test('of a healthy system nothing is told, whoever looks', async () => {
  for (const role of ['api', 'worker', 'vault'] as const) {
    as(role)
    expect(await ill()).toEqual([])
    vi.unstubAllEnvs()
  }
  as('worker')
  expect((await examine()).filter(({ status }) => status === 'skipped').map(({ check }) => check)).toEqual(['server'])
})

test('the command says it in words and in JSON, and its exit code is 1 for problems only', async () => {
  const florin = (args: string[], url: string) =>
    new Promise<{ code: number; stdout: string }>((resolve) => {
      const env = { ...process.env, DATABASE_URL: url, FLORIN_VAULT_URL: vault.url() }
      execFile(process.execPath, [join(root, 'src/main/florin.ts'), 'doctor', ...args], { env }, (error, stdout) =>
        resolve({ code: Number(error?.code ?? 0), stdout }),
      )
    })
  await database.query(`insert into florin_migrations (name, checksum) values ('9999_next', '')`)
  const { code, stdout } = await florin([], database.url('florin_worker'))
  expect(stdout).toMatch(/! migrations +the database is newer[^]*No problem, 1 warning\(s\)\./)
  expect(code).toBe(0)
  await database.query(`delete from florin_migrations where name = '9999_next'`)
  const broken = await florin(['--json'], 'postgresql://florin_worker@127.0.0.1:1/florin')
  expect(broken.code).toBe(1)
  expect(JSON.parse(broken.stdout)).toMatchObject({ ok: false, checks: expect.any(Array) })
})

test('settings that are wrong are told all at once', async () => {
  as('api', { FLORIN_PROT: '1', FLORIN_CURSOR_KEYS: 'short' })
  expect(await finding('configuration')).toMatchObject(
    tells('problem', /FLORIN_PROT is not a setting.*FLORIN_CURSOR_KEYS must match/, /docs\/configuration\.md/),
  )
})

test.each([
  [{ FLORIN_PUBLIC_URL: 'https://payments.invalid' }, tells('warning', /a sandbox/, /FLORIN_ENVIRONMENT=production/)],
  [{ FLORIN_ENVIRONMENT: 'production' }, tells('problem', /not set/, /Set FLORIN_PUBLIC_URL/)],
  [
    { FLORIN_ENVIRONMENT: 'production', FLORIN_PUBLIC_URL: 'http://payments.invalid' },
    tells('problem', /without TLS/, /https:\/\//),
  ],
])('settings that do not go together are told: %j', async (settings, expected) => {
  as('api', settings)
  expect(await finding('environment')).toMatchObject(expected)
})

test.each([
  ['postgresql://florin_worker@127.0.0.1:1/florin', tells('problem', /nothing listens/, /Start PostgreSQL/)],
  ['postgresql://florin_worker@no.such.host.invalid/florin', tells('problem', /no such host/, /Correct DATABASE_URL/)],
])('a database that is not there is a problem, not a crash: %s', async (url, expected) => {
  as('worker', { DATABASE_URL: url })
  expect(await finding('database')).toMatchObject(expected)
})

test('a database without Florin lacks its migrations, and one that lacks the last says which', async () => {
  as('worker', { DATABASE_URL: empty.url() })
  expect(await finding('migrations')).toMatchObject(tells('problem', /missing: 0001_walls, /, /florin migrate/))
  as('worker')
  const [last] = await database.query<{ name: string; checksum: string }>(
    `delete from florin_migrations where name = (select max(name) from florin_migrations) returning name, checksum`,
  )
  expect(await finding('migrations')).toMatchObject(
    tells('problem', new RegExp(`^missing: ${last?.name}$`), /florin migrate/),
  )
  await database.query(`insert into florin_migrations (name, checksum) values ($1, $2)`, [last?.name, last?.checksum])
})

test('a right that was taken away is named', async () => {
  as('worker')
  await database.query('revoke update on jobs from florin_worker')
  expect(await finding('grants')).toMatchObject(
    tells('problem', /^florin_worker may not update public\.jobs$/, /roles\.sql/),
  )
  await database.query('grant update on jobs to florin_worker')
})

test('a month without a partition is named', async () => {
  as('worker')
  const month = (
    await database.query<{ month: string }>(`select to_char(now() at time zone 'UTC', 'YYYYMM') as month`)
  )[0]
  await database.query(`alter table events_${month?.month} rename to kept`)
  expect(await finding('partitions')).toMatchObject(tells('problem', /missing: events_\d{6}$/, /florin migrate/))
  await database.query(`alter table kept rename to events_${month?.month}`)
})

test('more connections than the server or the role allows are a problem', async () => {
  as('worker', { FLORIN_DATABASE_POOL_SIZE: '500' })
  expect(await finding('connections')).toMatchObject(tells('problem', /one process opens up to 501/, /max_connections/))
  // Limits belong to the server, which other tests use too: a role of our own.
  const role = `florin_limited_${randomUUID().slice(0, 8)}`
  await database.query(`create role ${role} login superuser connection limit 5`)
  const url = new URL(inject('clusterUrl'))
  url.username = role
  url.pathname = new URL(database.url()).pathname
  as('worker', { DATABASE_URL: url.href, FLORIN_DATABASE_POOL_SIZE: '10' })
  expect(await finding('connections')).toMatchObject(tells('problem', /may open 5 connections/, /connection limit -1/))
  await database.query(`drop role ${role}`)
})

test('an old Node.js, a clock that is off and a full disk are told', async () => {
  expect(checkNode('24.14.9', '>=24.15')).toMatchObject(tells('problem', /too old/, /Install Node\.js 24\.15 or newer/))
  expect(checkNode('26.0.0', '>=24.15').status).toBe('ok')
  expect(clockFinding(-61)).toMatchObject(tells('problem', /61\.0 s behind/, /timedatectl/))
  expect(clockFinding(2).status).toBe('ok')
  expect(await checkDisk(async () => ({ free: 2e8, size: 1e12 }))).toMatchObject(
    tells('warning', /only 0\.2 GB/, /Free/),
  )
})

test('a vault that does not answer, or answers without certificates, is a problem', async () => {
  as('worker', { FLORIN_VAULT_URL: 'unix:/nowhere/vault.sock' })
  expect(await finding('vault')).toMatchObject(tells('problem', /cannot be reached \(ENOENT\)/, /FLORIN_VAULT_URL/))
  as('worker', { FLORIN_VAULT_URL: 'tls://127.0.0.1:1' })
  expect(await finding('vault')).toMatchObject(tells('problem', /FLORIN_VAULT_TLS_CA/, /FLORIN_VAULT_URL/))
})

test('a worn data key, and a key file that is gone or open to others, are told', async () => {
  as('vault')
  await database.query(`update vault.keys set encryptions = 2^31 where purpose = 'data'`)
  expect(await finding('vault')).toMatchObject(tells('warning', /2\^30/, /keys rotate && florin vault keys rewrap/))
  await database.query(`update vault.keys set encryptions = 0`)
  chmodSync(vault.keyFile, 0o644)
  expect(await finding('key file')).toMatchObject(tells('warning', /other users/, /chmod 400/))
  chmodSync(vault.keyFile, 0o600)
  as('vault', { FLORIN_KEY_FILE: '/nowhere/key' })
  expect(await finding('key file')).toMatchObject(tells('problem', /is not there/, /FLORIN_KEY_FILE/))
})

test('a public address is asked whether it is Florin', async () => {
  let body = '{"openapi": "3.1.0"}'
  const port = await listen(createServer((_, response) => response.end(body)))
  as('api', { FLORIN_PUBLIC_URL: `http://127.0.0.1:${port}` })
  expect(await ill()).toEqual([])
  body = '<html>'
  expect(await finding('public url')).toMatchObject(tells('problem', /is another service/, /FLORIN_PUBLIC_URL/))
  as('api', { FLORIN_PUBLIC_URL: 'http://127.0.0.1:1' })
  expect(await finding('public url')).toMatchObject(tells('problem', /does not answer/, /curl -v/))
})

test('NATS that is configured and cannot be reached is a warning: everything goes on without it', async () => {
  const information = { server_id: 'x', version: '2.12.0', max_payload: 1_048_576, headers: true, jetstream: true }
  const port = await listen(
    createSocket((socket) => {
      socket.write(`INFO ${JSON.stringify(information)}\r\n`)
      socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'))
      socket.on('error', () => undefined)
    }),
  )
  as('worker', { NATS_URL: 'nats://127.0.0.1:1', FLORIN_EVENT_STREAM_URL: `nats://127.0.0.1:${port}` })
  expect(await ill()).toEqual([
    expect.objectContaining({ check: 'nats lane', ...tells('warning', /NATS_URL/, /nats\.md/) }),
  ])
})

test('a worker that is not there, and jobs that nobody does or that fail, are told', async () => {
  as('worker')
  const addJob = (late: string, error: string | null) =>
    database.query(
      `insert into jobs (id, kind, key, payload, run_at, attempts, last_error) values ($1, 'a-job', '', '{}', now() + $2::interval, 4, $3)`,
      [randomUUID(), late, error],
    )
  await addJob('-10 min', null)
  expect(await finding('jobs')).toMatchObject(tells('problem', /late by up to 10 min: a-job/, /florin-worker/))
  await database.query('delete from jobs')
  await addJob('10 min', 'Error 23505')
  expect(await finding('jobs')).toMatchObject(tells('warning', /failing: a-job \(Error 23505\)/, /journalctl/))
  await database.query('delete from jobs')
  as('api')
  expect(await finding('jobs')).toMatchObject({ status: 'skipped', message: expect.stringContaining('florin_worker') })
})

test('events that are not told, endpoints that fail and payments without an outcome are told', async () => {
  as('worker')
  const old = '01800000-0000-7000-8000-000000000000'
  await database.query(`insert into event_queue (event_id) values ($1)`, [old])
  expect(await finding('events')).toMatchObject(tells('problem', /waits for \d+ min/, /stuck-webhook\.md/))
  await database.query('delete from event_queue')

  await database.query(`insert into webhook_deliveries
    (merchant_account_id, id, subscription_id, event_id, origin, status, attempts, next_attempt_at, expires_at, created_at, updated_at)
    select 'default', florin_id_floor(now()), '${old}', '${old}', 'event', 'pending', 6, now() + interval '1 hour', now() + interval '1 day', now(), now()`)
  expect(await finding('deliveries')).toMatchObject(
    tells('warning', new RegExp(`${old} of default \\(1\\)`), /tell the merchant/),
  )
  await database.query('delete from webhook_deliveries')

  await database.query(`set session_replication_role = replica; insert into attempts
    (merchant_account_id, transaction_id, id, action, amount, state, next_check_at, created_at, updated_at)
    values ('default', '${old}', '${old}', 'authorize', 1, 'open', now() - interval '1 hour', now(), now()); set session_replication_role = origin`)
  expect(await finding('payments')).toMatchObject(tells('problem', /1 call\(s\)/, /\/sync/))
  await database.query(
    'set session_replication_role = replica; delete from attempts; set session_replication_role = origin',
  )
})

test('an api without a worker is a problem', async () => {
  const url = empty.url()
  const client = new pg.Client({ connectionString: empty.url('florin_api'), application_name: 'florin api listener' })
  await client.connect()
  onTestFinished(() => client.end())
  await migrate(url)
  as('worker', { DATABASE_URL: url })
  expect(await finding('processes')).toMatchObject(tells('problem', /no worker is connected: 1 api/, /florin-worker/))
})

test('a process that is connected as an administrator is told', async () => {
  as('worker')
  await connectAs('florin api', 'florin_admin')
  expect(await finding('processes')).toMatchObject(
    tells('problem', /another role than its own: api as florin_admin/, /Correct its DATABASE_URL/),
  )
})

test('in production a server that quotes rows in its log is told, and one that does not is well', async () => {
  as('worker', { FLORIN_ENVIRONMENT: 'production' })
  expect(await finding('server log')).toMatchObject(
    tells(
      'warning',
      /log_error_verbosity, log_parameter_max_length$/,
      /alter system set log_error_verbosity = 'terse'; alter/,
    ),
  )
  const [row] = await database.query<{ name: string }>('select current_database() as name')
  const role = `alter role florin_worker in database ${row?.name}`
  await database.query(`${role} set log_error_verbosity = terse; ${role} set log_parameter_max_length = 0`)
  expect(await finding('server log')).toMatchObject({ status: 'ok' })
})
