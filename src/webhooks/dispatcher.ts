import { setTimeout as sleep } from 'node:timers/promises'
import { newId, timeOfId } from '../ids.ts'
import { failpoint } from '../platform/failpoint.ts'
import type { Log } from '../platform/log.ts'
import { type Db, transact } from '../platform/postgres.ts'
import { Endpoint, type Leased } from './endpoint.ts'
import { relay } from './relay.ts'
import { createResultWriter } from './results.ts'
import { nextAttemptAt } from './retry.ts'
import { claimDue, deactivate, type Due, type EndpointRow, type EventRow, listEndpoints } from './store.ts'

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
  onAttempt?: (attempt: { outcome: 'succeeded' | 'failed'; seconds: number; lagSeconds: number | undefined }) => void
}

export interface Dispatcher {
  /** Subscriptions have changed. */
  refresh(): void
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
const afterErrorMs = 500
const gone = 410

/** Sends what subscriptions are to be told. Any number of these may run; rows decide who sends what. */
export function startDispatcher({ db, send, now, log, onAttempt }: DispatcherOptions): Dispatcher {
  const endpoints = new Map<string, Endpoint>()
  const results = createResultWriter({ db, now, log })
  const sending = new Set<Promise<void>>()
  const stopping = new AbortController()
  const pause = (ms: number, signal = stopping.signal) => sleep(ms, undefined, { signal }).catch(() => undefined)
  let claiming = new AbortController()
  let sweptAt = 0
  let refreshing: Promise<void> | undefined
  let isOutdated = false

  async function reload(): Promise<void> {
    const rows = await transact({ db, accounts: 'all' as const }, ({ db }) => listEndpoints(db))
    const active = new Set(rows.map(({ id }) => id))
    for (const [id, endpoint] of endpoints) {
      if (active.has(id)) continue
      endpoint.letGo()
      endpoints.delete(id)
    }
    for (const row of rows) {
      const known = endpoints.get(row.id)
      if (known) known.row = row
      else endpoints.set(row.id, new Endpoint(row))
    }
  }

  /** A change that is told while they are read may be one that the reading does not see. */
  async function reloadUntilCurrent(): Promise<void> {
    while (isOutdated) {
      isOutdated = false
      await reload()
    }
  }

  function refresh(): Promise<void> {
    isOutdated = true
    refreshing ??= reloadUntilCurrent()
      .catch((error: unknown) => log.warn('subscriptions could not be read', { error }))
      .finally(() => (refreshing = undefined))
    return refreshing
  }

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

  function adopt(due: readonly Due[], leaseUntil: number): void {
    const touched = new Set<Endpoint>()
    for (const one of due) {
      const endpoint = endpoints.get(one.subscription_id)
      if (!endpoint) continue
      endpoint.waiting.push({ ...one, leaseUntil })
      touched.add(endpoint)
    }
    for (const endpoint of touched) pump(endpoint)
  }

  function pump(endpoint: Endpoint): void {
    for (let due = endpoint.next(Date.now()); due; due = endpoint.next(Date.now())) {
      // Somebody else may have it by the time that it is sent.
      if (due.leaseUntil - deadlineMs < Date.now() || endpoints.get(endpoint.row.id) !== endpoint) {
        endpoint.hasBacklog = true
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
    if (endpoint.breaker.isOpen) endpoint.letGo()
    const number = due.attempts + 1
    onAttempt?.({
      outcome: isDelivered ? 'succeeded' : 'failed',
      seconds: (performance.now() - start) / 1000,
      lagSeconds: number === 1 ? (startedAt.getTime() - due.event.created_at.getTime()) / 1000 : undefined,
    })
    if (sent.statusCode === gone) await endForGood(endpoint)
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
  }

  async function endForGood(endpoint: Endpoint): Promise<void> {
    try {
      await transact({ db, accounts: 'all' as const }, ({ db }) => deactivate(db, endpoint.row, now()))
      log.info('a webhook endpoint is gone, and its subscription inactive', { resource_id: endpoint.row.id })
    } catch (error) {
      log.warn('a subscription could not be deactivated', { resource_id: endpoint.row.id, error })
    }
  }

  async function relayOnce(): Promise<boolean> {
    const at = now()
    const crowded = new Set<Endpoint>()
    try {
      const { events, taken } = await relay(db, {
        limit: eventsTogether,
        now: at,
        leaseMs,
        wants: (subscriptionId) => wants(subscriptionId, crowded),
      })
      for (const endpoint of endpoints.values()) endpoint.promised = 0
      // Not before: who looked earlier would find nothing, and not look again.
      for (const endpoint of crowded) endpoint.hasBacklog = true
      adopt(taken, at.getTime() + leaseMs)
      return events > 0
    } catch (error) {
      for (const endpoint of endpoints.values()) endpoint.promised = 0
      throw error
    }
  }

  /** Retries whose time has come, backlogs, and what a process left behind that died. */
  async function claimOnce(): Promise<void> {
    const at = now()
    const isSweep = Date.now() - sweptAt >= sweepMs
    if (isSweep) sweptAt = Date.now()
    const wanted = [...endpoints.values()]
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
    await failpoint('dispatch: claimed')
    adopt(due, leaseUntil.getTime())
  }

  async function keep(step: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await step()
      } catch (error) {
        log.warn('webhooks could not be dispatched', { error })
        await pause(afterErrorMs)
      }
    }
  }

  const loops = [
    keep(async () => {
      await refresh()
      await pause(refreshMs)
    }),
    keep(async () => {
      if (!(await relayOnce())) await pause(idleMs)
    }),
    keep(async () => {
      claiming = new AbortController()
      await claimOnce()
      await pause(backlogMs, claiming.signal)
    }),
  ]

  return {
    refresh: () => void refresh(),
    async stop() {
      stopping.abort()
      claiming.abort()
      await Promise.all(loops)
      await Promise.all(sending)
      await results.flush()
    },
  }
}
