import { randomUUID } from 'node:crypto'
import type { CallOptions, CanaryClient } from './canary-client.ts'
import { card, idOf, type Way } from './canary-requests.ts'
import { mistyped } from './number-scan.ts'

/**
 * Every way a card number can come to the api with a payment. The sandbox refuses cards that are no test cards, which is a payment that
 * failed. Left out is what stands where the merchant writes what is kept: metadata, `connection_options`, the buyer's details, the
 * references, the idempotency key.
 */

const testCard = '4111111111111111'
const unknownId = '01900000-0000-7000-8000-000000000000'

const payment = (number: unknown, more: object = {}, ofCard: object = {}) => ({
  amount: 1299,
  currency: 'EUR',
  country: 'DE',
  payment_method: card(number, { security_code: '123', ...ofCard }),
  ...more,
})
const pay =
  (body: (number: string, client: CanaryClient) => unknown, options: Omit<CallOptions, 'body'> = {}): Way['send'] =>
  (client, number) =>
    client.call('POST', '/transactions', { ...options, body: body(number, client) })
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

/** What was wrong with a body is not kept with what checked it. */
export const waysToNameAWrongKind: Record<string, Way> = {
  'paid, in the kind': { status: 400, send: pay((n) => payment(testCard, {}, { method: n })) },
  'stored, in the kind': {
    status: 400,
    send: (client, n) => client.call('POST', '/payment-methods', { body: card(testCard, { method: n }) }),
  },
}

export const waysToPay: Record<string, Way> = {
  paid: { status: 201, weight: 4, send: pay((n) => payment(n)) },
  'charged at once': { status: 201, weight: 2, send: pay((n) => payment(n, { intent: 'capture' })) },
  'charged later': { status: 201, send: pay((n) => payment(n, { intent: 'capture', async_capture: true })) },
  'paid with an amount that is declined': { status: 201, send: pay((n) => payment(n, { amount: 200_011 })) },
  'paid and stored': { status: 201, weight: 4, send: pay((n) => payment(n, { store: true })) },
  'paid and stored for a buyer': {
    status: 201,
    send: pay((n, { buyerId }) => payment(n, { store: true, buyer_id: buyerId })),
  },
  'paid and stored with a reference that is taken': {
    status: 409,
    send: pay((n) => payment(n, { store: true }, { external_identifier: 'canary-taken' })),
  },
  'paid, read, listed and asked about': {
    status: 200,
    weight: 2,
    async send(client, number) {
      const path = `/transactions/${idOf(await pay((n) => payment(n))(client, number))}`
      await client.call('GET', path)
      await client.call('GET', '/transactions?limit=5')
      await client.call('GET', `${path}/events`)
      return client.call('POST', `${path}/sync`)
    },
  },
  'paid with a stored card': {
    status: 201,
    weight: 2,
    async send(client, number) {
      const id = idOf(await client.call('POST', '/payment-methods', { body: card(number) }))
      const body = { ...payment(number), payment_method: { method: 'id', id, security_code: '123' } }
      return client.call('POST', '/transactions', { body })
    },
  },
  'paid twice with a key': {
    status: 201,
    weight: 4,
    async send(client, number) {
      const once = pay((n) => payment(n, { store: true }), withKey(randomUUID()))
      await once(client, number)
      return once(client, number)
    },
  },
  'paid with the key of another card': {
    status: 400,
    async send(client, number) {
      const options = withKey(randomUUID())
      await pay(() => payment(testCard), options)(client, number)
      return pay((n) => payment(n), options)(client, number)
    },
  },
  'paid in a currency that nobody takes': {
    status: 201,
    send: pay((n) => payment(n, { currency: 'SEK', store: true })),
  },
  'paid by a merchant who must not': { status: 400, send: pay((n) => payment(n, { merchant_initiated: true })) },
  'paid with a service that is not there': {
    status: 400,
    send: pay((n) => payment(n, { payment_service_id: unknownId })),
  },
  'paid by an unknown buyer': { status: 400, send: pay((n) => payment(n, { buyer_id: unknownId })) },
  'paid, check digit wrong': { status: 400, weight: 2, send: pay((n) => payment(mistyped(n))) },
  'paid, as a JSON number': { status: 400, send: pay((n) => payment(Number(n))) },
  'paid, in a list': { status: 400, send: pay((n) => payment([n])) },
  'paid, with spaces': { status: 400, send: pay((n) => payment(n.replaceAll(/(\d{4})(?=\d)/g, '$1 '))) },
  'paid, date missing': { status: 400, send: pay((n) => payment(n, {}, { expiration_date: undefined })) },
  'paid, kind missing': { status: 400, send: pay((n) => payment(n, {}, { method: undefined })) },
  'paid, in a field nobody knows': {
    status: 400,
    send: pay((n) => payment(testCard, { card_number: n }, { pan: { value: n } })),
  },
  'paid, in the security code': { status: 400, send: pay((n) => payment(testCard, {}, { security_code: n })) },
  'paid, in the date': { status: 400, send: pay((n) => payment(testCard, {}, { expiration_date: n })) },
  ...waysToNameAWrongKind,
  'paid, in the id of a stored card': {
    status: 400,
    send: pay((n) => ({ ...payment(n), payment_method: { method: 'id', id: n } })),
  },
  'paid, in the amount': { status: 400, send: pay((n) => payment(testCard, { amount: Number(n) })) },
  'paid, in the currency': { status: 400, send: pay((n) => payment(testCard, { currency: n, country: n })) },
  'paid, in the id of a service': { status: 400, send: pay((n) => payment(testCard, { payment_service_id: n })) },
  'paid, in place of the method': { status: 400, send: pay((n) => ({ ...payment(n), payment_method: n })) },
  'captured, in the amount': {
    status: 400,
    send: (client, n) => client.call('POST', `/transactions/${unknownId}/capture`, { body: { amount: Number(n) } }),
  },
  'captured, in a preference': {
    status: 404,
    send: (client, n) =>
      client.call('POST', `/transactions/${unknownId}/capture`, { headers: { prefer: `resource=${n}` } }),
  },
  'refunded, in the target': {
    status: 400,
    send: (client, n) => client.call('POST', `/transactions/${unknownId}/refunds`, { body: { target_id: n } }),
  },
  'in the path of a transaction': { status: 400, send: (client, n) => client.call('GET', `/transactions/${n}`) },
  'in the path of a refund': { status: 400, send: (client, n) => client.call('GET', `/refunds/${n}`) },
  'in the cursor of a timeline': {
    status: 400,
    send: (client, n) => client.call('GET', `/transactions/${unknownId}/events?cursor=${n}`),
  },
  'in a key that is too long': {
    status: 400,
    send: (client, n) => pay(() => payment(testCard), withKey(n.padEnd(300, n)))(client, n),
  },
  'paid without a valid token': { status: 401, send: pay((n) => payment(n), { token: 'not.a.token' }) },
  'paid without the scope': {
    status: 403,
    send: (client, n) => pay((number) => payment(number), { token: client.weakToken })(client, n),
  },
  'paid as early data': { status: 425, send: pay((n) => payment(n), { headers: { 'early-data': '1' } }) },
  'paid with JSON that ends too early': {
    status: 400,
    send: (client, n) => client.call('POST', '/transactions', { text: JSON.stringify(payment(n)).slice(0, -5) }),
  },
}

/** While connections break. */
export const waysToPayOnly: Record<string, Way> = {
  paid: { status: 201, send: pay((n) => payment(n, { store: true })) },
}

/** While the vault does not answer. */
export const waysToPayWithoutVault: Record<string, Way> = {
  'vault away, paid': { status: 504, send: pay((n) => payment(n, { store: true })) },
}

/** While the database refuses the row of a payment. */
export const waysToPayIntoARefusal: Record<string, Way> = {
  'payment refused': {
    status: 500,
    send: (client, n) => pay((number) => payment(number, { store: true }), withKey(randomUUID()))(client, n),
  },
}

/** While the provider cannot write down what it was asked: nobody knows, so the payment is processing. */
export const waysToPaySilently: Record<string, Way> = {
  'provider silent': { status: 201, send: pay((n) => payment(n)) },
}
