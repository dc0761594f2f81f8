import { randomUUID } from 'node:crypto'
import type { EventName } from '../events/catalog.ts'

/** How events are brought about in a sandbox: by doing what they tell of. */

/** A request to the API, and the id in its answer. */
export type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
) => Promise<{ id: string; items: { id: string }[] }>
type Trigger = (call: Call) => Promise<unknown>

const card = (number = '4111111111111111') => ({
  method: 'card',
  number,
  expiration_date: '12/30',
  security_code: '123',
})
const pay =
  (change: object = {}) =>
  (call: Call) =>
    call('POST', '/transactions', {
      amount: 1299,
      currency: 'EUR',
      country: 'DE',
      payment_method: card(),
      ...change,
    })
const payAndThen =
  (action: string, change: object = {}, body?: object): Trigger =>
  async (call) => {
    const { id } = await pay(change)(call)
    await call('POST', `/transactions/${id}/${action}`, body)
  }
const refund = (change: object = {}, amount = 1299): Trigger =>
  payAndThen('refunds', { intent: 'capture', amount, ...change }, { amount })

const buyer = (call: Call) => call('POST', '/buyers', { display_name: 'Ada Lovelace' })
const change =
  (path: string, make: (call: Call) => Promise<{ id: string }>, body: object): Trigger =>
  async (call) =>
    call('PUT', `${path}/${(await make(call)).id}`, body)
const remove =
  (path: string, make: (call: Call) => Promise<{ id: string }>): Trigger =>
  async (call) =>
    call('DELETE', `${path}/${(await make(call)).id}`)

/** Where a buyer's goods go, with one more step on the path of the answer. */
const shipping =
  (then: (call: Call, path: string) => Promise<unknown> = async () => undefined): Trigger =>
  async (call) => {
    const path = `/buyers/${(await buyer(call)).id}/shipping-details`
    const address = { city: 'London', country: 'GB', postal_code: 'SW1Y 4JH', line1: "12 St James's Square" }
    const { id } = await call('POST', path, { first_name: 'Ada', last_name: 'Lovelace', address })
    await then(call, `${path}/${id}`)
  }

const storedCard = (call: Call) => {
  const { security_code: _none, ...rest } = card()
  return call('POST', '/payment-methods', rest)
}

async function giftCard(call: Call): Promise<{ id: string }> {
  const { items } = await call('GET', '/gift-card-services')
  if (items.length === 0) {
    await call('POST', '/gift-card-services', {
      gift_card_service_definition_id: 'mock-gift-card',
      display_name: 'Gift cards',
      fields: [{ key: 'api_key', value: 'any' }],
    })
  }
  const digits = BigInt(`0x${randomUUID().replaceAll('-', '')}`)
    .toString()
    .slice(-11)
  return call('POST', '/gift-cards', { number: `6035${digits}1`, pin: '05000' })
}

async function keyPair(call: Call): Promise<{ id: string }> {
  const { items } = await call('GET', '/roles')
  return call('POST', '/api-key-pairs', { display_name: 'Triggered', role_ids: items.slice(0, 1).map(({ id }) => id) })
}

async function review(call: Call): Promise<void> {
  const { id: service } = await call('POST', '/anti-fraud-services', {
    anti_fraud_service_definition_id: 'mock-anti-fraud',
    display_name: 'Triggered',
    active: true,
  })
  const { id } = await pay({ buyer: { billing_details: { email_address: 'review@example.com' } } })(call)
  await call('POST', `/transactions/${id}/review`, { decision: 'accept' })
  await call('DELETE', `/anti-fraud-services/${service}`)
}

const redirected = {
  method: 'custom_redirect',
  country: 'DE',
  currency: 'EUR',
  redirect_url: 'https://shop.example.com/return',
}

/** What nobody can do at once, and how it comes about. */
export const untriggered = {
  'transaction.settled':
    'It comes with time: florin trigger transaction.captured, then florin clock advance --account default 3d',
  'webhook-subscription.test': 'It is sent to one subscription: florin webhook-subscriptions test <subscription_id>',
} as const

export const triggers: Readonly<Record<Exclude<EventName, keyof typeof untriggered>, Trigger>> = {
  'api-key-pair.created': keyPair,
  'api-key-pair.updated': change('/api-key-pairs', keyPair, { display_name: 'Triggered again' }),
  'api-key-pair.deleted': remove('/api-key-pairs', keyPair),
  'buyer.created': buyer,
  'buyer.updated': change('/buyers', buyer, { display_name: 'Ada King' }),
  'buyer.deleted': remove('/buyers', buyer),
  'capture.pending': payAndThen('capture', { payment_method: card('4000000000002016') }),
  'capture.succeeded': payAndThen('capture'),
  'capture.declined': payAndThen('capture', { amount: 500_002 }),
  'capture.failed': payAndThen('capture', { amount: 500_001 }),
  'gift-card.created': giftCard,
  'gift-card.deleted': remove('/gift-cards', giftCard),
  'payment-method.updated': change('/payment-methods', storedCard, { expiration_date: '11/31' }),
  'payment-method.deleted': remove('/payment-methods', storedCard),
  'refund.pending': refund({ payment_method: card('4000000000002032') }),
  'refund.succeeded': refund(),
  'refund.declined': refund({}, 520_002),
  'refund.failed': refund({}, 520_001),
  'shipping-details.created': shipping(),
  'shipping-details.updated': shipping((call, path) => call('PUT', path, { first_name: 'Augusta' })),
  'shipping-details.deleted': shipping((call, path) => call('DELETE', path)),
  'transaction.authentication-pending': pay({ payment_method: redirected }),
  'transaction.authorized': pay(),
  'transaction.declined': pay({ amount: 200_011 }),
  'transaction.failed': pay({ amount: 300_004 }),
  'transaction.capture-pending': payAndThen('capture', { payment_method: card('4000000000002016') }),
  'transaction.captured': pay({ intent: 'capture' }),
  'transaction.capture-failed': payAndThen('capture', { amount: 500_001 }),
  'transaction.void-pending': payAndThen('void', { payment_method: card('4000000000002024') }),
  'transaction.voided': payAndThen('void'),
  'transaction.void-declined': payAndThen('void', { amount: 510_002 }),
  'transaction.void-failed': payAndThen('void', { amount: 510_001 }),
  'transaction.review-accepted': review,
  'transaction.modified': change('/transactions', pay(), { metadata: { triggered: 'yes' } }),
}
