import { beforeAll } from 'vitest'
import type { ApiConfig } from '../src/main/api.ts'
import { type Answer, type TestApi, useApi } from './api.ts'

export type Payment = Record<string, unknown> & { id: string; status: string }

interface Payments {
  api: TestApi
  /** Of the service that takes payments unless a test makes others. */
  service(): string
  makeService(change?: object, account?: string): Promise<string>
  pay(change?: object, headers?: Record<string, string>): Promise<Answer<Payment>>
  /** The path of a payment that was made. */
  paid(change?: object): Promise<string>
  act<Body = Payment>(path: string, body?: object, headers?: Record<string, string>): Promise<Answer<Body>>
  get<Body = Payment>(path: string): Promise<Body>
  store(change?: object): Promise<Payment>
  /** The time that the sandbox takes for what it does not do at once is over. */
  elapse(): Promise<void>
  /** Asks for the latest, after that time. */
  settled(path: string): Promise<Payment>
  /** Names of what happened, oldest first. */
  timeline(path: string): Promise<string[]>
  /** Events about a resource, in the order of their sequence: `name sequence`. */
  events(resourceId: string): Promise<string[]>
}

export const card = (number = '4111111111111111', change: object = {}) => ({
  method: 'card',
  number,
  expiration_date: '12/30',
  security_code: '123',
  ...change,
})

export const preferring = (resource: string) => ({ Prefer: `resource=${resource}` })

/** The status of a refusal, and what it points to. */
export function refusal({ status, body }: Answer<unknown>): [number, ...string[]] {
  const { details = [] } = body as { details?: { pointer: string; type: string }[] }
  return [status, ...details.map(({ pointer, type }) => `${pointer} ${type}`).sort()]
}

export const idOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

/** An api with a payment service of the sandbox, and ways to pay there. */
export function usePayments(overrides: Partial<ApiConfig> = {}): Payments {
  const api = useApi(overrides)
  let service = ''
  const header = (account?: string): Record<string, string> =>
    account === undefined ? {} : { 'X-Service-Merchant-Account-ID': account }

  const payments: Payments = {
    api,
    service: () => service,
    async makeService(change = {}, account) {
      const { status, text, body } = await api.request<{ id: string }>('POST', '/payment-services', {
        headers: header(account),
        body: {
          display_name: 'Sandbox',
          payment_service_definition_id: 'mock-card',
          fields: [{ key: 'merchant_id', value: 'shop' }],
          accepted_currencies: ['EUR', 'USD'],
          accepted_countries: ['DE', 'US'],
          ...change,
        },
      })
      if (status !== 201) throw new Error(text)
      return body.id
    },
    pay: (change = {}, headers = {}) =>
      api.request<Payment>('POST', '/transactions', {
        headers,
        body: { amount: 1299, currency: 'EUR', country: 'DE', payment_method: card(), ...change },
      }),
    async paid(change) {
      const { status, text, body } = await payments.pay(change)
      if (status !== 201) throw new Error(text)
      return `/transactions/${body.id}`
    },
    act: (path, body, headers = {}) => api.request('POST', path, { headers, ...(body && { body }) }),
    async get<Body>(path: string) {
      const { status, text, body } = await api.request<Body>('GET', path)
      if (status !== 200) throw new Error(text)
      return body
    },
    async store(change) {
      const { security_code: _none, ...body } = card()
      const { text, status, ...stored } = await api.request<Payment>('POST', '/payment-methods', {
        body: { ...body, ...change },
      })
      if (status !== 201) throw new Error(text)
      return stored.body
    },
    elapse: async () =>
      void (await api.database.query("update sandbox_card_operations set due_at = due_at - interval '1 hour'")),
    async settled(path) {
      await payments.elapse()
      return (await payments.act(`${path}/sync`)).body
    },
    async timeline(path) {
      const { items } = await payments.get<{ items: { name: string }[] }>(`${path}/events`)
      return items.map(({ name }) => name).reverse()
    },
    async events(resourceId) {
      const rows = await api.database.query<{ name: string; sequence: number }>(
        'select name, sequence from events where resource_id = $1 order by sequence, id',
        [resourceId],
      )
      return rows.map(({ name, sequence }) => `${name} ${sequence}`)
    },
  }
  beforeAll(async () => {
    service = await payments.makeService()
  })
  return payments
}
