import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import type {
  BalanceAnswer,
  GiftCardConnector,
  GiftCardOutcome,
  GiftCardToCharge,
} from '../src/connectors/gift-card.ts'
import type { ServiceAccess } from '../src/connectors/payment.ts'
import { createMockGiftCard } from '../src/connectors/sandbox/mock-gift-card/connector.ts'
import { connect, type Database } from '../src/platform/postgres.ts'
import { type TestDatabase, useDatabase } from './database.ts'

export interface GiftCardProvider {
  database: TestDatabase
  connector(): GiftCardConnector
  service: ServiceAccess
  /** Moves the provider's clock. */
  wait(ms: number): void
  balance(card: GiftCardToCharge): Promise<BalanceAnswer>
  redeem(
    card: GiftCardToCharge,
    amount: number,
    more?: { reference?: string; currency?: string },
  ): Promise<GiftCardOutcome>
  reverse(redemptionReference: string): Promise<GiftCardOutcome>
  refund(
    redemptionReference: string,
    amount: number,
    more?: { reference?: string; currency?: string },
  ): Promise<GiftCardOutcome>
}

const { signal } = new AbortController()
let made = 0

/** A number that was never seen, ending as asked for. */
export const newNumber = (ending = '1') => `603500${String((made += 1)).padStart(9, '0')}${ending}`

export const giftCard = (pin: string, number = newNumber()): GiftCardToCharge => ({
  number,
  pin,
  fingerprint: createHash('sha256').update(number).digest('hex'),
})

/** The sandbox's gift card provider on a database of its own, with a clock that stands still. */
export function useGiftCardProvider(): GiftCardProvider {
  const database = useDatabase()
  let db: Database
  let connector: GiftCardConnector
  let time = Date.parse('2030-05-05T12:00:00Z')
  beforeAll(() => {
    db = connect({ url: database.url('florin_api'), applicationName: 'test', poolSize: 10, onError: () => undefined })
    connector = createMockGiftCard({ db, now: () => new Date(time) })
  })
  afterAll(() => db.close())
  const service: ServiceAccess = {
    merchantAccountId: 'default',
    serviceId: randomUUID(),
    fields: {},
    notificationUrl: null,
    secrets: () => Promise.resolve({ api_key: 'any' }),
  }
  return {
    database,
    service,
    connector: () => connector,
    wait: (ms) => {
      time += ms
    },
    balance: (card) => connector.balance({ service, card, signal }),
    redeem: (card, amount, { reference = randomUUID(), currency = 'EUR' } = {}) =>
      connector.redeem({ service, card, amount, currency, reference, signal }),
    reverse: (redemptionReference) => connector.reverse({ service, redemptionReference, signal }),
    refund: (redemptionReference, amount, { reference = randomUUID(), currency = 'EUR' } = {}) =>
      connector.refund({ service, redemptionReference, amount, currency, reference, signal }),
  }
}
