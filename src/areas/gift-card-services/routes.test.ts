import { beforeEach, describe, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { refusal } from '../../../test/payments.ts'
import type { GiftCardService } from './schema.ts'

const api = useApi()
const path = '/gift-card-services'
const secret = 'a-secret-of-the-provider'
const create = (change: object = {}, headers: Record<string, string> = {}) =>
  api.request<GiftCardService>('POST', path, {
    headers,
    body: {
      gift_card_service_definition_id: 'mock-gift-card',
      display_name: 'Gift cards',
      fields: [{ key: 'api_key', value: secret }],
      ...change,
    },
  })
const update = (id: string, body: object) => api.request<GiftCardService>('PUT', `${path}/${id}`, { body })
const secretsOf = (id: string) =>
  api.vault.client().readSecrets({ merchantAccountId: 'default', id }, ['field.api_key'])

beforeEach(() => api.database.query('delete from gift_card_services'))

test('a service is created, read, listed, changed and deleted, and its secret is never shown', async () => {
  const answers: string[] = []
  const { status, body: made, text } = await create()
  expect([status, made]).toEqual([
    201,
    {
      type: 'gift-card-service',
      id: expect.any(String),
      merchant_account_id: 'default',
      gift_card_service_definition_id: 'mock-gift-card',
      display_name: 'Gift cards',
      active: true,
      fields: [],
      created_at: expect.any(String),
      updated_at: made.created_at,
    },
  ])
  const one = await api.request('GET', `${path}/${made.id}`)
  expect(one.body).toEqual(made)
  const list = await api.request('GET', path)
  expect(list.body).toMatchObject({ items: [made] })

  const changed = await update(made.id, { display_name: 'Cards', fields: null })
  expect(changed.body).toEqual({ ...made, display_name: 'Cards', updated_at: changed.body.updated_at })
  expect(await secretsOf(made.id)).toEqual({ 'field.api_key': secret })
  await update(made.id, { fields: [{ key: 'api_key', value: 'another' }] })
  expect(await secretsOf(made.id)).toEqual({ 'field.api_key': 'another' })
  answers.push(text, one.text, list.text, changed.text)
  expect(answers.join()).not.toContain(secret)

  expect((await api.request('DELETE', `${path}/${made.id}`)).status).toBe(204)
  expect((await api.request('GET', `${path}/${made.id}`)).status).toBe(404)
  expect((await api.request('GET', path)).body).toMatchObject({ items: [] })
  expect((await update(made.id, {})).status).toBe(404)
  expect((await api.request('DELETE', `${path}/${made.id}`)).status).toBe(404)
})

test('what the definition does not have is refused, and so is a service without what it asks for', async () => {
  const unknown = await create({ gift_card_service_definition_id: 'another' })
  expect(refusal(unknown)).toEqual([400, '/gift_card_service_definition_id value_error.unknown'])
  expect(refusal(await create({ fields: [] }))).toEqual([400, '/fields value_error.missing'])
  const twice = { key: 'api_key', value: 'x' }
  expect(refusal(await create({ fields: [twice, { key: 'other', value: 'x' }, twice] }))).toEqual([
    400,
    '/fields/1/key value_error.unknown',
    '/fields/2/key value_error.conflict',
  ])
  const { body } = await create()
  expect(refusal(await update(body.id, { fields: [{ key: 'api_key', value: '' }] }))).toEqual([
    400,
    '/fields value_error.missing',
  ])
  expect(await secretsOf(body.id)).toEqual({ 'field.api_key': secret })
})

describe('of one account one service is active:', () => {
  test('a second one is refused until the first is not, or is deleted', async () => {
    const { body: first } = await create()
    expect(refusal(await create())).toEqual([400, '/active value_error.conflict'])
    const { body: second } = await create({ active: false })
    expect(refusal(await update(second.id, { active: true }))).toEqual([400, '/active value_error.conflict'])
    await update(first.id, { active: false })
    expect((await update(second.id, { active: true })).body).toMatchObject({ active: true })
    await api.request('DELETE', `${path}/${second.id}`)
    expect((await update(first.id, { active: true })).body).toMatchObject({ active: true })
    expect((await create({}, { 'X-Service-Merchant-Account-ID': 'other' })).status).toBe(201)
  })

  test('also when 20 are made at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19)
  })
})

test('the definitions say what a service needs', async () => {
  const { body } = await api.request<{ items: unknown[] }>('GET', '/gift-card-service-definitions')
  expect(body.items).toEqual([
    {
      type: 'gift-card-service-definition',
      id: 'mock-gift-card',
      display_name: 'Sandbox gift card provider',
      fields: [{ key: 'api_key', display_name: 'API key', required: true, secret: true }],
    },
  ])
})
