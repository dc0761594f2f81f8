import type { Answer, RequestOptions } from '../api.ts'
import type { Query } from '../leak-scan.ts'
import { card, type Payment } from '../payments.ts'

/** One merchant account, in which the same is done as in the others. */
export interface Scene {
  /** The year of the January in which the accounts are. */
  year: number
  /** Through the api, as this account. */
  call<Body = Record<string, unknown>>(method: string, path: string, options?: RequestOptions): Promise<Answer<Body>>
  /** The same without a token. */
  browse(method: string, path: string, body: object): Promise<Answer>
  query: Query
  /** Until it is so; what the worker does without being waited for. */
  until(isSo: () => Promise<boolean>): Promise<void>
}

/** Something that happens by the passing of time. */
export interface Rule {
  name: string
  /** Makes something that falls due within 30 days; the answer looks what became of it, once. */
  begin(scene: Scene): Promise<() => Promise<unknown>>
  /** What is seen while it has not fallen due, and after. */
  waiting: unknown
  due: unknown
}

/** In the order in which they are begun and looked at. */
export const rules: readonly Rule[] = [
  {
    name: 'an authorization expires: it cannot be captured any more',
    async begin(scene) {
      const { id } = await pay(scene)
      return async () => {
        const headers = { Prefer: 'resource=transaction-capture' }
        const { body } = await scene.call('POST', `/transactions/${id}/capture`, { headers, body: {} })
        return [body['status'], body['code']]
      }
    },
    waiting: ['succeeded', null],
    due: ['declined', 'expired_authorization'],
  },
  {
    name: 'a checkout session expires: it is removed with its card and its code',
    async begin({ call, browse, query }) {
      const { body: session } = await call<{ id: string }>('POST', '/checkout/sessions')
      const sent = await browse('PUT', `/checkout/sessions/${session.id}/fields`, { payment_method: card() })
      if (sent.status !== 204) throw new Error(sent.text)
      const count = async (table: string) => (await query(`select from ${table} where id = $1`, [session.id])).length
      return async () => {
        const { status } = await call('GET', `/checkout/sessions/${session.id}`)
        return [status, await count('checkout_sessions'), await count('vault.secrets'), await count('vault.waiting')]
      }
    },
    waiting: [200, 1, 1, 1],
    due: [404, 0, 0, 0],
  },
  {
    name: 'a payment that was left without an answer is asked about',
    async begin(scene) {
      const { id, status } = await pay(scene, { payment_method: card('4000000000003014') })
      if (status !== 'processing') throw new Error(`the payment is ${status}`)
      // As if it had been asked about three times, so that its turn does not come while we look.
      await scene.query(
        "update attempts set next_check_at = next_check_at + interval '1 day' where transaction_id = $1",
        [id],
      )
      return async () => (await scene.call('GET', `/transactions/${id}`)).body['status']
    },
    waiting: 'processing',
    due: 'authorization_succeeded',
  },
  {
    name: 'a buyer does not approve a payment in time: it fails',
    async begin(scene) {
      const service = await serve(scene, { three_d_secure_enabled: true })
      const { id } = await pay(scene, {
        payment_service_id: service,
        payment_method: card('4111111111111111', { redirect_url: 'https://shop.example.com/' }),
      })
      return async () => {
        const { body } = await scene.call('GET', `/transactions/${id}`)
        return [body['status'], body['error_code']]
      }
    },
    waiting: ['buyer_approval_pending', null],
    due: ['authorization_failed', 'incomplete_buyer_approval'],
  },
  {
    name: 'a buyer does not approve a payment method in time: it fails',
    async begin(scene) {
      await serve(scene, { payment_service_definition_id: 'mock-redirect' })
      const method = { method: 'custom_redirect', country: 'DE', currency: 'EUR' }
      const { body } = await scene.call('POST', '/payment-methods', {
        body: { ...method, redirect_url: 'https://shop.example.com/' },
      })
      return async () => (await scene.call('GET', `/payment-methods/${String(body['id'])}`)).body['status']
    },
    waiting: 'buyer_approval_required',
    due: 'failed',
  },
  {
    name: 'a stored card expires: a payment with it is declined',
    async begin(scene) {
      const id = await store(scene)
      return async () => {
        const { status, error_code } = await pay(scene, { payment_method: { method: 'id', id } })
        return [status, error_code]
      }
    },
    waiting: ['authorization_succeeded', null],
    due: ['authorization_declined', 'expired_payment_method'],
  },
  {
    name: 'a stored card expires whose newer details wait: it gets these',
    async begin(scene) {
      const id = await store(scene)
      const look = async () => (await scene.call('GET', `/payment-methods/${id}`)).body
      const asked = await scene.call('POST', '/account-updater/jobs', { body: { payment_method_ids: [id] } })
      if (asked.status !== 201) throw new Error(asked.text)
      await scene.until(async () => (await look())['has_replacement'] === true)
      return async () => {
        const { has_replacement, expiration_date } = await look()
        return [has_replacement, Number(String(expiration_date).slice(3)) - (scene.year % 100)]
      }
    },
    waiting: [true, 0],
    due: [false, 4],
  },
  {
    name: 'a charge and a refund are settled',
    async begin(scene) {
      const path = await sell(scene, '4111111111111111')
      await scene.call('POST', `${path}/refunds`, { body: { amount: 300 } })
      return async () => {
        const { body } = await scene.call('GET', path)
        return [body['settled'], body['settled_amount'], body['settled_currency']]
      }
    },
    waiting: [false, 0, null],
    due: [true, 999, 'EUR'],
  },
  {
    name: 'a charge is disputed',
    async begin(scene) {
      const path = await sell(scene, '4000000000004004')
      return async () => (await scene.call('GET', path)).body['disputed']
    },
    waiting: false,
    due: true,
  },
  {
    name: 'a charge is disputed, and the dispute is won',
    async begin(scene) {
      const path = await sell(scene, '4000000000004012')
      const count = async (kind: string) =>
        (await scene.call<{ items: unknown[] }>('GET', `${path}/${kind}`)).body.items.length
      return async () => {
        const { body } = await scene.call('GET', path)
        return [body['disputed'], await count('chargebacks'), await count('chargeback-reversals')]
      }
    },
    waiting: [false, 0, 0],
    due: [false, 1, 1],
  },
  {
    name: 'a review that nobody makes is accepted',
    async begin(scene) {
      const definition = { anti_fraud_service_definition_id: 'mock-anti-fraud', display_name: 'Fraud checks' }
      const made = await scene.call('POST', '/anti-fraud-services', { body: definition })
      if (made.status !== 201) throw new Error(made.text)
      const { id } = await pay(scene, { buyer: { billing_details: { email_address: 'review@example.com' } } })
      return async () => (await scene.call('GET', `/transactions/${id}`)).body['pending_review']
    },
    waiting: true,
    due: false,
  },
  {
    name: 'an idempotency key is forgotten, and can be used for something else',
    async begin(scene) {
      const headers = { 'Idempotency-Key': `of ${scene.year}` }
      const ask = (amount: number) =>
        scene.call<Payment>('POST', '/transactions', { headers, body: payment({ amount }) })
      const { status, body, text } = await ask(1299)
      if (status !== 201) throw new Error(text)
      return async () => {
        const kept = await scene.query('select from idempotency_keys where transaction_id = $1', [body.id])
        return [kept.length, (await ask(1300)).status]
      }
    },
    waiting: [1, 400],
    due: [0, 201],
  },
]

const payment = (change: object = {}) => ({
  amount: 1299,
  currency: 'EUR',
  country: 'DE',
  payment_method: card('4111111111111111', { expiration_date: '12/49' }),
  ...change,
})

async function pay({ call }: Scene, change: object = {}): Promise<Payment> {
  const { status, text, body } = await call<Payment>('POST', '/transactions', { body: payment(change) })
  if (status !== 201) throw new Error(text)
  return body
}

/** A sale by a service that reports. */
async function sell(scene: Scene, number: string): Promise<string> {
  const payment_service_id = await serve(scene, { settlement_reporting_enabled: true })
  const { id } = await pay(scene, {
    intent: 'capture',
    payment_service_id,
    payment_method: card(number, { expiration_date: '12/49' }),
  })
  return `/transactions/${id}`
}

/** A card of this January, of which the sandbox's updater says that there is another number. */
async function store({ call, year }: Scene): Promise<string> {
  const body = {
    method: 'card',
    number: '4111111111111111',
    expiration_date: `01/${String(year % 100).padStart(2, '0')}`,
  }
  const stored = await call<{ id: string }>('POST', '/payment-methods', { body })
  if (stored.status !== 201) throw new Error(stored.text)
  return stored.body.id
}

/** A payment service beside the usual one. */
async function serve(scene: Scene, change: object): Promise<string> {
  const { status, text, body } = await scene.call('POST', '/payment-services', {
    body: {
      display_name: 'Another',
      payment_service_definition_id: 'mock-card',
      fields: [{ key: 'merchant_id', value: 'x' }],
      accepted_currencies: ['EUR'],
      accepted_countries: ['DE'],
      ...change,
    },
  })
  if (status !== 201) throw new Error(text)
  return String(body['id'])
}
