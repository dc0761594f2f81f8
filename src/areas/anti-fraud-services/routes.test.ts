import { beforeEach, describe, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { refusal } from '../../../test/payments.ts'
import type { AntiFraudService } from './schema.ts'

const api = useApi()
const path = '/anti-fraud-services'
const create = (change: object = {}, headers: Record<string, string> = {}) =>
  api.request<AntiFraudService>('POST', path, {
    headers,
    body: { anti_fraud_service_definition_id: 'mock-anti-fraud', display_name: 'Fraud checks', ...change },
  })
const update = (id: string, body: object) => api.request<AntiFraudService>('PUT', `${path}/${id}`, { body })

beforeEach(() => api.database.query('delete from anti_fraud_services'))

test('a service is created, read, listed, changed and deleted', async () => {
  const { status, body: made } = await create()
  expect([status, made]).toEqual([
    201,
    {
      type: 'anti-fraud-service',
      id: expect.any(String),
      merchant_account_id: 'default',
      anti_fraud_service_definition_id: 'mock-anti-fraud',
      display_name: 'Fraud checks',
      active: true,
      reviews_enabled: true,
      fields: [],
      created_at: expect.any(String),
      updated_at: made.created_at,
    },
  ])
  expect((await api.request('GET', `${path}/${made.id}`)).body).toEqual(made)
  expect((await api.request('GET', path)).body).toMatchObject({ items: [made] })

  const { body: changed } = await update(made.id, { reviews_enabled: false, display_name: null })
  expect(changed).toEqual({ ...made, reviews_enabled: false, updated_at: changed.updated_at })
  expect((await update(made.id, { active: false })).body).toMatchObject({ active: false, reviews_enabled: false })

  expect((await api.request('DELETE', `${path}/${made.id}`)).status).toBe(204)
  expect((await api.request('GET', `${path}/${made.id}`)).status).toBe(404)
  expect((await update(made.id, {})).status).toBe(404)
})

test('a definition that this instance does not have is refused, and so are fields', async () => {
  const unknown = await create({ anti_fraud_service_definition_id: 'another' })
  expect(refusal(unknown)).toEqual([400, '/anti_fraud_service_definition_id value_error.unknown'])
  expect((await create({ fields: [{ key: 'x', value: 'y' }] })).status).toBe(400)
})

describe('of one account one service is active:', () => {
  test('a second one is refused until the first is not', async () => {
    const { body: first } = await create()
    expect(refusal(await create())).toEqual([400, '/active value_error.conflict'])
    const { body: second } = await create({ active: false })
    expect(refusal(await update(second.id, { active: true }))).toEqual([400, '/active value_error.conflict'])
    await update(first.id, { active: false })
    expect((await update(second.id, { active: true })).body).toMatchObject({ active: true })
    expect((await create({}, { 'X-Service-Merchant-Account-ID': 'other' })).status).toBe(201)
  })

  test('also when 20 are made at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19)
  })
})
