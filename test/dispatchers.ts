import pg from 'pg'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { EventTarget } from '../src/events/catalog.ts'
import { emit } from '../src/events/outbox.ts'
import { newId, timeOfId } from '../src/ids.ts'
import { createLog } from '../src/platform/log.ts'
import { connectNats, type Nats } from '../src/platform/nats.ts'
import { connect, type Database, transact } from '../src/platform/postgres.ts'
import { type Dispatcher, type LaneEvent, type Sent, startDispatcher } from '../src/webhooks/dispatcher.ts'
import type { EndpointRow, EventRow } from '../src/webhooks/store.ts'
import { useDatabase } from './database.ts'

/* Dispatchers over a real database, and over a real NATS where a test wants that. The endpoints are the outside world, and played here. */

const log = createLog({ level: 'silent', process: 'test' })

export const fine: Sent = { statusCode: 204, error: null }

export interface StartOptions {
  /** Where its NATS is; without it there is no lane. */
  natsUrl?: string | undefined
  /** Puts something between it and NATS. */
  through?: (nats: Nats) => Nats
}

export function useDispatchers() {
  const database = useDatabase()
  let db: Database
  let api: Database
  const running: { dispatcher: Dispatcher; nats: Nats | undefined }[] = []
  const stage = {
    database,
    received: [] as { url: string; event: string }[],
    answers: (() => fine) as (endpoint: EndpointRow, event: EventRow) => Sent | Promise<Sent>,
    /** What dispatchers said of the lane. */
    lane: { published: 0, given_back: 0, dropped: 0, reconciled: 0 } satisfies Record<LaneEvent, number>,
  }

  beforeAll(() => {
    const open = (role: 'florin_worker' | 'florin_api') =>
      connect({ url: database.url(role), applicationName: 'test', poolSize: 5, onError: () => undefined })
    db = open('florin_worker')
    api = open('florin_api')
  })
  afterAll(() => Promise.all([db.close(), api.close()]))

  async function stopAll(): Promise<void> {
    const all = running.splice(0)
    await Promise.all(all.map(({ dispatcher }) => dispatcher.stop()))
    for (const { nats } of all) await nats?.close()
  }

  afterEach(async () => {
    await stopAll()
    stage.received = []
    stage.answers = () => fine
    stage.lane = { published: 0, given_back: 0, dropped: 0, reconciled: 0 }
    await database.query(
      'delete from event_queue; delete from webhook_attempts; delete from webhook_deliveries; delete from webhook_subscriptions',
    )
  })

  function begin({ natsUrl, through = (nats) => nats }: StartOptions = {}): Dispatcher {
    const nats =
      natsUrl === undefined ? undefined : connectNats({ url: natsUrl, setting: 'NATS_URL', name: 'test', log })
    const dispatcher = startDispatcher({
      db,
      send: async (endpoint, event) => {
        stage.received.push({ url: endpoint.url, event: event.id })
        return await stage.answers(endpoint, event)
      },
      now: () => new Date(),
      log,
      nats: nats && through(nats),
      onLane: (what, count) => (stage.lane[what] += count),
    })
    running.push({ dispatcher, nats })
    return dispatcher
  }

  async function subscribe(
    change: { account?: string; names?: string[]; active?: boolean; url?: string } = {},
  ): Promise<string> {
    const id = newId()
    await database.query(
      `insert into webhook_subscriptions (merchant_account_id, id, url, active, event_names, creator_name, created_at, updated_at)
        values ($1, $2, $3, $4, $5, 'test', $6, $6)`,
      [
        change.account ?? 'default',
        id,
        change.url ?? `https://${id}.example.com/`,
        change.active ?? true,
        change.names ?? null,
        timeOfId(id),
      ],
    )
    return id
  }

  const happen = (account: string | null = 'default') =>
    transact({ db: api, accounts: 'all' as const }, async (ctx) => {
      const target = { type: 'buyer', id: newId() } as EventTarget<'buyer.created'>
      await emit(ctx, 'buyer.created', { target, merchantAccountId: account, sequence: 1 })
    })

  const statuses = async () => {
    const rows = await database.query<{
      status: string
      attempts: number
      status_code: number | null
      error: string | null
    }>('select status, attempts, status_code, error from webhook_deliveries order by id')
    return rows.map(({ status, attempts, status_code, error }) => [status, attempts, status_code ?? error])
  }
  const isQueueEmpty = async () => (await database.query('select from event_queue')).length === 0

  /** Results cannot be written, but everything else can, until it is released. */
  async function lockResults() {
    const client = new pg.Client({ connectionString: database.url() })
    await client.connect()
    await client.query('begin; lock table webhook_attempts in share mode')
    return {
      hasWaiting: async () =>
        (
          await database.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          )
        ).length > 0,
      async release() {
        await client.query('commit')
        await client.end()
      },
    }
  }

  return Object.assign(stage, {
    worker: () => db,
    begin,
    /** Ends when its lane is open, where it has one. */
    async start(options: StartOptions = {}): Promise<Dispatcher> {
      const dispatcher = begin(options)
      if (options.natsUrl !== undefined) await until(dispatcher.isLaneOpen)
      return dispatcher
    },
    stopAll,
    lockResults,
    subscribe,
    happen,
    statuses,
    isQueueEmpty,
    /** How many deliveries there are, all of them sent for good. */
    isOver: async (count: number) =>
      (await isQueueEmpty()) &&
      (await statuses()).length === count &&
      (await statuses()).every(([status]) => status !== 'pending'),
    /** Ends every lease and every wait. */
    dueNow: () => database.query("update webhook_deliveries set next_attempt_at = now() where status = 'pending'"),
  })
}

export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 120_000
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it did not happen')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
