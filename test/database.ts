import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'

export type DatabaseRole = 'florin_admin' | 'florin_migrate' | 'florin_api' | 'florin_worker' | 'florin_vault'

export interface TestDatabase {
  url(role?: DatabaseRole): string
  /** Runs SQL as the superuser, past every wall. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
}

/** This test file's own database, cloned from the migrated template. */
export function useDatabase({ template = 'florin_template' } = {}): TestDatabase {
  const name = `florin_test_${randomBytes(6).toString('hex')}`
  const admin = () => new URL(inject('clusterUrl'))
  const pools = new Map<string, pg.Pool>()

  function url(role: DatabaseRole = 'florin_admin'): string {
    const target = admin()
    target.username = role
    target.pathname = `/${name}`
    return target.href
  }

  async function onServer(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: admin().href })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }

  beforeAll(async () => {
    await onServer(`create database ${name} template ${template}`)
    // Privileges on the database itself are not copied with the template.
    await onServer(`revoke all on database ${name} from public`)
    await onServer(`grant connect on database ${name} to florin_api, florin_worker, florin_vault, florin_migrate`)
  })
  afterAll(async () => {
    for (const pool of pools.values()) await pool.end()
    await onServer(`drop database if exists ${name} with (force)`)
  })

  return {
    url,
    async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      let pool = pools.get('admin')
      if (!pool) {
        pool = new pg.Pool({ connectionString: url(), max: 4 })
        pool.on('error', () => undefined)
        pools.set('admin', pool)
      }
      return (await pool.query<Row>(text, values)).rows
    },
  }
}
