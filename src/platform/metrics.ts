import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { Database } from './postgres.ts'

export interface HttpMetrics {
  observeRequest(operation: string, status: number, seconds: number): void
}

export interface VaultKeyUse {
  version: number
  state: string
  /** About: counted by every vault and added up every few seconds. */
  encryptions: number
}

export interface WebhookAttempt {
  outcome: 'succeeded' | 'failed'
  seconds: number
  /** From the event to its first attempt. */
  lagSeconds: number | undefined
}

export interface Metrics extends HttpMetrics {
  observeVerification(seconds: number, accepted: boolean): void
  observeJob(kind: string, outcome: 'succeeded' | 'failed', seconds: number): void
  observeWebhook(attempt: WebhookAttempt): void
  /** How long, in seconds, the oldest event waits for its deliveries and the oldest delivery that is due for its attempt. */
  watchWebhooks(ages: () => Promise<{ queued: number; overdue: number }>): void
  /** For how many seconds the oldest job and the oldest question to a provider have been due. */
  watchWork(due: () => Promise<{ job: number; outcome: number }>): void
  /** What became of deliveries with a lane. */
  countLane(what: string, deliveries: number): void
  /** Undefined where the servers do not say. */
  watchLane(
    state: () => Promise<{ isOpen: boolean; pending: readonly { stream: string; count: number | undefined }[] }>,
  ): void
  countStreamed(events: number): void
  /** What waits for the stream of events, and how many seconds the oldest of it has. */
  watchEventStream(state: () => Promise<{ isConnected: boolean; waiting: number; oldest: number }>): void
  /** The log's scrubber had to mask a card number. Anything but zero is a bug to hunt. */
  countScrub(): void
  watchPool(database: Database): void
  watchVaultKeys(keys: () => readonly VaultKeyUse[]): void
  render(): Promise<string>
  contentType: string
}

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Labels are operations, statuses and kinds: never ids. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'florin_http_request_duration_seconds',
    help: 'Time from the request to the end of the answer.',
    labelNames: ['operation', 'status'],
    buckets: requestBuckets,
    registers,
  })
  const verifications = new Histogram({
    name: 'florin_token_verification_duration_seconds',
    help: 'Time a token signature took to check; tokens seen before are not checked again.',
    labelNames: ['accepted'],
    buckets: requestBuckets,
    registers,
  })
  const jobs = new Histogram({
    name: 'florin_job_duration_seconds',
    help: 'Time a run of a job took.',
    labelNames: ['kind', 'outcome'],
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers,
  })
  const attempts = new Histogram({
    name: 'florin_webhook_attempt_duration_seconds',
    help: 'Time an attempt to deliver a webhook took.',
    labelNames: ['outcome'],
    buckets: requestBuckets,
    registers,
  })
  const lags = new Histogram({
    name: 'florin_webhook_lag_seconds',
    help: 'Time from an event to the first attempt to deliver it.',
    buckets: requestBuckets,
    registers,
  })
  const laned = new Counter({
    name: 'florin_webhook_lane_deliveries_total',
    help: 'Deliveries put into the lane (published), given back to their rows (given_back), dropped because their lease was over (dropped), and claimed for a first attempt from a row that was due (reconciled).',
    labelNames: ['outcome'],
    registers,
  })
  const streamed = new Counter({
    name: 'florin_event_stream_published_total',
    help: 'Events that the stream for other systems has acknowledged.',
    registers,
  })
  const scrubbed = new Counter({
    name: 'florin_log_lines_scrubbed_total',
    help: 'Log lines in which something like a card number was masked.',
    registers,
  })
  return {
    observeRequest: (operation, status, seconds) => requests.observe({ operation, status: String(status) }, seconds),
    observeVerification: (seconds, accepted) => verifications.observe({ accepted: String(accepted) }, seconds),
    observeJob: (kind, outcome, seconds) => jobs.observe({ kind, outcome }, seconds),
    observeWebhook({ outcome, seconds, lagSeconds }) {
      attempts.observe({ outcome }, seconds)
      if (lagSeconds !== undefined) lags.observe(lagSeconds)
    },
    watchWebhooks(ages) {
      new Gauge({
        name: 'florin_webhook_oldest_seconds',
        help: 'Age of the oldest event without deliveries (queued), and of the oldest delivery that is due and not sent (overdue).',
        labelNames: ['state'],
        registers,
        async collect() {
          const { queued, overdue } = await ages()
          this.set({ state: 'queued' }, queued)
          this.set({ state: 'overdue' }, overdue)
        },
      })
    },
    watchWork(due) {
      new Gauge({
        name: 'florin_due_seconds',
        help: 'For how long the oldest job (job) and the oldest question to a provider about an open payment (outcome) have been due.',
        labelNames: ['work'],
        registers,
        async collect() {
          const { job, outcome } = await due()
          this.set({ work: 'job' }, job)
          this.set({ work: 'outcome' }, outcome)
        },
      })
    },
    countLane: (outcome, deliveries) => laned.inc({ outcome }, deliveries),
    watchLane(state) {
      const open = new Gauge({
        name: 'florin_webhook_lane_open',
        help: 'Whether first attempts of webhooks go through NATS now; otherwise they are sent from PostgreSQL alone.',
        registers,
      })
      new Gauge({
        name: 'florin_webhook_lane_pending',
        help: 'Deliveries in a stream of the lane.',
        labelNames: ['stream'],
        registers,
        async collect() {
          const { isOpen, pending } = await state()
          open.set(isOpen ? 1 : 0)
          this.reset()
          for (const { stream, count } of pending) if (count !== undefined) this.set({ stream }, count)
        },
      })
    },
    countStreamed: (events) => streamed.inc(events),
    watchEventStream(state) {
      const connected = new Gauge({
        name: 'florin_event_stream_connected',
        help: 'Whether this process is connected to the NATS of the event stream.',
        registers,
      })
      const oldest = new Gauge({
        name: 'florin_event_stream_oldest_seconds',
        help: 'Age of the oldest event that the stream has not got.',
        registers,
      })
      new Gauge({
        name: 'florin_event_stream_waiting',
        help: 'Events that the stream has not got, counted up to 100,000.',
        registers,
        async collect() {
          const now = await state()
          connected.set(now.isConnected ? 1 : 0)
          oldest.set(now.oldest)
          this.set(now.waiting)
        },
      })
    },
    countScrub: () => scrubbed.inc(),
    watchPool({ pool }) {
      new Gauge({
        name: 'florin_database_connections',
        help: 'Connections of the pool by state, and requests waiting for one.',
        labelNames: ['state'],
        registers,
        collect() {
          this.set({ state: 'idle' }, pool.idleCount)
          this.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
          this.set({ state: 'waiting' }, pool.waitingCount)
        },
      })
    },
    watchVaultKeys(keys) {
      new Gauge({
        name: 'florin_vault_key_encryptions',
        help: 'About how many encryptions a data key has done; rotate it before 2^32 (4294967296), be warned from 2^30 on.',
        labelNames: ['version', 'state'],
        registers,
        collect() {
          this.reset()
          for (const { version, state, encryptions } of keys()) {
            this.set({ version: String(version), state }, encryptions)
          }
        },
      })
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
