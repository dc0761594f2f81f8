import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createLog } from '../src/platform/log.ts'
import { connectNats } from '../src/platform/nats.ts'
import { connect } from '../src/platform/postgres.ts'
import { createAuthentication } from '../src/webhooks/authentication.ts'
import { type LaneEvent, type Sent, startDispatcher } from '../src/webhooks/dispatcher.ts'
import { createOutbound } from '../src/webhooks/outbound.ts'
import { createSender } from '../src/webhooks/sender.ts'
import type { EndpointRow, EventRow } from '../src/webhooks/store.ts'

/**
 * The sender of webhooks in a process of its own, as the worker runs it, but for the vault: all subscriptions have one secret. Says over IPC what it
 * has used so far.
 */
export interface DispatcherTotals {
  /** Round trips to PostgreSQL. */
  statements: number
  attempts: number
  /** On their way at this moment. */
  sending: number
  cpuMs: number
  memoryBytes: number
  /** The most since the last question. */
  peakMemoryBytes: number
  /** What became of deliveries with the lane. */
  lane: Record<LaneEvent, number>
}

let [statements, attempts, sending, peakMemoryBytes] = [0, 0, 0, 0]

const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  statements += 1
  return query.apply(this, args)
} as typeof pg.Client.prototype.query

const db = connect({
  url: process.env['DATABASE_URL'] ?? '',
  applicationName: 'webhooks',
  poolSize: 10,
  onError: () => undefined,
})
const outbound = createOutbound({ allowLoopback: true })
const post = createSender({
  outbound,
  secretsOf: async () => ({
    signing: [`whsec_${Buffer.alloc(32).toString('base64')}`],
    password: null,
    clientSecret: null,
  }),
  authentication: createAuthentication({ outbound, now: () => new Date() }),
  source: { instance: 'bench', environment: 'sandbox' },
  prefix: 'X-Service-',
  now: () => new Date(),
})

async function send(endpoint: EndpointRow, event: EventRow): Promise<Sent> {
  attempts += 1
  sending += 1
  try {
    return await post(endpoint, event)
  } finally {
    sending -= 1
  }
}

const log = createLog({ level: 'warn', process: 'webhooks' })
const natsUrl = process.env['NATS_URL']
const nats =
  natsUrl === undefined ? undefined : connectNats({ url: natsUrl, setting: 'NATS_URL', name: 'webhooks', log })
const lane = { published: 0, given_back: 0, dropped: 0, reconciled: 0 }
const dispatcher = startDispatcher({
  db,
  nats,
  send,
  now: () => new Date(),
  log,
  onLane: (what, count) => (lane[what] += count),
})
while (nats && !dispatcher.isLaneOpen()) await sleep(50)

const watchMemory = () => (peakMemoryBytes = Math.max(peakMemoryBytes, process.memoryUsage.rss()))
setInterval(watchMemory, 50)

process.on('message', () => {
  watchMemory()
  const { user, system } = process.cpuUsage()
  const totals: DispatcherTotals = {
    statements,
    attempts,
    sending,
    cpuMs: (user + system) / 1000,
    memoryBytes: process.memoryUsage.rss(),
    peakMemoryBytes,
    lane,
  }
  process.send?.(totals)
  peakMemoryBytes = 0
})

async function end(): Promise<void> {
  await dispatcher.stop()
  await nats?.close()
  outbound.close()
  await db.close()
  process.exit(0)
}
process.once('SIGTERM', () => void end())
// Nobody is left to stop it.
process.once('disconnect', () => process.exit(1))
process.send?.('started')
