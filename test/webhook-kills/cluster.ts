import { randomBytes, randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startCluster } from '../../src/cli/postgres-cluster.ts'
import { migrate } from '../../src/platform/migrations.ts'

/** A PostgreSQL that can be killed, and keeps what it has committed: none of its safety is switched off. */
export interface MortalCluster {
  url(options: { user: string; database: string }): string
  /** A new database with all tables; its name. */
  makeDatabase(): Promise<string>
  /** Kills all its processes with SIGKILL and starts it anew, at the same address. */
  killAndRestart(): Promise<void>
  stop(): Promise<void>
}

export async function startMortalCluster(): Promise<MortalCluster> {
  const options = {
    dataDirectory: join(tmpdir(), `florin-webhook-kills-${randomBytes(6).toString('hex')}`),
    maxConnections: 100,
  }
  // Below the ports that outgoing connections take: nobody gets it while the server is down.
  let cluster = await startCluster({ ...options, port: randomInt(20_000, 30_000) })
  const { port } = cluster
  const onServer = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: cluster.url() })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }
  await onServer('create database template_kills')
  await migrate(cluster.url({ database: 'template_kills' }))

  return {
    url: cluster.url,
    async makeDatabase() {
      const name = `kills_${randomBytes(6).toString('hex')}`
      await onServer(`create database ${name} template template_kills`)
      await onServer(`grant connect on database ${name} to florin_api, florin_worker`)
      return name
    },
    async killAndRestart() {
      const lock = await readFile(join(cluster.directory, 'data/postmaster.pid'), 'utf8')
      await killFamily(Number(lock.split('\n')[0]))
      await cluster.ended
      cluster = await startCluster({ ...options, port })
      if (cluster.port !== port) throw new Error(`PostgreSQL came back at another port than ${port}`)
    },
    async stop() {
      await cluster.stop()
      await rm(cluster.directory, { recursive: true, force: true })
    },
  }
}

/**
 * A child that is left behind may wait for ever on a lock of one that was killed, and keeps the next server from starting. So the parent is
 * stopped before its children are counted: it makes no more of them, notices nothing of their end, and their numbers stay theirs.
 */
async function killFamily(parent: number): Promise<void> {
  process.kill(parent, 'SIGSTOP')
  while (statusOf(parent)?.state !== 'T') await sleep(1)
  const children = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statusOf(pid)?.parent === parent)
  for (const pid of [...children, parent]) process.kill(pid, 'SIGKILL')
}

function statusOf(pid: number): { state: string | undefined; parent: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return { state: /^State:\s*(\w)/m.exec(status)?.[1], parent: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]) }
  } catch {
    // It has ended.
    return undefined
  }
}
