import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, startCluster } from '../../src/cli/postgres-cluster.ts'
import { newId, timeOfId } from '../../src/ids.ts'
import { migrate } from '../../src/platform/migrations.ts'
import { codeCache } from '../../test/code-cache.ts'
import { cpuOfFamily } from '../cpu.ts'
import { askProbe } from '../rig.ts'
import type { DispatcherTotals } from '../webhook-dispatcher.ts'
import type { Arrivals, Behaviour, Change } from '../webhook-receivers.ts'

/** What the measurements of webhooks share: a cluster that really writes to disk, the sender, receivers, and events at a rate. */

async function startChild(
  entry: string,
  how: { args?: readonly string[]; environment?: Record<string, string> },
): Promise<{ child: ChildProcess; said: unknown; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', entry), ...(how.args ?? [])], {
    env: { PATH: process.env['PATH'] ?? '', ...codeCache, NODE_ENV: 'production', ...how.environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const ended = exited.then(([code]) => Promise.reject(new Error(`${entry} ended with ${String(code)}`)))
  const [said] = (await Promise.race([once(child, 'message'), ended])) as [unknown]
  ended.catch(() => undefined)
  return {
    child,
    said,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

export interface Sender {
  totals(): Promise<DispatcherTotals>
  /** When what is on its way is over. */
  stop(): Promise<void>
}

/** With `natsUrl` by the lane: it is open when this ends. */
export async function startSender(databaseUrl: string, natsUrl?: string): Promise<Sender> {
  const { child, stop } = await startChild('webhook-dispatcher.ts', {
    environment: { DATABASE_URL: databaseUrl, ...(natsUrl !== undefined && { NATS_URL: natsUrl }) },
  })
  return { totals: () => askProbe<DispatcherTotals>(child), stop }
}

export interface Receivers {
  /** In the order of their behaviours. */
  urls: string[]
  /** Since the last question. */
  arrivals(): Promise<Arrivals>
  become(change: Change): void
  stop(): Promise<void>
}

export async function startReceivers(behaviours: readonly Behaviour[]): Promise<Receivers> {
  const { child, said, stop } = await startChild('webhook-receivers.ts', { args: behaviours })
  return {
    urls: (said as number[]).map((port) => `http://127.0.0.1:${port}/`),
    arrivals: () => askProbe<Arrivals>(child),
    become: (change) => void child.send(change),
    stop,
  }
}

const target = {
  type: 'transaction',
  status: 'capture_succeeded',
  amount: 1299,
  currency: 'EUR',
  authorized_amount: 1299,
  captured_amount: 1299,
  refunded_amount: 0,
  external_identifier: 'order-4711',
  payment_method: { id: null, method: 'card' },
  payment_service_transaction_id: 'c0ffee00-0000-4000-8000-000000004711',
  payment_link_id: null,
  pending_review: false,
  error_code: null,
  metadata: { order: '4711' },
  created_at: '2026-11-01T12:00:00.000Z',
  updated_at: '2026-11-01T12:00:01.000Z',
}

/** One database, and everybody who writes to it but the sender. */
export class Source {
  readonly client: pg.Client
  /** Of each event that was committed, when; before the database was asked to, and so not too late. */
  readonly committed = new Map<string, number>()

  constructor(client: pg.Client) {
    this.client = client
  }

  async #insert(accounts: readonly string[]): Promise<string[]> {
    const ids = accounts.map(() => newId())
    await this.client.query(
      `with made as (select * from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as made (id, account, moment)),
        event as (
          insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
          select id, account, 'transaction.captured', 'transaction', id::text, 1, $4::jsonb || jsonb_build_object('id', id), moment from made
        )
      insert into event_queue (event_id) select id from made`,
      [ids, accounts, ids.map(timeOfId), JSON.stringify(target)],
    )
    return ids
  }

  /** One event for each of the accounts, in one transaction, as `emit` writes them. */
  async commit(accounts: readonly string[]): Promise<void> {
    await this.client.query('begin')
    const ids = await this.#insert(accounts)
    const moment = Date.now()
    await this.client.query('commit')
    for (const id of ids) this.committed.set(id, moment)
  }

  /** Events of the accounts in turn, evenly. Ends when all are committed. */
  async commitAtRate(
    accounts: readonly string[],
    { perSecond, seconds }: { perSecond: number; seconds: number },
  ): Promise<void> {
    const [start, total] = [performance.now(), Math.round(perSecond * seconds)]
    let made = 0
    while (made < total) {
      const owed = Math.min(total, Math.ceil(((performance.now() - start) / 1000) * perSecond)) - made
      const batch = Array.from({ length: owed }, () => accounts[made++ % accounts.length] ?? '')
      if (owed > 0) await this.commit(batch)
      await delay(Math.max(1, Math.min(10, 1000 / perSecond)))
    }
  }

  /** Their ids. */
  async subscribe(wanted: readonly { account: string; url: string }[]): Promise<string[]> {
    const ids = wanted.map(() => newId())
    await this.client.query(
      `insert into webhook_subscriptions (merchant_account_id, id, url, active, creator_name, created_at, updated_at)
       select account, id, url, true, 'bench', now(), now() from unnest($1::text[], $2::uuid[], $3::text[]) as made (account, id, url)`,
      [wanted.map(({ account }) => account), ids, wanted.map(({ url }) => url)],
    )
    return ids
  }

  /** Nobody wants to hear of anything, and nothing has happened. */
  async clear(): Promise<void> {
    await this.client.query('delete from webhook_subscriptions')
    await this.client.query('truncate webhook_deliveries, webhook_attempts, events, event_queue')
    this.committed.clear()
  }

  async count(what: string): Promise<number> {
    const { rows } = await this.client.query<{ count: string }>(`select count(*) from ${what}`)
    return Number(rows[0]?.count)
  }
}

export interface Stage {
  cluster: Cluster
  /** CPU milliseconds of PostgreSQL so far. */
  cpu(): number
  open(database?: string): Promise<Source>
  close(): Promise<void>
}

/** A migrated database, and PostgreSQL with what a small server of its own would have. */
export async function startStage(): Promise<Stage> {
  const cluster = await startCluster({ settings: { shared_buffers: '512MB', max_wal_size: '4GB' } })
  await migrate(cluster.url())
  const postmaster = Number(readFileSync(join(cluster.directory, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  const clients: pg.Client[] = []
  return {
    cluster,
    cpu: () => cpuOfFamily(postmaster),
    async open(database) {
      const client = new pg.Client({ connectionString: cluster.url(database === undefined ? {} : { database }) })
      clients.push(client)
      await client.connect()
      return new Source(client)
    },
    async close() {
      await Promise.all(clients.map((client) => client.end()))
      await cluster.stop()
    },
  }
}

const patienceMs = 180_000

/** Asks again until it is so, and fails with what it says when that takes minutes. */
export async function until(isSo: () => Promise<boolean> | boolean, what: () => string): Promise<void> {
  const end = Date.now() + patienceMs
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(what())
    await delay(20)
  }
}
