import type { CallOptions, CanaryClient } from './canary-client.ts'
import { idOf, type Way } from './canary-requests.ts'

/** The ways of a gift card's number and of its PIN, right or wrong. */

/** With the canary in it: one digit more, which says that the card is good. */
const numberOf = (canary: string) => `${canary}1`

/** A PIN of the canary's own that opens a card; all begin alike, so that they are looked for at once. What is on the card lacks the zero. */
export const pinOf = (canary: string) => `073519${canary.slice(-6)}`

const card = (canary: string, more: object = {}) => ({ number: numberOf(canary), pin: pinOf(canary), ...more })
const known = '6035000000001234'

const send =
  (path: string, body: (canary: string, client: CanaryClient) => unknown, options: Omit<CallOptions, 'body'> = {}) =>
  (client: CanaryClient, canary: string) =>
    client.call('POST', path, { ...options, body: body(canary, client) })
const balances = (items: (canary: string) => unknown[]) => send('/gift-cards/balances', (n) => ({ items: items(n) }))
const store = (body: (canary: string) => unknown) => send('/gift-cards', body)
const activate = (body: (canary: string) => unknown) => send('/gift-cards/activations', body)
const pay = (gift_card: (canary: string) => unknown) =>
  send('/transactions', (n) => ({
    amount: 100,
    currency: 'EUR',
    country: 'DE',
    intent: 'capture',
    gift_cards: [gift_card(n)],
  }))
const euros = { amount: 100, currency: 'EUR' }

export const giftCardWays: Record<string, Way> = {
  balance: { status: 200, weight: 2, send: balances((n) => [card(n)]) },
  'balance of a card that is refused': { status: 200, send: balances((n) => [card(n, { pin: '10002' })]) },
  'balance with another PIN': { status: 200, send: balances((n) => [{ number: known, pin: n }]) },
  'balance of one card twice': { status: 400, send: balances((n) => [card(n), card(n)]) },
  'balance without a PIN': { status: 400, send: balances((n) => [{ number: numberOf(n) }]) },
  'balance as a JSON number': { status: 400, send: balances((n) => [{ number: Number(n), pin: Number(n) }]) },
  'balance with spaces': { status: 400, send: balances((n) => [card(n, { number: `${n} 1` })]) },
  'balance in the id': { status: 400, send: balances((n) => [{ id: n }]) },
  'balance in an unknown field': { status: 400, send: balances((n) => [{ card_number: n, code: pinOf(n) }]) },
  stored: { status: 201, weight: 2, send: store((n) => card(n)) },
  'stored, listed, looked up and read': {
    status: 200,
    weight: 2,
    async send(client, n) {
      const id = idOf(await store((canary) => card(canary))(client, n))
      await client.call('GET', '/gift-cards?limit=5')
      await client.call('POST', '/gift-cards/balances', { body: { items: [{ id }] } })
      return client.call('GET', `/gift-cards/${id}`)
    },
  },
  'stored and deleted': {
    status: 204,
    weight: 2,
    send: async (client, n) =>
      client.call('DELETE', `/gift-cards/${idOf(await store((canary) => card(canary))(client, n))}`),
  },
  'not stored, with another PIN': { status: 400, send: store((n) => card(n, { pin: n })) },
  'not stored, expired': { status: 400, send: store((n) => card(n, { number: `${n}0` })) },
  'not stored, of no buyer': { status: 400, send: store((n) => card(n, { buyer_external_identifier: 'nobody' })) },
  'not stored, in a list': { status: 400, send: store((n) => card(n, { number: [numberOf(n)], pin: [pinOf(n)] })) },
  'not stored, in the query': {
    status: 400,
    send: (client, n) => client.call('GET', `/gift-cards?cursor=${n}&pin=${pinOf(n)}`),
  },
  activated: { status: 201, weight: 2, send: activate((n) => card(n, euros)) },
  'activated and stored': { status: 201, weight: 2, send: activate((n) => card(n, { ...euros, store: true })) },
  'activated with a key': {
    status: 201,
    send: (client, n) =>
      send('/gift-cards/activations', (canary) => card(canary, euros), {
        headers: { 'idempotency-key': crypto.randomUUID() },
      })(client, n),
  },
  'not activated, refused': { status: 400, send: activate((n) => card(n, { pin: n })) },
  'not activated, without a currency': { status: 400, send: activate((n) => card(n, { amount: 5 })) },
  paid: { status: 201, weight: 2, send: pay((n) => card(n, { amount: 100 })) },
  'paid with another PIN': { status: 201, send: pay((n) => card(n, { amount: 100, pin: n })) },
  'not paid, with a wrong amount': { status: 400, send: pay((n) => card(n, { amount: n })) },
}

/** While the vault does not answer. */
export const giftCardWaysWithoutVault: Record<string, Way> = {
  'gift card, vault away': { status: 504, send: store((n) => card(n)) },
  'balance, vault away': { status: 504, send: balances((n) => [card(n)]) },
  'activation, vault away': { status: 504, send: activate((n) => card(n, { ...euros, store: true })) },
}

/** While the database refuses the row of a stored card, or of an activation. */
export const giftCardWaysIntoARefusal: Record<string, Way> = {
  'gift card refused': { status: 500, send: store((n) => card(n)) },
  'activation refused': { status: 500, send: activate((n) => card(n, { ...euros, store: true })) },
}

/** While the provider's own database refuses its rows: nobody answers. */
export const giftCardWaysToASilentProvider: Record<string, Way> = {
  'balance unknown': { status: 200, send: balances((n) => [card(n)]) },
  'not stored, unknown': { status: 504, send: store((n) => card(n)) },
  'activation unknown': { status: 504, send: activate((n) => card(n, euros)) },
}
