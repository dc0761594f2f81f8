import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { type Cluster, startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the test cluster's superuser. */
    clusterUrl: string
  }
}

let cluster: Cluster | undefined

/** One PostgreSQL for the run, with a migrated template that each test file clones. */
export async function setup(project: TestProject): Promise<void> {
  cluster = await startCluster({ fast: true, maxConnections: 500 })
  const client = new pg.Client({ connectionString: cluster.url() })
  await client.connect()
  await client.query('create database florin_template')
  await client.end()
  await migrate(cluster.url({ database: 'florin_template' }))
  project.provide('clusterUrl', cluster.url())
}

export async function teardown(): Promise<void> {
  await cluster?.stop()
}
