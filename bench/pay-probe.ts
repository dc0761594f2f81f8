import { AsyncLocalStorage } from 'node:async_hooks'
import http from 'node:http'
import pg from 'pg'
import { onFailpoint } from '../src/platform/failpoint.ts'

/**
 * Loaded before the api or the vault in the run of `npm run bench:pay` that counts: round trips to PostgreSQL, and of each payment how long it took
 * apart from waiting for the provider. Told over IPC.
 */
const totals = { roundTrips: 0, ownMs: [] as number[] }

const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  totals.roundTrips += 1
  return query.apply(this, args)
} as typeof pg.Client.prototype.query

const requests = new AsyncLocalStorage<{ start: number; providerSince: number; providerMs: number }>()

const emit = http.Server.prototype.emit as (...args: unknown[]) => boolean
http.Server.prototype.emit = function (this: http.Server, ...args: unknown[]) {
  if (args[0] !== 'request') return emit.apply(this, args)
  const moment = { start: performance.now(), providerSince: 0, providerMs: 0 }
  ;(args[2] as http.ServerResponse).once('finish', () => {
    totals.ownMs.push(performance.now() - moment.start - moment.providerMs)
  })
  return requests.run(moment, () => emit.apply(this, args))
} as typeof http.Server.prototype.emit

onFailpoint(async (name) => {
  const moment = requests.getStore()
  if (!moment) return
  if (name === 'authorize: intent recorded') moment.providerSince = performance.now()
  if (name === 'authorize: provider answered') moment.providerMs += performance.now() - moment.providerSince
})

process.on('message', () => process.send?.(totals))
// The channel alone must not keep the process alive.
process.channel?.unref()
