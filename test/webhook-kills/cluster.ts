import { randomBytes, randomInt } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
      const backends = await onServer<{ pid: number }>('select pid from pg_stat_activity')
      const lock = await readFile(join(cluster.directory, 'data/postmaster.pid'), 'utf8')
      // The first one first, so that it does not notice that the others die.
      for (const pid of [Number(lock.split('\n')[0]), ...backends.map(({ pid }) => pid)]) {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It has ended by itself.
        }
      }
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
