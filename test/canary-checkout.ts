import { expect } from 'vitest'
import type { CanaryClient } from './canary-client.ts'
import { card, idOf, type Way } from './canary-requests.ts'
import type { Deployment } from './deployment.ts'
import type { Query } from './leak-scan.ts'
import { mistyped } from './number-scan.ts'

/** The ways of a card number through a checkout session: sent by a browser, and then paid with, stored, forgotten or lost. */

const createSession = async (client: CanaryClient) =>
  idOf(await client.call('POST', '/checkout/sessions', { body: {} }))
const fieldsOf = (id: string) => `/checkout/sessions/${id}/fields`
const bodyOf = (number: unknown, more: object = {}) => ({
  payment_method: card(number, { security_code: '123', ...more }),
  postal_code: '10117',
})
const sendFields = (client: CanaryClient, id: string, number: unknown, more: object = {}) =>
  client.call('PUT', fieldsOf(id), { token: 'none', body: bodyOf(number, more) })

/** A session that the number was sent to. */
async function ready(client: CanaryClient, number: string): Promise<string> {
  const id = await createSession(client)
  expect((await sendFields(client, id, number)).status).toBe(204)
  return id
}

const pay = (client: CanaryClient, id: string, more: object = {}) =>
  client.call('POST', '/transactions', {
    body: { amount: 1299, currency: 'EUR', payment_method: { method: 'checkout-session', id }, ...more },
  })

export const checkoutWays: Record<string, Way> = {
  'fields card': {
    status: 204,
    weight: 2,
    send: async (client, n) => sendFields(client, await createSession(client), n),
  },
  'fields by POST': {
    status: 204,
    send: async (client, n) => client.call('POST', fieldsOf(await createSession(client)), { body: bodyOf(n) }),
  },
  'fields again': {
    status: 204,
    send: async (client, n) => sendFields(client, await ready(client, n), '4111111111111111', { security_code: '456' }),
  },
  'fields then payment': { status: 201, weight: 2, send: async (client, n) => pay(client, await ready(client, n)) },
  'fields then payment that stores': {
    status: 201,
    send: async (client, n) => pay(client, await ready(client, n), { store: true }),
  },
  'fields then payment that is refused': {
    status: 400,
    send: async (client, n) => pay(client, await ready(client, n), { intent: 'capture', amount: 0 }),
  },
  'fields then stored': {
    status: 201,
    send: async (client, n) =>
      client.call('POST', '/payment-methods', { body: { method: 'checkout-session', id: await ready(client, n) } }),
  },
  'fields then read and changed': {
    status: 200,
    async send(client, n) {
      const path = `/checkout/sessions/${await ready(client, n)}`
      await client.call('PUT', path, { body: { amount: 5 } })
      return client.call('GET', path)
    },
  },
  'fields then deleted': {
    status: 204,
    send: async (client, n) => client.call('DELETE', `/checkout/sessions/${await ready(client, n)}`),
  },
  'fields mistyped': {
    status: 400,
    send: async (client, n) => sendFields(client, await createSession(client), mistyped(n)),
  },
  'fields as a JSON number': {
    status: 400,
    send: async (client, n) => sendFields(client, await createSession(client), Number(n)),
  },
  'fields of no session': {
    status: 404,
    send: (client, n) => sendFields(client, '0b8f8f2c-7f0b-4f6e-9d8e-1a2b3c4d5e6f', n),
  },
  'in the path of fields': { status: 400, send: (client, n) => sendFields(client, n, '4111111111111111') },
  'in the first digits': {
    status: 400,
    send: async (client, n) =>
      client.call('POST', `/checkout/sessions/${await createSession(client)}/card-details`, { body: { bin: n } }),
  },
}

/** The api dies with the card sent and not yet paid with. `reconnect` speaks to the one that comes after. */
export async function payAfterKill(
  deployment: Deployment,
  client: CanaryClient,
  numbers: readonly string[],
  reconnect: () => CanaryClient,
): Promise<CanaryClient> {
  const sessions = await Promise.all(numbers.map((number) => ready(client, number)))
  await deployment.stop('api', 'SIGKILL')
  await deployment.start('api')
  const next = reconnect()
  for (const id of sessions) expect((await pay(next, id)).status).toBe(201)
  return next
}

/** Nobody pays: the worker removes what has expired. */
export async function expireAndSweep(client: CanaryClient, query: Query, numbers: readonly string[]): Promise<void> {
  const sessions = await Promise.all(numbers.map((number) => ready(client, number)))
  await query(`update checkout_sessions set expires_at = now() - interval '1 second'`)
  await query(`update jobs set run_at = now() where kind = 'sweep-checkout-sessions'`)
  const left = () => query('select id from checkout_sessions limit 1')
  await expect.poll(left, { timeout: 60_000 }).toEqual([])
  const secrets = 'select id from vault.secrets where id = any($1) union all select id from vault.waiting'
  expect(await query(secrets, [sessions])).toEqual([])
}
