import { randomUUID } from 'node:crypto'
import { type Florin, FlorinError, type Transaction } from '@florin/sdk'
import { currency, type Product } from './catalogue.ts'

export interface Order {
  id: string
  product: Product
  /** Where the buyer's browser sends the card. A new one for each try. */
  sessionId: string
  tries: number
  transactionId: string | undefined
}

/** What the buyer sees next. */
export type Outcome =
  | { kind: 'paid' }
  | { kind: 'approve'; url: string }
  | { kind: 'open' }
  | { kind: 'again'; message: string }

/** Orders, and how they are paid. They are kept in memory: this is an example. */
export function createOrders(florin: Florin, shopUrl: () => string) {
  const orders = new Map<string, Order>()

  async function newSession(product: Product): Promise<string> {
    const { id } = await florin.checkout.sessions.create({ amount: product.price, currency })
    return id
  }

  /** The card is in the session; it never comes here. */
  async function pay(order: Order): Promise<Outcome> {
    try {
      const payment = await florin.transactions.create(
        {
          amount: order.product.price,
          currency,
          country: 'DE',
          intent: 'capture',
          external_identifier: order.id,
          payment_method: {
            method: 'checkout-session',
            id: order.sessionId,
            redirect_url: `${shopUrl()}/return?order=${order.id}`,
          },
        },
        // One try is one payment, however often the button is pressed or the network fails.
        { idempotencyKey: `${order.id}-${order.tries}` },
      )
      order.transactionId = payment.id
      return await settle(order, payment)
    } catch (error) {
      if (!(error instanceof FlorinError) || error.code !== 'bad_request') throw error
      return { kind: 'again', message: 'Please enter your card details.' }
    }
  }

  async function settle(order: Order, { status, error_code: reason, payment_method: method }: Transaction) {
    const approvalUrl = method?.approval_url
    if (status === 'capture_succeeded') return { kind: 'paid' } as const
    if (status === 'buyer_approval_pending' && approvalUrl) return { kind: 'approve', url: approvalUrl } as const
    if (status === 'processing' || status === 'capture_pending') return { kind: 'open' } as const
    order.sessionId = await newSession(order.product)
    order.tries += 1
    order.transactionId = undefined
    return { kind: 'again', message: messageOf(reason) } as const
  }

  return {
    find: (id: string | null) => orders.get(id ?? ''),
    pay,
    async begin(product: Product): Promise<Order> {
      const sessionId = await newSession(product)
      const order = { id: randomUUID(), product, sessionId, tries: 1, transactionId: undefined }
      orders.set(order.id, order)
      return order
    },
    /** How things stand, by what Florin says: the address that the buyer comes back with could say anything. */
    async look(order: Order): Promise<Outcome> {
      if (order.transactionId === undefined) return { kind: 'again', message: 'This order is not paid yet.' }
      return await settle(order, await florin.transactions.get(order.transactionId))
    },
  }
}

const messages: Readonly<Record<string, string>> = {
  insufficient_funds: 'There is not enough money on this card. Please try another one.',
  expired_payment_method: 'This card has expired. Please try another one.',
  incorrect_cvv: 'The security code does not fit this card. Please check it.',
  failed_buyer_approval: 'Your bank did not confirm the payment. Please try again, or use another card.',
  cancelled_buyer_approval: 'You went back before the payment was confirmed. Nothing was charged.',
  incomplete_buyer_approval: 'The confirmation took too long. Nothing was charged. Please try again.',
}

const messageOf = (reason: string | null) =>
  messages[reason ?? ''] ?? 'The card was declined. Nothing was charged. Please try another card.'
