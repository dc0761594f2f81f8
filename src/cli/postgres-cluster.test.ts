import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { findPostgres } from './postgres-binaries.ts'
import { type Cluster, startCluster } from './postgres-cluster.ts'

const timeout = 240_000
const leftovers: string[] = []

afterAll(async () => {
  for (const path of leftovers) await rm(path, { recursive: true, force: true })
})

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'florin-test-'))
  leftovers.push(directory)
  return directory
}

async function query(cluster: Cluster, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(cluster.url())
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

async function isOpen(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      done(true)
    })
    socket.once('error', () => done(false))
  })
}

async function eventually(check: () => boolean | Promise<boolean>, milliseconds: number): Promise<boolean> {
  const deadline = Date.now() + milliseconds
  while (Date.now() < deadline) {
    if (await check()) return true
    await delay(50)
  }
  return check()
}

async function postmaster(directory: string): Promise<number> {
  return Number((await readFile(join(directory, 'data/postmaster.pid'), 'utf8')).split('\n')[0])
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Starts an ephemeral cluster in another process, which then runs `after`. */
async function startElsewhere(after: string) {
  const module = JSON.stringify(new URL('./postgres-cluster.ts', import.meta.url).href)
  const script = `
    const { startCluster } = await import(${module})
    const { port, directory } = await startCluster({ fast: true })
    process.stdout.write(JSON.stringify({ port, directory }) + '\\n')
    ${after}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise<string>((done, failed) => {
    child.stdout.once('data', (data: Buffer) => done(data.toString()))
    child.once('exit', () => failed(new Error('the process ended before its cluster had started')))
  })
  const { port, directory } = JSON.parse(line) as { port: number; directory: string }
  return { child, port, directory, pid: await postmaster(directory) }
}

test('an ephemeral cluster answers, and stop() leaves nothing of it', { timeout }, async () => {
  const cluster = await startCluster({ fast: true, maxConnections: 37, settings: { work_mem: '5MB' } })
  expect(cluster.url()).toBe(`postgresql://florin_admin@127.0.0.1:${cluster.port}/postgres`)
  expect(cluster.url({ user: 'a b', database: 'c' })).toBe(`postgresql://a%20b@127.0.0.1:${cluster.port}/c`)
  const rows = await query(
    cluster,
    `select current_user::text as "user", current_setting('timezone') as timezone, current_setting('fsync') as fsync,
      current_setting('server_encoding') as encoding, current_setting('max_connections') as connections,
      current_setting('work_mem') as memory, current_setting('listen_addresses') as addresses`,
  )
  expect(rows).toEqual([
    {
      user: 'florin_admin',
      timezone: 'UTC',
      fsync: 'off',
      encoding: 'UTF8',
      connections: '37',
      memory: '5MB',
      addresses: '127.0.0.1',
    },
  ])
  expect(existsSync(join(cluster.directory, 'postgres.log'))).toBe(true)
  const pid = await postmaster(cluster.directory)
  await Promise.all([cluster.stop(), cluster.stop()])
  await cluster.stop()
  expect(existsSync(cluster.directory)).toBe(false)
  expect(await isOpen(cluster.port)).toBe(false)
  expect(isAlive(pid)).toBe(false)
})

test('a kept cluster keeps its data, and one process at a time may use it', { timeout }, async () => {
  const dataDirectory = join(await temporaryDirectory(), 'deep/kept')
  const first = await startCluster({ dataDirectory, fast: true })
  leftovers.push(first.directory)
  await query(first, 'create table kept as select 42 as answer')
  await expect(startCluster({ dataDirectory, fast: true })).rejects.toThrow(/A Florin is already using the data/)
  expect(await query(first, 'select answer from kept')).toEqual([{ answer: 42 }])
  await first.stop()

  const second = await startCluster({ dataDirectory, fast: true })
  expect(second.directory).toBe(first.directory)
  expect(await query(second, 'select answer from kept')).toEqual([{ answer: 42 }])
  await second.stop()
  expect(await isOpen(second.port)).toBe(false)
})

test('of two that start on a new directory at once, one is refused', { timeout }, async () => {
  const dataDirectory = await temporaryDirectory()
  const started = await Promise.allSettled([1, 2].map(() => startCluster({ dataDirectory, fast: true })))
  const running = started.filter((result) => result.status === 'fulfilled').map((result) => result.value)
  leftovers.push(...running.map((cluster) => cluster.directory))
  await Promise.all(running.map((cluster) => cluster.stop()))
  expect(running).toHaveLength(1)
  expect(started.find((result) => result.status === 'rejected')?.reason).toMatchObject({
    message: expect.stringContaining('A Florin is already using'),
  })
})

test('what a crash leaves behind does not prevent a start', { timeout }, async () => {
  const dataDirectory = await temporaryDirectory()
  const first = await startCluster({ dataDirectory, fast: true })
  leftovers.push(first.directory)
  const lock = join(first.directory, 'data/postmaster.pid')
  const { uid, gid } = await stat(lock)
  const crashed = await readFile(lock, 'utf8')
  await first.stop()

  // A process of PostgreSQL's user that now has the number of the server that crashed.
  const other = spawn('sleep', ['60'], { stdio: 'ignore', ...(process.getuid?.() === 0 ? { uid, gid } : {}) })
  try {
    for (const left of [crashed, crashed.replace(/^\d+/, String(other.pid)), '']) {
      await writeFile(lock, left)
      const next = await startCluster({ dataDirectory, fast: true })
      expect(await query(next, 'select 1 as one')).toEqual([{ one: 1 }])
      await next.stop()
    }
  } finally {
    other.kill()
  }
})

test('a server that was killed comes back at its port, with all that was committed', { timeout }, async () => {
  const dataDirectory = await temporaryDirectory()
  // Below the ports that outgoing connections take: nobody gets it while the server is down.
  const first = await startCluster({ dataDirectory, port: randomInt(20_000, 30_000) })
  leftovers.push(first.directory)
  await query(first, 'create table kept as select 42 as answer')
  process.kill(await postmaster(first.directory), 'SIGKILL')
  await first.ended
  const second = await startCluster({ dataDirectory, port: first.port })
  expect(second.port).toBe(first.port)
  expect(await query(second, 'select answer from kept')).toEqual([{ answer: 42 }])
  await second.stop()
})

test('a port that is taken is given up for another', { timeout }, async () => {
  const taken = createServer()
  await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
  const address = taken.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const cluster = await startCluster({ fast: true, port })
  expect(cluster.port).not.toBe(port)
  expect(await query(cluster, 'select 1 as one')).toEqual([{ one: 1 }])
  await cluster.stop()
  await new Promise((done) => taken.close(done))
})

test('a server that does not start is reported with its log', { timeout }, async () => {
  await expect(startCluster({ settings: { no_such_setting: '1' } })).rejects.toThrow(/no_such_setting/)
})

test('the programs that npm carries work too', { timeout }, async () => {
  const binaries = await findPostgres({ source: 'npm' })
  expect(binaries).toMatchObject({ source: 'npm', version: 18 })
  const cluster = await startCluster({ fast: true, source: 'npm' })
  expect(await query(cluster, `select current_setting('server_version_num')::int / 10000 as major`)).toEqual([
    { major: 18 },
  ])
  await cluster.stop()
  expect(existsSync(cluster.directory)).toBe(false)
})

test('a killed process takes its ephemeral cluster with it', { timeout }, async () => {
  const { child, port, directory, pid } = await startElsewhere('setInterval(() => {}, 1000)')
  expect(isAlive(pid)).toBe(true)
  child.kill('SIGKILL')
  expect(await eventually(() => !isAlive(pid) && !existsSync(directory), 60_000)).toBe(true)
  expect(await isOpen(port)).toBe(false)
})

test('so does one that ends without stopping it', { timeout }, async () => {
  // The pause only lets us read the lock file.
  const { directory, pid } = await startElsewhere('setTimeout(() => {}, 3_000)')
  expect(await eventually(() => !isAlive(pid) && !existsSync(directory), 60_000)).toBe(true)
})
