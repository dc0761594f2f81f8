import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import { sql } from '../platform/sql.ts'
import { withDatabase } from './database-url.ts'
import { isAlive } from './dev-folder.ts'
import { canEnter } from './postgres-binaries.ts'
import { root } from './repository.ts'

interface Ready {
  base_url: string
  docs_url: string
  token: string
  token_expires_at: string
  private_key_file: string
  thumbprint: string
  merchant_account_id: string
}

interface Dev {
  child: ChildProcess
  ready: Ready
  /** Of everything that it started, itself included. */
  pids: number[]
  stdout: () => string
  stderr: () => string
  exit: Promise<number | null>
}

interface DevOptions {
  command?: string[]
  repository?: string
  environment?: NodeJS.ProcessEnv
  user?: { uid: number; gid: number }
}

const ephemeral = ['--json', '--port', '0', '--ephemeral']
const started: ChildProcess[] = []
const folders: string[] = []
const allPids: number[] = []

afterAll(async () => {
  for (const child of started) child.kill('SIGTERM')
  await Promise.all(started.map((child) => ended(child)))
  for (const pid of allPids.filter(isAlive)) process.kill(pid, 'SIGTERM')
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

function launch(args: string[], { command, repository = root, environment = {}, user }: DevOptions = {}) {
  const [program = '', ...before] = command ?? [process.execPath, 'src/main/florin.ts', 'dev']
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN|npm)_/.test(name))
  const env = { ...Object.fromEntries(inherited), ...environment }
  const child = spawn(program, [...before, ...args], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  started.push(child)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  return { child, stdout: () => stdout, stderr: () => stderr, exit: ended(child) }
}

async function start(args = ephemeral, options: DevOptions = {}): Promise<Dev> {
  const dev = launch(args, options)
  let over = false
  void dev.exit.then(() => {
    over = true
  })
  await eventually(() => over || dev.stdout().includes('\n'), 45_000)
  if (over) throw new Error(`florin dev ended: ${dev.stderr()}`)
  const pids = descendants(dev.child.pid ?? 0)
  allPids.push(...pids)
  // Itself and the processes of a Florin at least: vault, api and worker.
  expect(pids.length).toBeGreaterThan(3)
  return { ...dev, ready: JSON.parse(dev.stdout()) as Ready, pids }
}

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => child.once('close', (code) => resolve(code)))
}

function descendants(pid: number): number[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const below = (parent: number): number[] =>
    table.filter((row) => row[1] === parent).flatMap(([child = 0]) => [child, ...below(child)])
  return [pid, ...below(pid)]
}

async function eventually(check: () => boolean, milliseconds: number): Promise<boolean> {
  for (const deadline = Date.now() + milliseconds; Date.now() < deadline; await sleep(25)) if (check()) return true
  return check()
}

async function statusOf({ base_url }: Ready, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${base_url}/api-key-pairs`, { headers })).status
}

interface StoredCard {
  id: string
  fingerprint: string
}

async function storeCard({ base_url, token }: Ready): Promise<StoredCard> {
  const response = await fetch(`${base_url}/payment-methods`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'card', number: '4111111111111111', expiration_date: '12/30' }),
  })
  expect(response.status).toBe(201)
  return (await response.json()) as StoredCard
}

/** The sandbox's gift card provider needs no preparation either. */
async function balanceOf({ base_url, token }: Ready, card: { number: string; pin: string }): Promise<unknown> {
  const response = await fetch(`${base_url}/gift-cards/balances`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ items: [card] }),
  })
  const { items } = (await response.json()) as { items?: { balance: unknown }[] }
  return items?.[0]?.balance
}

async function getCard({ base_url, token }: Ready, id: string): Promise<StoredCard> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${base_url}/payment-methods/${id}`, { headers })
  expect(response.status).toBe(200)
  return (await response.json()) as StoredCard
}

/** What an ephemeral one has in its folder while it runs, so that "the folder is gone" says that these are. */
async function keepsItsSecretsInOneFolder({ private_key_file }: Ready): Promise<void> {
  const folder = dirname(private_key_file)
  expect((await stat(join(folder, 'vault-key'))).mode & 0o777).toBe(0o600)
  expect((await stat(join(folder, 'vault.sock'))).isSocket()).toBe(true)
}

/** Neither a process nor the folder of an ephemeral one's private key, vault key and vault socket. */
async function leavesNothing({ pids, ready }: Dev, milliseconds: number): Promise<void> {
  await eventually(() => !pids.some(isAlive) && !existsSync(dirname(ready.private_key_file)), milliseconds)
  expect(pids.filter(isAlive)).toEqual([])
  expect(existsSync(dirname(ready.private_key_file))).toBe(false)
}

test('two at once are ready with one line each, keep apart, and end without a trace', async () => {
  const [one, other] = await Promise.all([start(), start()])
  for (const { ready } of [one, other]) {
    expect(Object.keys(ready).sort()).toEqual([
      'base_url',
      'docs_url',
      'merchant_account_id',
      'private_key_file',
      'thumbprint',
      'token',
      'token_expires_at',
    ])
    expect(await statusOf(ready, ready.token)).toBe(200)
    expect((await fetch(ready.docs_url)).status).toBe(200)
    expect(await readFile(ready.private_key_file, 'utf8')).toContain('BEGIN PRIVATE KEY')
    expect((await stat(ready.private_key_file)).mode & 0o777).toBe(0o600)
    expect(await balanceOf(ready, { number: '6035000000001234', pin: '05000' })).toBe(5000)
    await keepsItsSecretsInOneFolder(ready)
  }
  expect(await statusOf(one.ready, other.ready.token)).toBe(401)

  for (const [dev, signal] of [
    [one, 'SIGTERM'],
    [other, 'SIGINT'],
  ] as const) {
    const began = Date.now()
    dev.child.kill(signal)
    expect(await dev.exit).toBe(0)
    expect(Date.now() - began).toBeLessThan(30_000)
    await leavesNothing(dev, 10_000)
    expect(dev.stdout().trimEnd().split('\n')).toHaveLength(1)
    expect(dev.stderr()).toBe('')
  }
})

test('when it is killed, nothing stays behind', async () => {
  const dev = await start()
  await keepsItsSecretsInOneFolder(dev.ready)
  dev.child.kill('SIGKILL')
  await leavesNothing(dev, 10_000)
})

test.each([
  ['worker', 'working'],
  ['vault', 'guarding'],
])('when its %s dies, it tells why and ends everything', async (name, lastWords) => {
  const dev = await start()
  const list = execFileSync('ps', ['-ww', '-o', 'pid=,args=', '-p', dev.pids.join(',')], { encoding: 'utf8' })
  const pid = Number(new RegExp(`^\\s*(\\d+) .*${name}\\.ts$`, 'm').exec(list)?.[1])
  process.kill(pid, 'SIGKILL')
  expect(await dev.exit).toBe(1)
  // Those that live on may warn of what they miss, before and after.
  const lines = dev.stderr().trimEnd().split('\n')
  const errors = lines.map((line) => (JSON.parse(line) as { error: unknown }).error)
  const error = errors.find((one) => typeof one === 'string')
  expect(error).toContain(`The ${name} process ended unexpectedly (signal SIGKILL). Its last log lines:\n`)
  expect(error).toContain(lastWords)
  await leavesNothing(dev, 10_000)
})

test('so it does when PostgreSQL dies', async () => {
  const dev = await start()
  const list = execFileSync('ps', ['-ww', '-o', 'pid=,args=', '-p', dev.pids.join(',')], { encoding: 'utf8' })
  const server = Number(/^\s*(\d+) \S*\/postgres -D /m.exec(list)?.[1])
  process.kill(server, 'SIGKILL')
  expect(await dev.exit).toBe(1)
  expect(dev.stderr()).toContain('PostgreSQL ended unexpectedly.')
  await leavesNothing(dev, 5_000)
})

test('it can be stopped while it starts', async () => {
  const dev = launch(ephemeral)
  await eventually(() => descendants(dev.child.pid ?? 0).length > 3, 10_000)
  const pids = descendants(dev.child.pid ?? 0)
  dev.child.kill('SIGTERM')
  expect(await dev.exit).toBe(0)
  expect(dev.stdout()).toBe('')
  await eventually(() => !pids.some(isAlive), 5_000)
  expect(pids.filter(isAlive)).toEqual([])
})

test('a port that is taken is told at once, with what to do', async () => {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const dev = launch(['--json', '--ephemeral', '--port', String(port)])
  expect(await dev.exit).toBe(1)
  expect(dev.stdout()).toBe('')
  expect(dev.stderr()).toContain(`Port ${port} is in use by another program. Choose another with --port`)
  await new Promise((closed) => server.close(closed))
})

test('a mistake in the settings is told before anything is started', async () => {
  const dev = launch(ephemeral, { environment: { FLORIN_PROT: '1', FLORIN_EVENT_RETENTION_MONTHS: 'many' } })
  expect(await dev.exit).toBe(1)
  expect(dev.stderr()).toContain('FLORIN_PROT is not a setting')
})

test.each(['SIGTERM', 'SIGKILL'] as const)('npm passes on the end: %s', async (signal) => {
  const dev = await start(ephemeral, { command: ['npm', 'run', '--silent', 'dev', '--'] })
  expect(await statusOf(dev.ready, dev.ready.token)).toBe(200)
  dev.child.kill(signal)
  await leavesNothing(dev, 10_000)
})

test('with DATABASE_URL that server is used, and an ephemeral one leaves no database there', async () => {
  const clusterUrl = inject('clusterUrl')
  const databases = () =>
    withDatabase(clusterUrl, (db) => db.run(sql`select from pg_database where datname like 'florin_dev_%'`))
  const dev = await start(ephemeral, { environment: { DATABASE_URL: clusterUrl } })
  expect(await databases()).toHaveLength(1)
  expect(await statusOf(dev.ready, dev.ready.token)).toBe(200)
  dev.child.kill('SIGTERM')
  expect(await dev.exit).toBe(0)
  await leavesNothing(dev, 10_000)
  expect(await databases()).toEqual([])
})

const nobody = process.getuid?.() === 0 ? await findNobody() : undefined

async function findNobody() {
  const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8'))
  const user = line && { uid: Number(line[1]), gid: Number(line[2]) }
  return user && (await canEnter(root, user)) ? user : undefined
}

test.skipIf(!nobody)('an ordinary user who cannot write to the repository can start one too', async () => {
  const home = await mkdtemp(join(tmpdir(), 'florin-test-'))
  folders.push(home)
  if (nobody) await chown(home, nobody.uid, nobody.gid)
  const dev = await start(ephemeral, { environment: { HOME: home, TMPDIR: home }, ...(nobody && { user: nobody }) })
  expect(await statusOf(dev.ready, dev.ready.token)).toBe(200)
  dev.child.kill('SIGTERM')
  expect(await dev.exit).toBe(0)
  await leavesNothing(dev, 10_000)

  const kept = launch(['--json', '--port', '0'], {
    environment: { HOME: home, TMPDIR: home },
    ...(nobody && { user: nobody }),
  })
  expect(await kept.exit).toBe(1)
  expect(kept.stderr()).toContain('Start with --ephemeral, which keeps nothing.')
})

async function copyRepository(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'florin-test-'))
  folders.push(copy)
  // PostgreSQL's user must get in when root runs this.
  await chmod(copy, 0o755)
  for (const part of ['src', 'migrations', 'public', 'docs', 'openapi.json', 'package.json']) {
    await cp(join(root, part), join(copy, part), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

test('a kept one has its key and data again after a restart, and other commands find it while it runs', async () => {
  const repository = await copyRepository()
  const florin = async (...args: string[]) => {
    const run = promisify(execFile)(process.execPath, ['src/main/florin.ts', ...args], { cwd: repository })
    return (await run).stdout
  }
  const first = await start(['--json', '--port', '0'], { repository })
  expect(first.ready.private_key_file).toBe(join(repository, '.florin/private-key.pem'))
  expect((await stat(join(repository, '.florin/dev.json'))).mode & 0o777).toBe(0o600)
  expect(await statusOf(first.ready, (await florin('token')).trim())).toBe(200)
  await florin('keys', 'create', '--name', 'Shop', '--out', join(repository, 'shop.pem'))
  expect(await statusOf(first.ready, (await florin('token', '--key', 'shop.pem')).trim())).toBe(200)
  expect(await florin('doctor')).toMatch(/✓ vault +unix:[^]*Everything is well\./)
  const stored = await storeCard(first.ready)
  expect(JSON.parse(await florin('vault', 'keys', 'list', '--json'))).toMatchObject({
    keys: expect.arrayContaining([expect.objectContaining({ purpose: 'data', version: 1, rows: 2 })]),
  })

  const second = launch(['--json', '--port', '0'], { repository })
  expect(await second.exit).toBe(1)
  expect(second.stderr()).toContain(`already runs here (process ${first.child.pid}, ${first.ready.base_url})`)

  first.child.kill('SIGKILL')
  await eventually(() => !first.pids.some(isAlive), 10_000)
  expect(first.pids.filter(isAlive)).toEqual([])

  const again = await start(['--json', '--port', '0'], { repository })
  expect(again.ready.thumbprint).toBe(first.ready.thumbprint)
  expect(await statusOf(again.ready, first.ready.token)).toBe(200)
  // Sealing anew needs the key of before: the vault can still open the card that it stored then.
  expect((await getCard(again.ready, stored.id)).fingerprint).toBe(stored.fingerprint)
  await florin('vault', 'keys', 'rotate')
  expect(await florin('vault', 'keys', 'rewrap')).toContain('2 row(s) sealed anew.')
  expect((await storeCard(again.ready)).fingerprint).toBe(stored.fingerprint)
  expect(await statusOf(again.ready, (await florin('token', '--key', 'shop.pem')).trim())).toBe(200)
  again.child.kill('SIGTERM')
  expect(await again.exit).toBe(0)
  expect(existsSync(join(repository, '.florin/dev.json'))).toBe(false)

  await rm(join(repository, '.florin/postgres'), { recursive: true })
  const anew = await start(['--json', '--port', '0'], { repository })
  expect(anew.ready.thumbprint).not.toBe(first.ready.thumbprint)
  expect(await statusOf(anew.ready, anew.ready.token)).toBe(200)
  anew.child.kill('SIGTERM')
  expect(await anew.exit).toBe(0)
})
