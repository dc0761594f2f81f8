import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect as connectClient, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { realClocks } from '../src/clocks.ts'
import { publishEvents } from '../src/event-stream/jobs.ts'
import { createEventStream, type EventStream } from '../src/event-stream/stream.ts'
import { streamName } from '../src/event-stream/subject.ts'
import type { EventTarget } from '../src/events/catalog.ts'
import type { EventRow } from '../src/events/envelope.ts'
import { emit } from '../src/events/outbox.ts'
import { newId } from '../src/ids.ts'
import { createLog } from '../src/platform/log.ts'
import { connectNats, type Nats } from '../src/platform/nats.ts'
import { connect, type Database, transact } from '../src/platform/postgres.ts'
import { relay } from '../src/webhooks/relay.ts'
import { useDatabase } from './database.ts'
import { type NatsCluster, useNats } from './nats.ts'

/** What the stream has stored. */
export interface Stored {
  subject: string
  id: string
  text: string
}

export const streamSource = { instance: 'local', environment: 'sandbox' as const }
const limits = { days: 1, megabytes: 64, replicas: 3 }
const log = createLog({ level: 'silent', process: 'test' })

export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 120_000
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it did not happen')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** As a user of the cluster, past everything of ours. */
export async function withClient<Result>(
  cluster: NatsCluster,
  url: string,
  use: (client: NatsConnection) => Promise<Result>,
  inboxPrefix = '_INBOX',
): Promise<Result> {
  const { username, password } = new URL(url.split(',')[0] ?? '')
  const servers = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`)
  const client = await connectClient({ servers, user: username, pass: password, inboxPrefix })
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

/** A database, three servers, events that happen, and a publisher as a worker runs it. */
export function useEventStream() {
  const database = useDatabase()
  const cluster = useNats()
  let opened: { db: Database; api: Database; nats: Nats } | undefined
  let stops: (() => Promise<void>)[] = []

  beforeAll(() => {
    const open = (role: 'florin_worker' | 'florin_api') =>
      connect({ url: database.url(role), applicationName: 'test', poolSize: 5, onError: () => undefined })
    const nats = connectNats({ url: cluster().eventsUrl, setting: 'FLORIN_EVENT_STREAM_URL', name: 'test', log })
    opened = { db: open('florin_worker'), api: open('florin_api'), nats }
  })
  afterEach(async () => {
    await Promise.all(stops.map((stop) => stop()))
    stops = []
    await database.query('delete from event_stream_queue; delete from event_queue')
  })
  afterAll(async () => {
    await Promise.all([opened?.nats.close(), opened?.db.close(), opened?.api.close()])
  })

  function now() {
    if (!opened) throw new Error('it starts with the tests')
    return opened
  }

  const happen = (account: string | null = 'default') =>
    transact({ db: now().api, accounts: 'all' as const }, async (ctx) => {
      const target = { type: 'buyer', id: newId() } as EventTarget<'buyer.created'>
      await emit(ctx, 'buyer.created', { target, merchantAccountId: account, sequence: 1 })
    })
  const relayAll = () =>
    relay(now().db, { limit: 10_000, now: new Date(), leaseMs: 1_000, wants: () => false, forStream: true })
  const stream = (over: Nats = now().nats) => createEventStream({ nats: over, limits, source: streamSource })
  const ids = async (statement: string) =>
    (await database.query<{ id: string }>(statement)).map(({ id }: { id: string }) => id)
  const waiting = () => ids('select event_id as id from event_stream_queue order by event_id')
  const events = () => ids('select id from events order by id')

  async function readStream(): Promise<Stored[]> {
    return await withClient(cluster(), cluster().eventsUrl, async (client) => {
      const { state } = await (await jetstreamManager(client, { checkAPI: false })).streams.info(streamName)
      const stored: Stored[] = []
      if (state.messages === 0) return stored
      for await (const message of await (await jetstream(client).consumers.get(streamName)).consume()) {
        const id = message.headers?.get('Nats-Msg-Id') ?? ''
        stored.push({ subject: message.subject, id, text: message.string() })
        if (message.seq === state.last_seq) break
      }
      return stored
    })
  }

  return {
    database,
    cluster,
    now,
    happen,
    relayAll,
    stream,
    waiting,
    readStream,
    storedIds: async () => (await readStream()).map(({ id }) => id),
    allPublished: () => until(async () => (await waiting()).length === 0),
    /** Events that happen, to accounts in turn, and are relayed. */
    async relayed(count: number, accounts: readonly string[] = ['default']): Promise<void> {
      for (let index = 0; index < count; index += 1) await happen(accounts[index % accounts.length])
      await relayAll()
    },
    /** The ids of events that happen from now on, in their order. */
    async counting(): Promise<() => Promise<string[]>> {
      const before = new Set(await events())
      return async () => (await events()).filter((id) => !before.has(id))
    },
    rowsOf: (which: readonly string[]) =>
      database.query<EventRow>(
        'select id, merchant_account_id, name, target, created_at from events where id = any($1) order by id',
        [which],
      ),
    publish(to: EventStream = stream()): { stop(): Promise<void> } {
      const stopping = new AbortController()
      const context = { db: now().db, now: () => new Date(), clocks: realClocks, log, signal: stopping.signal }
      const running = publishEvents(to, () => undefined).run(context, {})
      const stop = async () => {
        stopping.abort()
        await running
      }
      stops.push(stop)
      return { stop }
    },
  }
}
