import { expect, test } from 'vitest'
import { useApi } from '../../../../test/api.ts'
import { card } from '../../../../test/payments.ts'

const api = useApi({ environment: 'production' })

test('in production there is nobody to play: no review, and no anti-fraud service of the sandbox', async () => {
  const { status, body } = await api.request<{ id: string }>('POST', '/transactions', {
    body: { amount: 1299, currency: 'EUR', payment_method: card() },
  })
  expect(status).toBe(201)
  const review = await api.request('POST', `/transactions/${body.id}/review`, { body: { decision: 'accept' } })
  expect(review.status).toBe(404)
  const service = await api.request('POST', '/anti-fraud-services', {
    body: { anti_fraud_service_definition_id: 'mock-anti-fraud', display_name: 'Fraud checks' },
  })
  expect(service.status).toBe(400)
})
