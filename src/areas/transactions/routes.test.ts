import { beforeAll, expect, test } from 'vitest'
import { redirectMethods } from '../../methods.ts'
import { useApi } from '../../../test/api.ts'

const api = useApi()
let serviceId: string

beforeAll(async () => {
  const { body } = await api.request('POST', '/payment-services', {
    body: {
      display_name: 'Sandbox',
      payment_service_definition_id: 'mock-card',
      fields: [{ key: 'merchant_id', value: 'x' }],
      accepted_currencies: ['EUR', 'USD'],
      accepted_countries: ['DE', 'US'],
    },
  })
  serviceId = String(body['id'])
})

const card = (number = '4111111111111111') => ({
  method: 'card',
  number,
  expiration_date: '12/30',
  security_code: '123',
})
const pay = (change: object = {}, headers: Record<string, string> = {}) =>
  api.request('POST', '/transactions', {
    headers,
    body: { amount: 1299, currency: 'EUR', country: 'DE', payment_method: card(), ...change },
  })

test('a payment is authorized, captured and refunded', async () => {
  const paid = await pay()
  expect(paid.body).toMatchObject({ status: 'authorization_succeeded', authorized_amount: 1299, captured_amount: 0 })
  expect(paid.status).toBe(201)
  const path = `/transactions/${String(paid.body['id'])}`
  const captured = await api.request('POST', `${path}/capture`)
  expect(captured.body).toMatchObject({ status: 'capture_succeeded', captured_amount: 1299 })
  const refunded = await api.request('POST', `${path}/refunds`, { body: { amount: 300 } })
  expect(refunded.body).toMatchObject({ status: 'succeeded', amount: 300 })
  const rest = await api.request('POST', `${path}/refunds/all`)
  expect(rest.body).toMatchObject({ items: [{ status: 'succeeded', amount: 999 }] })
  const read = await api.request('GET', path)
  expect(read.body).toMatchObject({ refunded_amount: 1299, status: 'capture_succeeded' })
  const list = await api.request<{ items: unknown[] }>('GET', '/transactions')
  expect(list.body.items[0]).toMatchObject({ id: paid.body['id'], payment_service: { id: serviceId } })
  const events = await api.request<{ items: { name: string }[] }>('GET', `${path}/events`)
  expect(events.body.items).toHaveLength(6)
})

test('a kind of payment method that does not exist is answered with those that do', async () => {
  const { status, body } = await pay({ payment_method: { method: 'cash' } })
  const detail = {
    location: 'body',
    pointer: '/payment_method/method',
    message: `Must be one of card, id, checkout-session, ${redirectMethods.join(', ')}`,
    type: 'type_error.enum',
  }
  expect([status, body['details']]).toEqual([400, [detail]])
})
