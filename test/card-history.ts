import { isDeepStrictEqual } from 'node:util'
import type { Vault } from '../src/vault/client.ts'
import type { TestDatabase } from './database.ts'

/** One request of the load, from its start to its answer. Times are `performance.now()`. */
export interface CardRequest {
  operation: 'create' | 'get' | 'list' | 'delete' | 'other'
  start: number
  end: number
  /** 0 when there was no answer at all: whether it was done is not known. */
  status: number
  /** Of the card that was asked for, or was made. */
  id: string | undefined
  /** Of a create only, as are the next two. */
  number?: string
  externalIdentifier?: string
  /** The answer, when it is an error. */
  error?: unknown
}

/** The vault surely did not answer between `from` and `until`; at `back` it said itself that it serves. */
export interface Outage {
  from: number
  until: number
  back: number
}

/** What a caller may have to wait while the vault is away. */
export const limitMs = 2_000

const gatewayTimeout = { type: 'error', code: 'gateway_timeout', status: 504, details: [] }
const done: Record<CardRequest['operation'], readonly number[]> = {
  create: [201, 409],
  get: [200],
  list: [200],
  delete: [204],
  other: [200],
}

/** What the callers saw that they must not see. */
export function answerProblems(history: readonly CardRequest[], outages: readonly Outage[], limit = limitMs): string[] {
  return history.flatMap((request) => {
    const { operation, status, start, end } = request
    const problems: string[] = []
    const complain = (problem: string) => problems.push(`${operation} at ${start.toFixed(0)}: ${problem}`)
    const isTimeout = operation === 'create' && status === 504
    // How fast a vault that is there answers is for the benchmarks to say.
    const isBound = isTimeout || outages.some(({ from, until }) => start >= from && start <= until)
    if (isBound && end - start > limit) complain(`${status} after ${(end - start).toFixed(0)} ms`)
    if (!isTimeout && !done[operation].includes(status)) complain(`answered ${status} ${JSON.stringify(request.error)}`)
    if (isTimeout && !isGatewayTimeout(request.error)) complain(`504 as ${JSON.stringify(request.error)}`)
    const isDuring = outages.some(({ from, until }) => start >= from && end <= until)
    if (operation === 'create' && isDuring && status !== 504) complain(`${status} without a vault`)
    return problems
  })
}

/** Cards that were refused although the vault was there: only a machine too busy to answer in time may do that. */
export function strayTimeouts(history: readonly CardRequest[], outages: readonly Outage[], limit = limitMs): string[] {
  const strays = history.filter(({ operation, status, start, end }) => {
    // Those that began before the end of an outage may still run into it, and so may those that queue behind them.
    const mayTimeOut = outages.some(({ from, back }) => end >= from && start <= back + limit)
    return operation === 'create' && status === 504 && !mayTimeOut
  })
  return strays.map(({ start }) => `create at ${start.toFixed(0)}: 504 although the vault is there`)
}

/** The specification's shape, with no field more and none less. */
function isGatewayTimeout(error: unknown): boolean {
  const { message, ...rest } = (error ?? {}) as Record<string, unknown>
  return typeof message === 'string' && message !== '' && isDeepStrictEqual(rest, gatewayTimeout)
}

/** How long after the return of the vault the first card was stored; Infinity when none was. */
export function recoveryMs(history: readonly CardRequest[], { until, back }: Outage): number {
  const ends = history.filter(({ operation, status }) => operation === 'create' && status === 201).map(({ end }) => end)
  return Math.min(Infinity, ...ends.filter((end) => end >= until).map((end) => Math.max(0, end - back)))
}

interface StoredRow {
  id: string
  external_identifier: string | null
}

/** What is stored that must not be, and the reverse. To be asked when nothing is under way and the sweep has run. */
export async function storageProblems(
  history: readonly CardRequest[],
  database: Pick<TestDatabase, 'query'>,
  vault: Pick<Vault, 'readCard'>,
): Promise<string[]> {
  const rows = await database.query<StoredRow>('select id, external_identifier from payment_methods')
  const secrets = await database.query<{ id: string; field: string }>('select id, field from vault.secrets')
  const logged = await database.query<{ id: string; action: string }>(
    `select resource_id as id, action from audit_logs where resource_type = 'payment-method'`,
  )
  const deleted = idsOf(history, 'delete', 204)
  const created = history.filter(({ operation, status }) => operation === 'create' && status === 201)
  const kept = created.filter(({ id = '' }) => !deleted.has(id))
  const keptIds = new Set(kept.map(({ id = '' }) => id))
  const rowIds = new Set(rows.map(({ id }) => id))
  const secretIds = new Set(secrets.map(({ id }) => id))
  const problems = [
    ...missing(keptIds, rowIds, 'was answered with 201 and is not there'),
    ...missing(rowIds, keptIds, 'is there and was not answered with 201'),
    ...missing(rowIds, secretIds, 'has no number in the vault'),
    ...missing(secretIds, rowIds, 'has a number in the vault and no payment method'),
    ...missing(idsOf(history, 'create', 201), idsOfAction(logged, 'created'), 'was made without an audit row'),
    ...missing(idsOfAction(logged, 'created'), idsOf(history, 'create', 201), 'has an audit row and was not made'),
    ...missing(deleted, idsOfAction(logged, 'deleted'), 'was deleted without an audit row'),
    ...secrets.filter(({ field }) => field !== 'number').map(({ id, field }) => `${id} has a ${field} in the vault`),
  ]
  const refused = history.filter(({ operation, status }) => operation === 'create' && status === 504)
  const refusedIdentifiers = new Set(refused.map(({ externalIdentifier }) => externalIdentifier))
  const keptIdentifiers = new Set(kept.map(({ externalIdentifier }) => externalIdentifier))
  for (const { id, external_identifier } of rows) {
    const identifier = external_identifier ?? undefined
    if (refusedIdentifiers.has(identifier) && !keptIdentifiers.has(identifier))
      problems.push(`${id} is there although it was answered with 504`)
  }
  for (const { id = '', number } of kept) {
    const read = await vault.readCard({ merchantAccountId: 'default', id }).catch((error: unknown) => String(error))
    // The numbers themselves belong in no output, not even here.
    if (read !== number) problems.push(`${id} reads as ${/^\d+$/.test(read ?? '') ? 'another number' : read}`)
  }
  return problems
}

const idsOf = (history: readonly CardRequest[], operation: CardRequest['operation'], status: number) =>
  new Set(
    history.filter((request) => request.operation === operation && request.status === status).map(({ id = '' }) => id),
  )

const idsOfAction = (logged: readonly { id: string; action: string }[], action: string) =>
  new Set(logged.filter((line) => line.action === action).map(({ id }) => id))

const missing = (ids: ReadonlySet<string>, among: ReadonlySet<string>, what: string) =>
  [...ids].filter((id) => !among.has(id)).map((id) => `${id} ${what}`)
