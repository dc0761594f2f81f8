import { AsyncLocalStorage } from 'node:async_hooks'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import pg from 'pg'

/**
 * Loaded before the api or the vault in the run of `npm run bench:cards` that counts: round trips to PostgreSQL, and in the api how
 * long a request takes until it calls the vault, until the vault has answered, and until it is answered itself. Told over IPC.
 */
const totals = { roundTrips: 0, beforeVaultMs: 0, vaultCallMs: 0, afterVaultMs: 0 }

const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  totals.roundTrips += 1
  return query.apply(this, args)
} as typeof pg.Client.prototype.query

const moments = new AsyncLocalStorage<{ last: number }>()
function lap(moment: { last: number }): number {
  const now = performance.now()
  const passed = now - moment.last
  moment.last = now
  return passed
}

const emit = http.Server.prototype.emit as (...args: unknown[]) => boolean
http.Server.prototype.emit = function (this: http.Server, ...args: unknown[]) {
  if (args[0] !== 'request') return emit.apply(this, args)
  const moment = { last: performance.now() }
  ;(args[2] as http.ServerResponse).once('finish', () => {
    totals.afterVaultMs += lap(moment)
  })
  return moments.run(moment, () => emit.apply(this, args))
} as typeof http.Server.prototype.emit

const request = http.request as (...args: unknown[]) => http.ClientRequest
http.request = ((...args: unknown[]) => {
  const moment = moments.getStore()
  const made = request(...args)
  if (moment) {
    totals.beforeVaultMs += lap(moment)
    made.once('close', () => {
      totals.vaultCallMs += lap(moment)
    })
  }
  return made
}) as typeof http.request
syncBuiltinESMExports()

process.on('message', () => process.send?.(totals))
// The channel alone must not keep the process alive.
process.channel?.unref()
