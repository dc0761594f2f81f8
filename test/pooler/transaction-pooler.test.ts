import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../src/cli/postgres-cluster.ts'
import { startApi } from '../../src/main/api.ts'
import { Secret } from '../../src/platform/secret.ts'
import { apiConfig, roleIds, send, useApi } from '../api.ts'

// Runs wherever pgbouncer is installed (vitest.config.ts); CI installs it.
const direct = useApi()
const folder = mkdtempSync(join(tmpdir(), 'pooler-'))
let pooler: ChildProcess
let pooled: Awaited<ReturnType<typeof startApi>>

beforeAll(async () => {
  const port = await freePort()
  const target = new URL(direct.database.url('florin_api'))
  // One server connection for everybody: whatever a session leaves behind, the next one would see.
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=127.0.0.1 port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 1
max_client_conn = 200
user = nobody
`.replace('* = host', `${target.pathname.slice(1)} = user=florin_api host`),
  )
  chownSync(folder, process.getuid?.() ?? 0, process.getgid?.() ?? 0)
  const args = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  pooler = spawn('/usr/sbin/pgbouncer', [...args, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' })
  target.port = String(port)
  const config = apiConfig(target.href, { databaseDirectUrl: new Secret(direct.database.url('florin_api')) })
  pooled = await startApi(config, () => undefined)
})
afterAll(async () => {
  await pooled.close()
  pooler.kill()
  rmSync(folder, { recursive: true })
})

test('behind a transaction pooler with one connection, callers of different accounts see their own rows only', async () => {
  const callers = await Promise.all(
    ['default', 'other'].map(async (account) => {
      const pair = await direct.makeKeyPair({ merchantAccountIds: [account] })
      return { account, token: await direct.makeToken(pair) }
    }),
  )
  const answers = await Promise.all(
    Array.from({ length: 400 }, async (_, index) => {
      const { account, token } = callers[index % 2] ?? { account: '', token: '' }
      const { status, body } = await send<{ items: { id: string }[] }>(pooled.url, 'GET', '/merchant-accounts', {
        token,
      })
      return status === 200 && body.items.length === 1 && body.items[0]?.id === account
    }),
  )
  expect(answers.filter((right) => !right)).toHaveLength(0)
})

test('changes and key announcements work behind the pooler too', async () => {
  const created = await send<{ id: string; private_key: string; thumbprint: string }>(
    pooled.url,
    'POST',
    '/api-key-pairs',
    {
      token: direct.token(),
      body: { display_name: 'Pooled', role_ids: [roleIds.full] },
    },
  )
  expect(created.status).toBe(201)
  const { id, thumbprint, private_key } = created.body
  const token = await direct.makeToken({ id, thumbprint, privateKeyPem: private_key })
  expect((await send(pooled.url, 'GET', '/roles', { token })).status).toBe(200)
  await send(direct.url(), 'PUT', `/api-key-pairs/${id}`, { token: direct.token(), body: { active: false } })
  await expect
    .poll(async () => (await send(pooled.url, 'GET', '/roles', { token })).status, { timeout: 1_500 })
    .toBe(401)
})
