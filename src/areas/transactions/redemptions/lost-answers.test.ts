import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../../test/api.ts'
import { balanceOf, differences, type GiftCard, giftCard, makeGiftCardService } from '../../../../test/gift-cards.ts'
import { card } from '../../../../test/payments.ts'
import { commandLineContext } from '../../../cli/command-line-context.ts'
import type { GiftCardConnector, GiftCardConnectors } from '../../../connectors/gift-card.ts'
import type { Connectors, PaymentConnector } from '../../../connectors/payment.ts'
import { createConnectors, createGiftCards } from '../../../connectors/registry.ts'
import type { Context } from '../../../context.ts'
import { newId } from '../../../ids.ts'
import { createLog } from '../../../platform/log.ts'
import { connect, type Database } from '../../../platform/postgres.ts'
import { createTransaction } from '../operations/create.ts'
import { resolveDue } from '../operations/resolve.ts'
import { voidTransaction } from '../operations/void.ts'
import type { NewTransaction } from '../schema/create.ts'

/* Providers whose answers are lost, before or after they did what they were asked for, in every order. */

const api = useApi()
let db: Database
let context: (minutes: number) => Context

/** `asked`: it was done and nobody hears of it. `lost`: it has not even arrived. */
type Fault = 'none' | 'asked' | 'lost'
let faults: Fault[] = []

const answering = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
  const fault = faults.shift() ?? 'none'
  if (fault !== 'lost') {
    const answer = await call()
    if (fault === 'none') return answer
  }
  throw new Error('the answer was lost')
}

/** Some providers can only charge at once. */
let canDelay = true

const unreliable = (connector: PaymentConnector): PaymentConnector => ({
  ...connector,
  get definition() {
    const { definition } = connector
    return { ...definition, supported_features: { ...definition.supported_features, delayed_capture: canDelay } }
  },
  authorize: (call) => answering(() => connector.authorize(call)),
  capture: (call) => answering(() => connector.capture(call)),
  void: (call) => answering(() => connector.void(call)),
  refund: (call) => answering(() => connector.refund(call)),
})

const forgetful = (connector: GiftCardConnector): GiftCardConnector => ({
  ...connector,
  redeem: (call) => answering(() => connector.redeem(call)),
  reverse: (call) => answering(() => connector.reverse(call)),
  refund: (call) => answering(() => connector.refund(call)),
})

const each = <Connector>(connectors: ReadonlyMap<string, Connector>, change: (connector: Connector) => Connector) =>
  new Map([...connectors].map(([id, connector]) => [id, change(connector)]))

beforeAll(async () => {
  await makeGiftCardService(api)
  await api.request('POST', '/payment-services', {
    body: {
      display_name: 'Sandbox',
      payment_service_definition_id: 'mock-card',
      fields: [{ key: 'merchant_id', value: 'shop' }],
      accepted_currencies: ['EUR'],
      accepted_countries: ['DE'],
    },
  })
  const url = api.database.url('florin_api')
  db = connect({ url, applicationName: 'test', poolSize: 4, onError: () => undefined })
  context = (minutes) => {
    const now = () => new Date(Date.now() + minutes * 60_000)
    const sandbox = { environment: 'sandbox', db, now } as const
    const connectors: Connectors = each(createConnectors(sandbox), unreliable)
    const giftCards: GiftCardConnectors = each(createGiftCards(sandbox), forgetful)
    return {
      ...commandLineContext(db, 'createTransaction'),
      vault: api.vault.client(),
      log: createLog({ level: 'silent', process: 'test' }),
      connectors,
      giftCards,
      now,
      newId,
      accounts: ['default'],
    }
  }
})
afterAll(() => db.close())

async function settled(): Promise<void> {
  faults = []
  // A day passes, as long as anything is open.
  for (let minutes = 2; minutes < 3_000; minutes *= 2) {
    await resolveDue(context(minutes), new AbortController().signal)
    const open = await api.database.query("select from attempts where state <> 'done'")
    if (open.length === 0) return
  }
  throw new Error('something stays open')
}

const someFaults = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.constant<Fault>('none') }, fc.constantFrom<Fault>('asked', 'lost')),
  { maxLength: 8 },
)

/** A payment and what its cards have. */
const somePayment = fc.record({
  cards: fc.array(fc.record({ amount: fc.integer({ min: 1, max: 900 }), isPoor: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  }),
  // Of the main method; the last makes its capture fail.
  rest: fc.constantFrom(0, 1000, 500_002),
  intent: fc.constantFrom('authorize' as const, 'capture' as const),
  canDelay: fc.boolean(),
  isVoided: fc.boolean(),
  faults: someFaults,
})

test('whatever answers are lost, a payment with gift cards ends paid in full or given back in full', async () => {
  await fc.assert(
    fc.asyncProperty(somePayment, async ({ cards, rest, intent, isVoided, ...world }) => {
      const made = cards.map(({ amount, isPoor }) => ({ gift: giftCard(isPoor ? amount - 1 : amount), amount, isPoor }))
      const amount = rest + cards.reduce((sum, one) => sum + one.amount, 0)
      const request: NewTransaction = {
        amount,
        currency: 'EUR',
        country: 'DE',
        intent,
        payment_method: rest > 0 ? (card() as NonNullable<NewTransaction['payment_method']>) : null,
        gift_cards: made.map(({ gift, amount }) => ({ ...gift, amount })),
      }
      faults = [...world.faults]
      canDelay = world.canDelay
      const answer = JSON.parse((await createTransaction(context(0), request, undefined)).text) as {
        id: string
        status: string
      }
      if (isVoided && answer.status === 'authorization_succeeded') {
        await voidTransaction(context(0), answer.id, { idempotencyKey: undefined, isPreferred: false })
      }
      await settled()
      const { body } = await api.request<{ status: string; authorized_amount: number }>(
        'GET',
        `/transactions/${answer.id}`,
      )
      const isPaid = ['authorization_succeeded', 'capture_succeeded'].includes(body.status)
      for (const { gift, amount, isPoor } of made) {
        expect(await left(gift, amount, isPoor)).toBe(isPaid ? 'paid' : 'whole')
      }
      if (isPaid) expect(body.authorized_amount).toBe(amount)
      else expect(['authorization_failed', 'authorization_declined', 'authorization_voided']).toContain(body.status)
      expect(await differences(api)).toEqual([])
    }),
    { numRuns: 60 },
  )
}, 300_000)

async function left(gift: GiftCard, amount: number, isPoor: boolean): Promise<'paid' | 'whole'> {
  const balance = await balanceOf(api, gift)
  const opening = isPoor ? amount - 1 : amount
  return balance === null || balance === opening ? 'whole' : 'paid'
}
