import type { CheckoutSession } from '../src/areas/checkout/schema.ts'
import type { ErrorDetail } from '../src/errors.ts'
import { type Answer, send, type TestApi } from './api.ts'

/** A checkout as a merchant and a browser do it. */
export interface Checkout {
  /** By the merchant. */
  create(body?: object, account?: string): Promise<CheckoutSession>
  get(id: string): Promise<Answer<CheckoutSession>>
  /** By the browser: no token. */
  fields(id: string, body: object, method?: 'PUT' | 'POST'): Promise<Answer<Refusal>>
  sendCard(id: string, change?: object, more?: object): Promise<Answer<Refusal>>
  /** A session that a card was sent to. */
  ready(session?: object, card?: object, more?: object): Promise<string>
  pay(sessionId: string, change?: object, options?: PayOptions): Promise<Answer>
  expire(id: string): Promise<void>
  /** Fields of the session in the vault, and whether a code waits. */
  inVault(id: string): Promise<string[]>
}

export interface PayOptions {
  headers?: Record<string, string>
  method?: object
}

export interface Refusal extends Record<string, unknown> {
  message: string
  details: ErrorDetail[]
}

export const accountHeader = 'X-Service-Merchant-Account-ID'
export const visa = { method: 'card', number: '4111111111111111', expiration_date: '12/40', security_code: '123' }

/** What a refusal points to, and how. */
export const places = ({ body }: Answer) =>
  ((body as { details?: ErrorDetail[] }).details ?? []).map(
    ({ location, pointer, type }) => `${location} ${pointer} ${type}`,
  )

export function checkoutOn(api: TestApi): Checkout {
  const create: Checkout['create'] = async (body, account = 'default') => {
    const made = await api.request<CheckoutSession>('POST', '/checkout/sessions', {
      headers: { [accountHeader]: account },
      ...(body && { body }),
    })
    if (made.status !== 201) throw new Error(made.text)
    return made.body
  }
  const fields: Checkout['fields'] = (id, body, method = 'PUT') =>
    send<Refusal>(api.url(), method, `/checkout/sessions/${id}/fields`, { body })
  const sendCard: Checkout['sendCard'] = (id, change = {}, more = {}) =>
    fields(id, { payment_method: { ...visa, ...change }, ...more })
  return {
    create,
    get: (id) => api.request('GET', `/checkout/sessions/${id}`),
    fields,
    sendCard,
    async ready(session, card, more) {
      const { id } = await create(session)
      const sent = await sendCard(id, card, more)
      if (sent.status !== 204) throw new Error(sent.text)
      return id
    },
    pay: (id, change = {}, { headers = {}, method = {} } = {}) =>
      api.request('POST', '/transactions', {
        headers,
        body: {
          amount: 1299,
          currency: 'EUR',
          country: 'DE',
          payment_method: { method: 'checkout-session', id, ...method },
          ...change,
        },
      }),
    async expire(id) {
      await api.database.query(`update checkout_sessions set expires_at = now() - interval '1 second' where id = $1`, [
        id,
      ])
    },
    async inVault(id) {
      const rows = await api.database.query<{ field: string }>(
        `select field from vault.secrets where id = $1 union all select 'waiting ' || field from vault.waiting where id = $1 order by 1`,
        [id],
      )
      return rows.map(({ field }) => field)
    },
  }
}
