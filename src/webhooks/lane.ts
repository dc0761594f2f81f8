import { setTimeout as sleep } from 'node:timers/promises'
import { failpoint } from '../platform/failpoint.ts'
import type { Log } from '../platform/log.ts'
import type { Message, Nats } from '../platform/nats.ts'
import type { Leased } from './endpoint.ts'
import type { Due } from './store.ts'

/**
 * First attempts go from the process that makes deliveries to one that has room for them through NATS. Rows remain the truth: a message is
 * worth as much as the lease in it, and whatever happens to it, its row is due when the lease is over.
 */
export interface Lane {
  /** Whether deliveries may be put in now. */
  isOpen(): boolean
  /** When it is open for the first time, or cannot be waited for. */
  opening(): Promise<unknown>
  /** Those that may not have arrived there. */
  put(deliveries: readonly Leased[]): Promise<Leased[]>
  /** Takes nothing more out. */
  stop(): Promise<void>
}

export interface LaneOptions {
  nats: Nats
  log: Log
  /** False: this process has it already, and its acknowledgement will do for both. */
  take: (delivery: Leased) => boolean
}

/** How long a delivery may be in the lane and in the hands of whoever takes it out. */
export const laneLeaseMs = 30_000

const second = 1_000_000_000
const megabyte = 1024 * 1024
const consumer = 'dispatchers'
const consumerConfig = {
  durable_name: consumer,
  ack_policy: 'explicit',
  // Longer than the lease: what comes again later than that is dropped.
  ack_wait: 40 * second,
  max_deliver: -1,
  max_ack_pending: 10_000,
} as const

/** Their number is fixed: what differs between versions could not be changed while both run. */
export const laneStreams = [0, 1, 2, 3].map((index) => ({
  name: `FLORIN_LANE_${index}`,
  subjects: [`florin.lane.${index}`],
  retention: 'workqueue' as const,
  storage: 'file' as const,
  num_replicas: 3,
  // When it is full nothing more gets in, and rows take over.
  discard: 'new' as const,
  max_bytes: 256 * megabyte,
  max_age: 60 * second,
  duplicate_window: 60 * second,
}))

/** Of each stream, in this process. */
const mostInHand = 256
const publishedTogether = 1_000
const publishMs = 5_000
const pullMs = 5_000
const retryMs = 500
const idleMs = 10
const openMs = 50
/** At the start: what NATS would be too slow for goes without it. */
const mostOpeningMs = 3_000

export function startLane({ nats, log, take }: LaneOptions): Lane {
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined)
  let isPrepared = false
  const opened = Promise.withResolvers<void>()

  function giveUp(doing: string, error: unknown): void {
    if (isPrepared && !signal.aborted) log.warn(`${doing}; webhooks go on without NATS until it answers`, { error })
    isPrepared = false
  }

  /** Makes what is missing: at first, and when the servers have lost everything. */
  async function prepare(): Promise<void> {
    await Promise.all(
      laneStreams.map(async (stream) => {
        await nats.ensureStream(stream)
        await nats.ensureConsumer(stream.name, consumerConfig)
      }),
    )
    if (!isPrepared) log.info('first attempts of webhooks go through NATS')
    isPrepared = true
    opened.resolve()
  }

  async function keepPrepared(): Promise<void> {
    while (!signal.aborted) {
      if (!nats.isConnected()) isPrepared = false
      // Servers that have just come up need a moment; what is really wrong shows in `nats.isConnected` and in the metrics.
      else if (!isPrepared) await prepare().catch((error: unknown) => log.debug('streams are not there yet', { error }))
      await pause(isPrepared ? retryMs : openMs)
    }
  }

  async function keepTaking(stream: string): Promise<void> {
    const hand = { held: 0 }
    while (!signal.aborted) {
      const most = mostInHand - hand.held
      if (!isPrepared || most === 0) {
        await pause(isPrepared ? idleMs : openMs)
        continue
      }
      try {
        for await (const message of nats.pull(stream, consumer, { most, forMs: pullMs, signal })) {
          await failpoint('lane: received')
          receive(message, hand)
        }
      } catch (error) {
        giveUp('deliveries cannot be taken out of the lane', error)
      }
    }
  }

  function receive(message: Message, hand: { held: number }): void {
    const delivery = read(message.text)
    // Of another version. Its row is due when its lease is over.
    if (!delivery) return message.acknowledge()
    hand.held += 1
    const acknowledge = () => {
      hand.held -= 1
      message.acknowledge()
    }
    if (!take({ ...delivery, acknowledge })) hand.held -= 1
  }

  const loops = [keepPrepared(), ...laneStreams.map(({ name }) => keepTaking(name))]

  return {
    isOpen: () => isPrepared && nats.isConnected(),
    opening: () => Promise.race([opened.promise, pause(mostOpeningMs)]),
    async put(deliveries) {
      const failed: Leased[] = []
      const putOne = async (delivery: Leased) => {
        try {
          await nats.publish(subjectOf(delivery), write(delivery), { id: delivery.id, timeoutMs: publishMs })
        } catch (error) {
          giveUp('deliveries cannot be put into the lane', error)
          failed.push(delivery)
        }
      }
      for (let from = 0; from < deliveries.length; from += publishedTogether) {
        const some = deliveries.slice(from, from + publishedTogether)
        if (isPrepared) await Promise.all(some.map(putOne))
        else failed.push(...some)
      }
      await failpoint('lane: published')
      return failed
    },
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

/** All of one subscription in one stream, so that few are held up by what is the matter with it. */
const subjectOf = ({ subscription_id: id }: Due) =>
  `florin.lane.${Number.parseInt(id.slice(-2), 16) % laneStreams.length}`

const write = ({ acknowledge: _acknowledge, ...delivery }: Leased): string => JSON.stringify(delivery)

function read(text: string): Leased | undefined {
  try {
    const { expires_at: expiresAt, event, ...delivery } = JSON.parse(text) as Leased
    return {
      ...delivery,
      expires_at: new Date(expiresAt),
      event: { ...event, created_at: new Date(event.created_at) },
    }
  } catch {
    return undefined
  }
}
