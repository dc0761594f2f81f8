import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { partitionOf } from '../src/event-stream/subject.ts'
import { until, withClient } from './event-stream.ts'
import { type NatsCluster, startNats, useNats } from './nats.ts'

/* What somebody can do who has the password of a reader, with the accounts that we recommend, and with worse ones. */

const cluster = useNats()
const root = join(import.meta.dirname, '..')
const accounts = readFileSync(join(root, 'docs/nats/accounts.conf'), 'utf8')
const patience = { timeout: 240_000 }
const inbox = '_INBOX_READER'
const eventsStream = { name: 'FLORIN_EVENTS', subjects: ['florin.events.>'] }
const laneStream = { name: 'FLORIN_LANE_0', subjects: ['florin.lane.0'], retention: 'workqueue' as const }
const fewEvents = 20

/** Both streams as workers make them, with something in them. Servers that elect a leader refuse at first. */
async function fill(client: NatsConnection, stream: typeof eventsStream, subject: string): Promise<JetStreamManager> {
  const manager = await jetstreamManager(client, { checkAPI: false })
  await until(
    async () => (await manager.streams.add({ ...stream, num_replicas: 3 }).catch(() => undefined)) !== undefined,
  )
  for (let index = 0; index < fewEvents; index += 1) {
    const body = JSON.stringify({ id: String(index), name: 'buyer.created', merchant_account_id: 'default' })
    const put = () => jetstream(client).publish(subject, body, { msgID: `${stream.name}-${index}` })
    await until(() =>
      put().then(
        () => true,
        () => false,
      ),
    )
  }
  return manager
}

/** The last ones leave nothing to try the others on. */
const calls = [
  'STREAM.MSG.GET.',
  'DIRECT.GET.',
  'STREAM.CREATE.',
  'STREAM.SNAPSHOT.',
  'STREAM.MSG.DELETE.',
  'STREAM.UPDATE.',
  'STREAM.PURGE.',
  'STREAM.DELETE.',
  'STREAM.LEADER.STEPDOWN.',
].flatMap((call) => [`${call}FLORIN_EVENTS`, `${call}FLORIN_LANE_0`])
const others = [
  'STREAM.INFO.FLORIN_LANE_0',
  'CONSUMER.CREATE.FLORIN_LANE_0.mine',
  'CONSUMER.DURABLE.CREATE.FLORIN_LANE_0.mine',
  'CONSUMER.MSG.NEXT.FLORIN_LANE_0.dispatchers',
  'CONSUMER.DELETE.FLORIN_EVENTS.another',
  'STREAM.NAMES',
  'STREAM.LIST',
  'INFO',
]
const bodies: Record<string, object> = {
  'STREAM.UPDATE.FLORIN_EVENTS': { ...eventsStream, num_replicas: 3, max_msgs: 1 },
  'STREAM.MSG.DELETE.FLORIN_EVENTS': { seq: 1 },
  'STREAM.MSG.DELETE.FLORIN_LANE_0': { seq: 1 },
  'STREAM.MSG.GET.FLORIN_LANE_0': { seq: 1 },
}
const subjects = ['>', '_INBOX.>', '_INBOX_OTHER.>', 'florin.>', '$JS.>', '$SYS.>']
/** Where answers are wanted that are not the reader's. */
const elsewhere = ['florin.lane.0', '_INBOX.victim', 'florin.events.0.x.y', '$JS.API.STREAM.PURGE.FLORIN_LANE_0']

/** Everything that a reader gets done and must not, in words. */
async function intrusions(nats: NatsCluster, api = 'EVENTS.API'): Promise<string[]> {
  const done: string[] = []
  await withClient(nats, nats.url, (florin) =>
    withClient(nats, nats.eventsUrl, async (events) => {
      const managers = {
        FLORIN_EVENTS: await fill(events, eventsStream, 'florin.events.0.default.buyer.created'),
        FLORIN_LANE_0: await fill(florin, laneStream, 'florin.lane.0'),
      }
      const heard = florin.subscribe('_INBOX.victim', { callback: () => void done.push('the inbox of a worker') })
      const look = async () =>
        await Promise.all(
          Object.entries(managers).map(async ([name, manager]) => {
            const found = await manager.streams.info(name).catch(() => undefined)
            return `${name}: ${found?.state.messages ?? 'gone'} of ${found?.config.max_msgs ?? 0}`
          }),
        )
      const before = await look()
      await withClient(
        nats,
        nats.readerUrl,
        async (reader) => {
          await subscribeTo(reader, done)
          await answersElsewhere(reader, api, done)
          await publishTo(reader, done)
          await call(reader, api, done)
        },
        inbox,
      )
      await florin.flush()
      for (const line of await look()) if (!before.includes(line)) done.push(`changed: ${line}`)
      heard.unsubscribe()
    }),
  )
  return [...new Set(done)]
}

async function subscribeTo(reader: NatsConnection, done: string[]): Promise<void> {
  for (const subject of subjects) {
    let isRefused = false
    const subscription = reader.subscribe(subject, { callback: (error) => void (isRefused ||= error !== null) })
    await reader.flush()
    // The refusal comes before the answer to the flush.
    await new Promise((resolve) => setImmediate(resolve))
    if (!isRefused) done.push(`subscribed to ${subject}`)
    subscription.unsubscribe()
  }
}

const answered = async (reader: NatsConnection, subject: string, body: object) => {
  try {
    const answer = await reader.request(subject, JSON.stringify(body), { timeout: 1_500 })
    return answer.json<{ error?: unknown }>()
  } catch {
    return { error: 'refused, or nobody is there' }
  }
}

async function publishTo(reader: NatsConnection, done: string[]): Promise<void> {
  for (const subject of ['florin.events.0.default.buyer.created', 'florin.lane.0']) {
    if (!(await answered(reader, subject, {})).error) done.push(`published to ${subject}`)
  }
}

async function call(reader: NatsConnection, api: string, done: string[]): Promise<void> {
  for (const prefix of new Set([api, '$JS.API'])) {
    for (const name of [...others, ...calls]) {
      const { error } = await answered(reader, `${prefix}.${name}`, bodies[name] ?? {})
      if (!error) done.push(`called ${name}`)
    }
  }
}

/** Pulls, and push consumers, that name somebody else's address. What they are answered with is no matter: what arrives there is. */
async function answersElsewhere(reader: NatsConnection, api: string, done: string[]): Promise<void> {
  const make = (name: string, config: object) =>
    answered(reader, `${api}.CONSUMER.CREATE.FLORIN_EVENTS.${name}`, {
      stream_name: 'FLORIN_EVENTS',
      config: { name, durable_name: name, deliver_policy: 'all', ...config },
    })
  const made = await make('mine', { ack_policy: 'explicit' })
  if (made.error) throw new Error(`a reader must be able to make a consumer: ${JSON.stringify(made.error)}`)
  for (const [index, address] of elsewhere.entries()) {
    const pull = JSON.stringify({ batch: 2, no_wait: true })
    reader.publish(`${api}.CONSUMER.MSG.NEXT.FLORIN_EVENTS.mine`, pull, { reply: address })
    await make(`push-${index}`, { ack_policy: 'none', deliver_subject: address })
  }
  // The next answer comes after those to all of that.
  const next = await answered(reader, `${api}.CONSUMER.INFO.FLORIN_EVENTS.mine`, {})
  if (next.error) done.push('nothing more is answered')
}

test(
  'a reader can do nothing but read: not publish, change, delete, see other streams, or have answers sent to others',
  patience,
  async () => {
    expect(await intrusions(cluster())).toEqual([])
  },
)

/** As if the whole API had been exported. */
const tooWide = accounts
  .replace(
    '{ service: "$JS.API.STREAM.INFO.FLORIN_EVENTS", accounts: [READERS] }',
    '{ service: "$JS.API.>", accounts: [READERS] }',
  )
  .replace(
    '{ service: { account: EVENTS, subject: "$JS.API.STREAM.INFO.FLORIN_EVENTS" }, to: "EVENTS.API.STREAM.INFO.FLORIN_EVENTS" }',
    '{ service: { account: EVENTS, subject: "$JS.API.>" }, to: "EVENTS.API.>" }',
  )

/** The reader beside the workers, with permissions for the calls of its stream alone. */
const together = `accounts { FLORIN { jetstream: enabled, users: [
  { user: florin, password: $NATS_FLORIN_PASSWORD }
  { user: events, password: $NATS_EVENTS_PASSWORD }
  { user: reader, password: $NATS_READER_PASSWORD, permissions: {
    publish: ["$JS.API.STREAM.INFO.FLORIN_EVENTS", "$JS.API.CONSUMER.CREATE.FLORIN_EVENTS.>", "$JS.API.CONSUMER.INFO.FLORIN_EVENTS.*"
      "$JS.API.CONSUMER.MSG.NEXT.FLORIN_EVENTS.*", "$JS.ACK.FLORIN_EVENTS.>"]
    subscribe: ["_INBOX_READER.>"] } } ] } }`

async function intrusionsWith(text: string, api?: string): Promise<string[]> {
  expect(text).not.toBe(accounts)
  const worse = await startNats({ accounts: text })
  try {
    return await intrusions(worse, api)
  } finally {
    await worse.stop()
  }
}

test('these attempts notice an export that is too wide', patience, async () => {
  const done = await intrusionsWith(tooWide)
  expect(done).toContain('called STREAM.NAMES')
  expect(done).toContain('called STREAM.PURGE.FLORIN_EVENTS')
  expect(done).toContain('changed: FLORIN_EVENTS: gone of 0')
})

test(
  'these attempts notice a reader in the account of the workers, whose answers go where it likes',
  patience,
  async () => {
    const done = await intrusionsWith(together, '$JS.API')
    expect(done).toContain('the inbox of a worker')
    expect(done.filter((line) => line.startsWith('changed: FLORIN_LANE_0')).length).toBe(1)
  },
)

test('the example of docs/event-stream.md reads what a reader may read', patience, async () => {
  const example = /```js\n(.*?)```/s.exec(readFileSync(join(root, 'docs/event-stream.md'), 'utf8'))?.[1] ?? ''
  const nats = cluster()
  await withClient(nats, nats.eventsUrl, async (events) => {
    await fill(events, eventsStream, `florin.events.${partitionOf('default')}.default.buyer.created`)
    const body = JSON.stringify({ id: 'e1', name: 'transaction.captured', merchant_account_id: 'default' })
    await jetstream(events).publish(`florin.events.${partitionOf('default')}.default.transaction.captured`, body)
  })
  const child = spawn(process.execPath, ['--input-type=module', '--eval', example], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      EVENTS_SERVERS: nats.nodes.map(({ port }) => `127.0.0.1:${port}`).join(','),
      EVENTS_PASSWORD: new URL(nats.readerUrl.split(',')[0] ?? '').password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    const first = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line))
    const died = ended.then(() => 'it ended without having read anything')
    expect(await Promise.race([first, died])).toBe('e1 transaction.captured default')
  } finally {
    child.kill()
    await ended
  }
})
