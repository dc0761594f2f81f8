import {
  type Consumer,
  type ConsumerConfig,
  type ConsumerMessages,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type JsMsg,
  type StreamConfig,
} from '@nats-io/jetstream'
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from './log.ts'

/** One connection to NATS. Nothing that must not be lost is only there, so every call may fail and none waits for ever. */
export interface Nats {
  /** False while no server answers. */
  isConnected(): boolean
  /** Makes the stream unless there is one of that name. One that is configured otherwise stays as it is, and the log says so. */
  ensureStream(config: WantedStream): Promise<void>
  ensureConsumer(stream: string, config: WantedConsumer): Promise<void>
  /**
   * Ends when a majority has stored it. The same id is stored once within the stream's duplicate window. With `after`, only as the message that follows
   * the one with that number.
   */
  publish(subject: string, text: string, options: PublishOptions): Promise<void>
  /** Messages as they come, until `most` have or nothing is to be waited for any more. */
  pull(
    stream: string,
    consumer: string,
    options: { most: number; forMs: number; signal: AbortSignal },
  ): AsyncIterable<Message>
  /** The number of the last message of a stream, and the ids of the last ones, `most` at most. */
  readEnd(stream: string, most: number): Promise<{ last: number; ids: string[] }>
  /** How many messages a stream holds. */
  count(stream: string): Promise<number>
  close(): Promise<void>
}

export type WantedStream = Partial<StreamConfig> & Pick<StreamConfig, 'name'>
export type WantedConsumer = Partial<ConsumerConfig> & { durable_name: string }

export interface PublishOptions {
  id: string
  after?: number
  timeoutMs: number
}

export interface Message {
  text: string
  /** It is done with, and removed. */
  acknowledge(): void
  /** Somebody else may have it at once. */
  giveBack(): void
}

export interface NatsOptions {
  /** Several servers of one cluster, separated by commas. */
  url: string
  /** Where the url comes from. */
  setting: string
  name: string
  log: Log
}

interface Current {
  connection: NatsConnection
  streams: JetStreamClient
  manager: JetStreamManager
  /** By stream and name; asking for one costs a call. */
  consumers: Map<string, Consumer>
}

/** A call to the servers other than publishing. */
const callMs = 5_000
const flushMs = 1_000
const betweenTriesMs = 500
/** A pull that the servers have forgotten ends by itself that much later. */
const graceMs = 2_000

/** Connects in the background, again and again. */
export function connectNats({ url, setting, name, log }: NatsOptions): Nats {
  const options = connectionOptions(url, name)
  const stopping = new AbortController()
  let current: Current | undefined
  let isUp = false

  async function keepConnected(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const connection = await connect(options)
        const manager = await jetstreamManager(connection, { checkAPI: false, timeout: callMs })
        current = { connection, manager, streams: jetstream(connection, { timeout: callMs }), consumers: new Map() }
        isUp = true
        log.info('connected to NATS')
        if (stopping.signal.aborted) await connection.close()
        await watch(connection)
      } catch (error) {
        log.warn(
          `NATS cannot be reached; everything goes on without it. See that ${setting} is right and the servers run`,
          { error },
        )
      }
      isUp = false
      await sleep(betweenTriesMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  /** Until it is closed. */
  async function watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'reconnect') {
        isUp = true
        log.info('connected to NATS again')
      } else if (type === 'disconnect') {
        isUp = false
        if (!stopping.signal.aborted) log.warn('the connection to NATS was lost; everything goes on without it')
      }
    }
  }

  function now() {
    if (!current || !isUp) throw new Error('not connected to NATS')
    return current
  }

  const running = keepConnected()
  return {
    isConnected: () => isUp,
    async ensureStream(config) {
      const { streams } = now().manager
      const found = await streams.info(config.name).catch(absent)
      const { config: is } = found ?? (await streams.add(config))
      tellDifference(log, `stream ${config.name}`, config, is)
    },
    async ensureConsumer(stream, config) {
      const { consumers } = now().manager
      const found = await consumers.info(stream, config.durable_name).catch(absent)
      const { config: is } = found ?? (await consumers.add(stream, config))
      tellDifference(log, `consumer ${config.durable_name} of stream ${stream}`, config, is)
    },
    async publish(subject, text, { id, after, timeoutMs }) {
      const expect = after === undefined ? {} : { lastSequence: after }
      await now().streams.publish(subject, text, { msgID: id, timeout: timeoutMs, expect })
    },
    async *pull(stream, consumer, { most, forMs, signal }) {
      const { streams, consumers } = now()
      const key = `${stream} ${consumer}`
      const source = consumers.get(key) ?? (await streams.consumers.get(stream, consumer))
      consumers.set(key, source)
      const messages = await source.fetch({ max_messages: most, expires: forMs })
      yield* until(messages, forMs + graceMs, signal)
    },
    async readEnd(stream, most) {
      const { streams } = now().manager
      const { last_seq: last, messages: stored } = (await streams.info(stream)).state
      const count = Math.min(most, stored)
      const messages = await Promise.all(
        Array.from({ length: count }, (_, index) => streams.getMessage(stream, { seq: last - index })),
      )
      return { last, ids: messages.flatMap((message) => message?.header.get('Nats-Msg-Id') || []) }
    },
    async count(stream) {
      return (await now().manager.streams.info(stream)).state.messages
    },
    async close() {
      stopping.abort()
      // What was acknowledged a moment ago is still on its way.
      if (current && isUp) await Promise.race([current.connection.flush().catch(() => undefined), sleep(flushMs)])
      await current?.connection.close()
      await running
    },
  }
}

async function* until(messages: ConsumerMessages, ms: number, signal: AbortSignal): AsyncIterable<Message> {
  const end = () => messages.stop()
  const timer = setTimeout(end, ms)
  signal.addEventListener('abort', end, { once: true })
  try {
    for await (const message of messages) yield toMessage(message)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    messages.stop()
  }
}

const toMessage = (message: JsMsg): Message => ({
  text: message.string(),
  acknowledge: () => message.ack(),
  giveBack: () => message.nak(),
})

function connectionOptions(url: string, name: string): ConnectionOptions {
  const urls = url.split(',').map((one) => new URL(one.trim()))
  const [{ username, password, protocol } = new URL(url)] = urls
  return {
    servers: urls.map(({ host }) => host),
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(protocol === 'tls:' && { tls: {} }),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    // Otherwise a password that is wrong for a moment would end it for good.
    ignoreAuthErrorAbort: true,
    pingInterval: 2_000,
    maxPingOut: 2,
    timeout: callMs,
  }
}

/** Neither: 404 is an answer, everything else a failure. */
function absent(error: unknown): undefined {
  if (error instanceof JetStreamApiError && error.status === 404) return undefined
  throw error
}

function tellDifference(log: Log, what: string, wanted: object, is: object): void {
  const found = is as Record<string, unknown>
  const differing = Object.entries(wanted).filter(
    ([key, value]) => JSON.stringify(found[key]) !== JSON.stringify(value),
  )
  if (differing.length === 0) return
  log.warn(
    `the ${what} in NATS is not configured as this version wants it (${differing.map(([key, value]) => `${key}: ${JSON.stringify(found[key])} instead of ${JSON.stringify(value)}`).join(', ')}). ` +
      'It works on; to change it, see docs/runbooks/nats.md',
  )
}
