import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Approved, AuthorizeCall, Outcome, PaymentConnector, ServiceAccess } from '../src/connectors/payment.ts'
import { createMockCard } from '../src/connectors/sandbox/mock-card/connector.ts'
import type { Scenario } from '../src/connectors/sandbox/mock-card/three-d-secure.ts'
import { connect, type Database } from '../src/platform/postgres.ts'
import { type TestDatabase, useDatabase } from './database.ts'

const usualCard = { number: '4111111111111111', expirationDate: '12/40', securityCode: '123', scheme: 'visa' }

/** Fields of an authorization that a test may choose. */
export type Chosen = Partial<Omit<AuthorizeCall, 'card' | 'buyer'>> & {
  number?: string
  scheme?: string
  buyer?: Partial<AuthorizeCall['buyer']>
  expirationDate?: string
  securityCode?: string | null
  postalCode?: string | null
}

export interface CardProcessor {
  database: TestDatabase
  /** As the API has it. */
  db(): Database
  connector(): PaymentConnector
  service: ServiceAccess
  /** The rules that 3-D Secure goes by, newest first. */
  scenarios: Scenario[]
  /** Moves the processor's clock. */
  wait(ms: number): void
  now(): Date
  authorize(chosen?: Chosen): Promise<Outcome>
  /** An approved payment's own id. */
  pay(chosen?: Chosen): Promise<string>
  capture(
    payment: string,
    amount: number,
    more?: { final?: boolean; reference?: string; currency?: string },
  ): Promise<Outcome>
  void(payment: string, reference?: string): Promise<Outcome>
  refund(payment: string, amount: number, reference?: string): Promise<Outcome>
  cancel(payment: string, reference?: string): Promise<Outcome>
  sync(reference: string): ReturnType<PaymentConnector['sync']>
  paymentRow(id: string): Promise<PaymentRow | undefined>
}

export interface PaymentRow {
  state: string
  authorized: number
  captured: number
  refunded: number
}

export const { signal } = new AbortController()

export function authorization(
  service: ServiceAccess,
  { number, scheme, expirationDate, securityCode, postalCode, buyer, ...chosen }: Chosen = {},
): AuthorizeCall {
  return {
    service,
    reference: randomUUID(),
    signal,
    amount: 1299,
    currency: 'USD',
    country: 'US',
    intent: 'authorize',
    asyncCapture: false,
    card: {
      ...usualCard,
      ...(number !== undefined && { number }),
      ...(scheme !== undefined && { scheme }),
      ...(expirationDate !== undefined && { expirationDate }),
      ...(securityCode !== undefined && { securityCode }),
    },
    buyer: { ...nobody, postalCode: postalCode === undefined ? '10115' : postalCode, ...buyer },
    externalIdentifier: null,
    approval: null,
    enrolment: null,
    paymentSource: 'ecommerce',
    merchantInitiated: false,
    isSubsequentPayment: false,
    previousSchemeTransactionId: null,
    statementDescriptor: null,
    options: {},
    ...chosen,
  }
}

const nobody = { firstName: null, lastName: null, emailAddress: null }

/** The sandbox's card processor on a database of its own, with a clock that stands still. */
export function useCardProcessor(): CardProcessor {
  const database = useDatabase()
  let db: Database
  let connector: PaymentConnector
  const scenarios: Scenario[] = []
  let time = Date.parse('2030-05-05T12:00:00Z')
  beforeAll(() => {
    db = connect({ url: database.url('florin_api'), applicationName: 'test', poolSize: 10, onError: () => undefined })
    const pageUrl = (id: string) => `https://sandbox.example/approvals/${id}`
    connector = createMockCard({ db, now: () => new Date(time), pageUrl, scenarios: async () => scenarios })
  })
  afterAll(() => db.close())

  const service: ServiceAccess = {
    merchantAccountId: 'default',
    serviceId: randomUUID(),
    fields: { merchant_id: 'any' },
    notificationUrl: null,
    secrets: () => Promise.resolve({ webhook_secret: 'a secret of the service' }),
  }
  const about = (paymentReference: string, reference: string = randomUUID(), currency = 'USD') => ({
    service,
    reference,
    paymentReference,
    currency,
    signal,
  })
  const processor: CardProcessor = {
    database,
    service,
    scenarios,
    db: () => db,
    connector: () => connector,
    wait: (ms) => {
      time += ms
    },
    now: () => new Date(time),
    authorize: (chosen) => connector.authorize(authorization(service, chosen)),
    pay: async (chosen) => approved(await processor.authorize(chosen)).providerReference ?? '',
    capture: (payment, amount, { final = false, reference, currency } = {}) =>
      connector.capture({ ...about(payment, reference, currency), amount, final }),
    void: (payment, reference) => connector.void(about(payment, reference)),
    refund: (payment, amount, reference) => connector.refund({ ...about(payment, reference), amount, reason: null }),
    cancel: (payment, reference) => connector.cancel(about(payment, reference)),
    sync: (reference) => connector.sync({ service, reference, signal }),
    paymentRow: async (id) => {
      const [row] = await database.query<{ row: PaymentRow }>(
        `select json_build_object('state', state, 'authorized', authorized, 'captured', captured, 'refunded', refunded) as row
         from sandbox_card_payments where id = $1`,
        [id],
      )
      return row?.row
    },
  }
  return processor
}

export function approved(outcome: { result: string }): Approved {
  expect(outcome).toMatchObject({ result: 'approved' })
  return outcome as Approved
}
