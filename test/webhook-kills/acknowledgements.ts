import { connect, type Msg } from '@nats-io/transport-node'
import { setTimeout as sleep } from 'node:timers/promises'
import { deadlineMs } from '../../src/webhooks/dispatcher.ts'

interface Seen {
  id: string
  leaseUntil: number
}

type Query = (text: string, values: unknown[]) => Promise<{ id: string }[]>

/**
 * Listens to everything that is said about the messages of the lane. One is acknowledged early when its row still says that it has to be sent:
 * nobody has written down what became of it, nobody has given it back, and its lease is not over.
 */
export async function watchAcknowledgements(natsUrl: string, query: Query) {
  const urls = natsUrl.split(',').map((one) => new URL(one))
  const connection = await connect({
    servers: urls.map(({ host }) => host),
    user: urls[0]?.username ?? '',
    pass: urls[0]?.password ?? '',
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
  })
  const handedOut = new Map<string, Seen>()
  let unchecked: Seen[] = []
  const counts = { acknowledged: 0, acknowledged_early: 0 }

  /** `$JS.ACK.<stream>.<consumer>.<times>.<sequence>…`: the same for a message and for what is said about it. */
  const keyOf = (subject: string) => {
    const [, , stream, , , sequence] = subject.split('.')
    return `${stream} ${sequence}`
  }
  connection.subscribe('_INBOX.>', {
    callback: (_error, message: Msg) => {
      if (!message.reply?.startsWith('$JS.ACK.FLORIN_LANE_')) return
      const { id, leaseUntil } = message.json<Seen>()
      handedOut.set(keyOf(message.reply), { id, leaseUntil })
    },
  })
  connection.subscribe('$JS.ACK.>', {
    callback: (_error, message: Msg) => {
      const seen = handedOut.get(keyOf(message.subject))
      if (!seen || (message.data.length > 0 && message.string() !== '+ACK')) return
      counts.acknowledged += 1
      if (Date.now() < seen.leaseUntil - deadlineMs) unchecked.push(seen)
    },
  })
  await connection.flush()

  async function check(): Promise<void> {
    const batch = unchecked
    if (batch.length === 0) return
    const early = await query(
      `select delivery.id from webhook_deliveries as delivery, unnest($1::uuid[], $2::timestamptz[]) as seen (id, lease_until)
       where delivery.id = seen.id and status = 'pending' and attempts = 0 and next_attempt_at = seen.lease_until`,
      [batch.map(({ id }) => id), batch.map(({ leaseUntil }) => new Date(leaseUntil))],
    )
    counts.acknowledged_early += early.length
    unchecked = unchecked.slice(batch.length)
  }

  const stopping = new AbortController()
  const checking = (async () => {
    while (!stopping.signal.aborted) {
      // While the database is away it is asked again.
      await check().catch(() => undefined)
      await sleep(20, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  })()
  return {
    counts,
    async close(): Promise<void> {
      if (stopping.signal.aborted) return
      stopping.abort()
      await checking
      try {
        await check()
      } finally {
        await connection.close()
      }
    },
  }
}
