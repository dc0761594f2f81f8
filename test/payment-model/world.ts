import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import pg from 'pg'
import { createMerchantAccount } from '../../src/areas/merchant-accounts/operations.ts'
import { createPaymentService } from '../../src/areas/payment-services/operations/change.ts'
import { commandLineContext } from '../../src/cli/command-line-context.ts'
import type { Connectors, Outcome, PaymentConnector } from '../../src/connectors/payment.ts'
import { realClocks } from '../../src/clocks.ts'
import { createConnectors, createGiftCards } from '../../src/connectors/registry.ts'
import type { Context } from '../../src/context.ts'
import { onFailpoint } from '../../src/platform/failpoint.ts'
import type { Log } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/postgres.ts'
import type { Vault } from '../../src/vault/client.ts'
import { rewriting } from '../rewriting.ts'
import { Crash, type Fault, type FaultName } from './faults.ts'
import type { Profile } from './records.ts'
import { newId } from '../../src/ids.ts'

/** Accounts that differ in what they allow and in how many providers can be asked. */
export const profiles: readonly Profile[] = [
  { account: 'single', services: 1, overCapture: { amount: 0, percentage: 0 } },
  { account: 'double', services: 2, overCapture: { amount: 50, percentage: 0 }, asking: [1] },
  { account: 'percent', services: 2, overCapture: { amount: 0, percentage: 10 } },
  // More than the provider captures, which is twice the authorization.
  { account: 'generous', services: 1, overCapture: { amount: 2_000_000, percentage: 0 } },
  { account: 'asking', services: 1, overCapture: { amount: 0, percentage: 0 }, asking: [0] },
  {
    account: 'patient',
    services: 2,
    overCapture: { amount: 0, percentage: 0 },
    asking: [0, 1],
    patienceMs: 10_800_000,
  },
  { account: 'deserted', services: 0, overCapture: { amount: 0, percentage: 0 } },
]

export interface WorldOptions {
  apiUrl: string
  workerUrl: string
  adminUrl: string
  /** A planted bug: changes the statements of the api and the worker. */
  rewrite?: (text: string) => string
  /** A planted bug: changes the provider, or what is made of its answers. */
  replace?: (connector: PaymentConnector, now: () => Date) => PaymentConnector
}

/** One database with the API's operations on it and a clock that stands still until it is moved. */
export interface World {
  admin: pg.Pool
  /** Their place in the order in which they are asked. */
  services: Map<string, number>
  /** Errors that the operations only logged. */
  errors: string[]
  now: number
  context(account: string, operation: string): Context
  worker: Pick<Context, 'db' | 'vault' | 'connectors' | 'giftCards' | 'now' | 'newId' | 'accounts' | 'log'>
  /** Runs a request with something going wrong at its call to the provider. */
  withFault<Result>(trouble: Trouble, work: () => Promise<Result>): Promise<Result>
  /** Calls that are still on their way. */
  late: (() => Promise<unknown>)[]
  close(): Promise<void>
}

export interface Trouble {
  fault: Fault | undefined
  /** Of a request that asks providers what became of things: it loses all of its questions, others none. */
  isAsking?: boolean
  /** What others do while the request is slow. */
  onMeanwhile?: () => Promise<void>
}

interface Armed extends Trouble {
  /** How often each place was reached. */
  reached: Map<string, number>
}

const armed = new AsyncLocalStorage<Armed>()

const places = new Map([
  ['crash at intent', 'intent recorded'],
  ['sync at intent', 'intent recorded'],
  ['crash after answer', 'provider answered'],
  ['sync after answer', 'provider answered'],
  ['crash after outcome', 'outcome recorded'],
])

/** Whether this is where the fault of the request sits. */
function isHere(place: string, { fault, reached }: Armed): boolean {
  const count = reached.get(place) ?? 0
  reached.set(place, count + 1)
  return fault?.nth === count
}

async function onPlace(name: string): Promise<void> {
  const request = armed.getStore()
  const [, place = ''] = name.split(': ')
  if (!request || !isHere(place, request) || places.get(request.fault?.name ?? '') !== place) return
  if (request.fault?.name.startsWith('crash')) throw new Crash(name)
  // What others do meanwhile has no faults of its own.
  if (request.onMeanwhile) await armed.exit(request.onMeanwhile)
}

export async function createWorld({ apiUrl, workerUrl, adminUrl, rewrite, replace }: WorldOptions): Promise<World> {
  const open = (url: string, poolSize: number) => {
    const db = connect({ url, applicationName: 'model', poolSize, onError: () => undefined })
    return rewrite ? rewriting(db, rewrite) : db
  }
  const db = open(apiUrl, 4)
  const workerDb = open(workerUrl, 2)
  const admin = new pg.Pool({ connectionString: adminUrl, max: 2 })
  admin.on('error', () => undefined)
  const now = () => new Date(world.now)
  const errors: string[] = []
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (message, fields) => void errors.push(`${message}: ${String(fields?.error)}`),
  }
  const late: World['late'] = []
  const own = createConnectors({ environment: 'sandbox', db, now })
  const connectors: Connectors = new Map(
    [...own].map(([id, connector]) => {
      const waiting = patient(connector)
      return [id, unreliable(replace?.(waiting, now) ?? waiting, late)]
    }),
  )
  const services = new Map<string, number>()
  const clocks = { ...realClocks, of: () => ({ now, newId }) }
  const system = {
    vault,
    connectors,
    giftCards: createGiftCards({ environment: 'sandbox', db, now }),
    now,
    newId,
    log,
    clocks,
  }
  const world: World = {
    admin,
    services,
    errors,
    late,
    now: Date.now(),
    context: (account, operation) => ({ ...commandLineContext(db, operation), ...system, accounts: [account] }),
    worker: { db: workerDb, accounts: 'all', ...system },
    withFault: (trouble, work) => armed.run({ ...trouble, reached: new Map() }, work),
    close: async () => {
      await Promise.all([db.close(), workerDb.close(), admin.end()])
    },
  }
  onFailpoint(onPlace)
  for (const profile of profiles) await createProfile(world, profile)
  return world
}

async function createProfile(world: World, { account, services, overCapture, asking }: Profile): Promise<void> {
  const ctx = world.context(account, 'model')
  await createMerchantAccount(ctx, {
    id: account,
    display_name: account,
    ...(overCapture.amount > 0 && { over_capture_amount: overCapture.amount }),
    ...(overCapture.percentage > 0 && { over_capture_percentage: overCapture.percentage }),
  })
  for (let index = 0; index < services; index += 1) {
    const { id } = await createPaymentService(ctx, {
      display_name: `Service ${index}`,
      payment_service_definition_id: 'mock-card',
      fields: [{ key: 'merchant_id', value: 'model' }],
      accepted_currencies: ['EUR'],
      accepted_countries: ['DE'],
      three_d_secure_enabled: asking?.includes(index) ?? false,
    })
    world.services.set(id, index)
  }
}

/** The vault is another process behind a port; payments with cards that are not stored need its fingerprints only. */
const vault = new Proxy(
  {
    fingerprintCard: (number: string) => Promise.resolve(createHash('sha256').update(number).digest('hex')),
    storeSecrets: () => Promise.resolve(),
  } as Pick<Vault, 'fingerprintCard' | 'storeSecrets'> as Vault,
  {
    get(target, name) {
      if (name in target) return target[name as keyof Vault]
      throw new Error(`the model has no vault that can ${String(name)}`)
    },
  },
)

/** Some providers give buyers more time than they are told to. */
function patient(inner: PaymentConnector): PaymentConnector {
  const patienceOf = new Map(profiles.map(({ account, patienceMs = 0 }) => [account, patienceMs]))
  return {
    ...inner,
    authorize: ({ approval, ...call }) => {
      const patienceMs = patienceOf.get(call.service.merchantAccountId) ?? 0
      const expiresAt = approval && new Date(approval.expiresAt.getTime() + patienceMs)
      return inner.authorize({ ...call, approval: approval && expiresAt && { ...approval, expiresAt } })
    },
  }
}

/** The way to a provider, on which calls and answers get lost. */
function unreliable(inner: PaymentConnector, late: World['late']): PaymentConnector {
  const pass = async <Call extends { signal: AbortSignal }, Answer>(
    perform: (call: Call) => Promise<Answer>,
    call: Call,
    kind: 'call' | 'question' | 'cancel' = 'call',
  ): Promise<Answer | Outcome> => {
    const request = armed.getStore()
    const fault = request && faultAt(kind, request)
    if (fault === 'call lost') throw new Error('the connection broke')
    if (fault === 'refused elsewhere') return refusedElsewhere
    if (fault === 'call late') {
      // With a deadline of its own: the caller's is over by then.
      late.push(() => perform({ ...call, signal: new AbortController().signal }))
      return { result: 'unknown' }
    }
    const answer = await perform(call)
    return fault === 'answer lost' ? { result: 'unknown' } : answer
  }
  return {
    ...inner,
    authorize: (call) => pass(inner.authorize, call),
    capture: (call) => pass(inner.capture, call),
    void: (call) => pass(inner.void, call),
    refund: (call) => pass(inner.refund, call),
    cancel: (call) => pass(inner.cancel, call, 'cancel'),
    sync: (call) => pass(inner.sync, call, 'question'),
  }
}

const ofCancel = new Map<FaultName | undefined, FaultName>([
  ['cancel lost', 'call lost'],
  ['cancel unheard', 'answer lost'],
])

function faultAt(kind: 'call' | 'question' | 'cancel', request: Armed): FaultName | undefined {
  const name = request.fault?.name
  if (kind === 'cancel') return ofCancel.get(name)
  return (kind === 'question' ? request.isAsking : isHere('call', request)) ? name : undefined
}

const refusedElsewhere: Outcome = {
  result: 'declined',
  errorCode: 'service_decline',
  retriable: true,
  providerReference: null,
  rawCode: '92',
  rawDescription: null,
}
