import { setTimeout as sleep } from 'node:timers/promises'
import { newId, timeOfId } from '../ids.ts'
import { failpoint } from '../platform/failpoint.ts'
import type { Log } from '../platform/log.ts'
import type { Nats } from '../platform/nats.ts'
import { type Db, transact } from '../platform/postgres.ts'
import type { Endpoint, Leased } from './endpoint.ts'
import { createEndpoints } from './endpoints.ts'
import { createGiveBack } from './give-back.ts'
import { keepDoing } from './keep-doing.ts'
import { laneLeaseMs, startLane } from './lane.ts'
import { relay } from './relay.ts'
import { createResultWriter } from './results.ts'
import { nextAttemptAt } from './retry.ts'
import { claimDue, type Due, type EndpointRow, type EventRow } from './store.ts'

/** What an endpoint said, or why nobody knows. */
export interface Sent {
  statusCode: number | null
  error: string | null
  retryAfterMs?: number | undefined
}

export interface DispatcherOptions {
  db: Db
  /** Ends within the deadline of an attempt. */
  send: (endpoint: EndpointRow, event: EventRow) => Promise<Sent>
  now: () => Date
  log: Log
  /** For the lane of first attempts; without it every process sends what it makes, and the rest from rows that are due. */
  nats?: Nats | undefined
  onLane?: (what: LaneEvent, count: number) => void
  forStream?: boolean
  onAttempt?: (attempt: { outcome: 'succeeded' | 'failed'; seconds: number; lagSeconds: number | undefined }) => void
}

/**
 * What became of deliveries with a lane: put in; given back to the rows because they could not be put in or sent; dropped because the lease was
 * over; or claimed for a first attempt from a row that was due.
 */
export type LaneEvent = 'published' | 'given_back' | 'dropped' | 'reconciled'

export interface Dispatcher {
  /** Subscriptions have changed. */
  refresh(): void
  /** Whether first attempts go through NATS now. */
  isLaneOpen(): boolean
  /** Takes nothing more and waits for what is on its way. */
  stop(): Promise<void>
}

/** Longer than an attempt and everything that waits before it. */
const leaseMs = 45_000
export const deadlineMs = 5_000
const eventsTogether = 500
const idleMs = 25
const backlogMs = 50
/** How late a retry, or what another process has let go, may be noticed. */
const sweepMs = 1_000
const refreshMs = 800
const gone = 410

/** Sends what subscriptions are to be told. Any number of these may run; rows decide who sends what. */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, send, now, log, nats, forStream = false, onLane, onAttempt } = options
  const results = createResultWriter({ db, now, log })
  const endpoints = createEndpoints({ db, now, log, onLetGo: letGo })
  const givenBack = createGiveBack({ db, now, log, onGivenBack })
  /** Of all deliveries that wait or are on their way here. */
  const inHand = new Set<string>()
  const sending = new Set<Promise<void>>()
  const stopping = new AbortController()
  const pause = (ms: number, signal = stopping.signal) => sleep(ms, undefined, { signal }).catch(() => undefined)
  let claiming = new AbortController()
  const lane = nats && startLane({ nats, log, take: takeFromLane })
  let sweptAt = 0

  /** A place for one delivery that is about to be written down; otherwise its endpoint is among the crowded ones. */
  function wants(subscriptionId: string, crowded: Set<Endpoint>): boolean {
    const endpoint = endpoints.get(subscriptionId)
    if (!endpoint || stopping.signal.aborted) return false
    if (endpoint.room(Date.now()) > 0) {
      endpoint.promised += 1
      return true
    }
    crowded.add(endpoint)
    return false
  }

  /** Somebody will have room, unless not even this process has. */
  const laneWants = (subscriptionId: string) => (endpoints.get(subscriptionId)?.room(Date.now()) ?? 0) > 0

  function adopt(due: readonly Due[], leaseUntil: number): void {
    const touched = new Set<Endpoint>()
    for (const one of due) {
      const endpoint = endpoints.get(one.subscription_id)
      if (!endpoint) continue
      inHand.add(one.id)
      endpoint.waiting.push({ ...one, leaseUntil })
      touched.add(endpoint)
    }
    for (const endpoint of touched) pump(endpoint)
  }

  function takeFromLane(delivery: Leased): boolean {
    if (inHand.has(delivery.id)) return false
    const endpoint = endpoints.get(delivery.subscription_id)
    inHand.add(delivery.id)
    if (!endpoint || stopping.signal.aborted || endpoint.room(Date.now()) === 0) letGo([delivery])
    else {
      endpoint.waiting.push(delivery)
      pump(endpoint)
    }
    return true
  }

  // Somebody else may have it by the time that it is sent.
  const isTooLate = ({ leaseUntil }: Leased) => leaseUntil - deadlineMs < Date.now()

  /** What is not sent by this process is for whoever has room. */
  function letGo(waited: readonly Leased[]): void {
    for (const due of waited) {
      inHand.delete(due.id)
      if (isTooLate(due)) {
        due.acknowledge?.()
        onLane?.('dropped', 1)
      } else void givenBack.add(due).then(due.acknowledge)
    }
  }

  function onGivenBack(deliveries: readonly Leased[]): void {
    onLane?.('given_back', deliveries.length)
    for (const { subscription_id: id } of deliveries) {
      const endpoint = endpoints.get(id)
      if (endpoint) endpoint.hasBacklog = true
    }
  }

  function pump(endpoint: Endpoint): void {
    if (stopping.signal.aborted) return
    for (let due = endpoint.next(Date.now()); due; due = endpoint.next(Date.now())) {
      if (isTooLate(due) || !endpoints.isActive(endpoint)) {
        endpoint.hasBacklog = true
        letGo([due])
        continue
      }
      endpoint.sending += 1
      endpoint.breaker.begin()
      const attempt = deliver(endpoint, due).finally(() => sending.delete(attempt))
      sending.add(attempt)
    }
  }

  async function deliver(endpoint: Endpoint, due: Leased): Promise<void> {
    const attemptId = newId()
    const startedAt = now()
    const start = performance.now()
    await failpoint('dispatch: not yet sent')
    const sent = await send(endpoint.row, due.event).catch((error: unknown): Sent => {
      log.error('a webhook could not be sent', { resource_id: due.id, error })
      return { statusCode: null, error: 'internal' }
    })
    await failpoint('dispatch: sent')
    const isDelivered = sent.statusCode !== null && sent.statusCode >= 200 && sent.statusCode < 300
    endpoint.sending -= 1
    if (isDelivered) endpoint.breaker.succeed()
    else endpoint.breaker.fail(Date.now())
    if (endpoint.breaker.isOpen) letGo(endpoint.letGo())
    const number = due.attempts + 1
    onAttempt?.({
      outcome: isDelivered ? 'succeeded' : 'failed',
      seconds: (performance.now() - start) / 1000,
      lagSeconds: number === 1 ? (startedAt.getTime() - due.event.created_at.getTime()) / 1000 : undefined,
    })
    if (sent.statusCode === gone) await endpoints.endForGood(endpoint)
    const next = isDelivered
      ? null
      : nextAttemptAt({ attempts: number, now: now(), expiresAt: due.expires_at, retryAfterMs: sent.retryAfterMs })
    const written = results.add({
      merchant_account_id: due.merchant_account_id,
      delivery_id: due.id,
      id: attemptId,
      number,
      status: isDelivered ? 'succeeded' : next ? 'pending' : 'failed',
      next_attempt_at: next,
      status_code: sent.statusCode,
      error: sent.error,
      duration_ms: Math.round(performance.now() - start),
      created_at: timeOfId(attemptId),
    })
    pump(endpoint)
    if (endpoint.isRunningDry) claiming.abort()
    await written
    inHand.delete(due.id)
    if (!due.acknowledge) return
    due.acknowledge()
    await failpoint('lane: acknowledged')
  }

  async function relayOnce(): Promise<boolean> {
    const at = now()
    const crowded = new Set<Endpoint>()
    const openLane = lane?.isOpen() ? lane : undefined
    const leasedForMs = openLane ? laneLeaseMs : leaseMs
    const leaseUntil = at.getTime() + leasedForMs
    try {
      const { events, taken } = await relay(db, {
        limit: eventsTogether,
        now: at,
        leaseMs: leasedForMs,
        wants: (subscriptionId) => (openLane ? laneWants(subscriptionId) : wants(subscriptionId, crowded)),
        forStream,
      })
      for (const endpoint of endpoints.all()) endpoint.promised = 0
      // Not before: who looked earlier would find nothing, and not look again.
      for (const endpoint of crowded) endpoint.hasBacklog = true
      if (openLane) {
        const leased = taken.map((due) => ({ ...due, leaseUntil }))
        const failed = await openLane.put(leased)
        onLane?.('published', leased.length - failed.length)
        await Promise.all(failed.map(givenBack.add))
      } else adopt(taken, leaseUntil)
      return events > 0
    } catch (error) {
      for (const endpoint of endpoints.all()) endpoint.promised = 0
      throw error
    }
  }

  /** Retries whose time has come, backlogs, and what a process left behind that died. */
  async function claimOnce(): Promise<void> {
    const at = now()
    const isSweep = Date.now() - sweptAt >= sweepMs
    if (isSweep) sweptAt = Date.now()
    const wanted = endpoints
      .all()
      .filter((endpoint) => isSweep || endpoint.hasBacklog)
      .map((endpoint) => ({ endpoint, subscriptionId: endpoint.row.id, room: endpoint.room(Date.now()) }))
      .filter(({ room }) => room > 0)
    if (wanted.length === 0) return
    const leaseUntil = new Date(at.getTime() + leaseMs)
    for (const { endpoint } of wanted) endpoint.hasBacklog = false
    const due = await transact({ db, accounts: 'all' as const }, ({ db }) =>
      claimDue(db, wanted, { now: at, leaseUntil }),
    )
    const found = new Map<string, number>()
    for (const { subscription_id: id } of due) found.set(id, (found.get(id) ?? 0) + 1)
    for (const { endpoint, room } of wanted) {
      if ((found.get(endpoint.row.id) ?? 0) >= room) endpoint.hasBacklog = true
    }
    if (due.length === 0) return
    if (lane) onLane?.('reconciled', due.filter(({ attempts }) => attempts === 0).length)
    await failpoint('dispatch: claimed')
    adopt(due, leaseUntil.getTime())
  }

  const keep = (step: () => Promise<void>) => keepDoing(step, { signal: stopping.signal, log })
  const loops = [
    keep(async () => {
      await endpoints.refresh()
      await pause(refreshMs)
    }),
    // Otherwise whoever has just started would take what others put into the lane.
    (lane?.opening() ?? Promise.resolve()).then(() =>
      keep(async () => {
        if (!(await relayOnce())) await pause(idleMs)
      }),
    ),
    keep(async () => {
      claiming = new AbortController()
      await claimOnce()
      await pause(backlogMs, claiming.signal)
    }),
  ]

  return {
    refresh: () => void endpoints.refresh(),
    isLaneOpen: () => lane?.isOpen() ?? false,
    async stop() {
      stopping.abort()
      claiming.abort()
      await Promise.all([...loops, lane?.stop()])
      for (const endpoint of endpoints.all()) letGo(endpoint.letGo())
      await Promise.all(sending)
      await results.flush()
      await givenBack.flush()
    },
  }
}
