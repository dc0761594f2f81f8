import { afterEach, beforeAll, expect, test } from 'vitest'
import { apiConfig, send } from '../../../test/api.ts'
import { card, refusal, usePayments } from '../../../test/payments.ts'
import { startApi } from '../../main/api.ts'

const payments = usePayments()
const { api } = payments
const path = '/three-ds-scenarios'
type Scenario = Record<string, unknown> & { id: string }

const create = (conditions: object, outcome: object, account = 'default') =>
  api.request<Scenario>('POST', path, {
    headers: { 'X-Service-Merchant-Account-ID': account },
    body: { conditions, outcome },
  })
const says = (status: string, result?: string) => ({
  authentication: { transaction_status: status },
  ...(result && { result: { transaction_status: result } }),
})

beforeAll(async () => {
  await api.request('PUT', `/payment-services/${payments.service()}`, { body: { three_d_secure_enabled: true } })
})
afterEach(() => api.database.query('delete from three_ds_scenarios'))

const pay = (change: object = {}) =>
  payments.pay({ payment_method: card('4111111111111111', { redirect_url: 'https://shop.example/done' }), ...change })

test('a scenario is created, listed, updated and deleted', async () => {
  const created = await create({ amount: 1299, card_number: '4111111111111111' }, says('C', 'N'))
  expect(created).toMatchObject({
    status: 201,
    body: {
      type: 'three-d-secure-scenario',
      merchant_account_id: 'default',
      conditions: {
        first_name: null,
        last_name: null,
        email_address: null,
        amount: 1299,
        external_identifier: null,
        card_number: '4111111111111111',
      },
      outcome: {
        version: null,
        authentication: { transaction_status: 'C' },
        result: { transaction_status: 'N' },
      },
    },
  })
  const { id } = created.body
  const list = () => api.request<{ items: Scenario[] }>('GET', path)
  expect((await list()).body.items).toEqual([created.body])

  const updated = await api.request<Scenario>('PUT', `${path}/${id}`, {
    body: { conditions: { first_name: 'Ada' }, outcome: null },
  })
  expect(updated).toMatchObject({
    status: 200,
    body: { conditions: { first_name: 'Ada', amount: null, card_number: null }, outcome: created.body['outcome'] },
  })
  const again = await api.request<Scenario>('PUT', `${path}/${id}`, { body: { outcome: says('Y') } })
  expect(again.body).toMatchObject({
    conditions: updated.body['conditions'],
    outcome: { authentication: { transaction_status: 'Y' }, result: null },
  })
  expect((await api.request('DELETE', `${path}/${id}`)).status).toBe(204)
  expect((await list()).body.items).toEqual([])
  expect((await api.request('DELETE', `${path}/${id}`)).status).toBe(404)
  expect((await api.request('PUT', `${path}/${id}`, { body: {} })).status).toBe(404)
})

test('a challenge needs its result, and nothing else has one', async () => {
  const missing = [400, '/outcome/result value_error.missing']
  expect(refusal(await create({}, says('C')))).toEqual(missing)
  expect(refusal(await create({}, { ...says('C'), result: null }))).toEqual(missing)
  for (const status of ['Y', 'A', 'N', 'R', 'U', 'timeout']) {
    expect(refusal(await create({}, says(status, 'Y')))).toEqual([400, '/outcome/result value_error.conflict'])
    expect((await create({}, { ...says(status), result: null })).status).toBe(201)
  }
  const { body } = await create({}, says('C', 'Y'))
  const change = await api.request('PUT', `${path}/${body.id}`, { body: { outcome: says('C') } })
  expect(refusal(change)).toEqual(missing)
})

test('a card number that is no test number is refused and is nowhere', async () => {
  const number = '4929420573595709'
  const refused = await create({ card_number: number }, says('Y', 'N'))
  expect(refusal(refused)).toEqual([
    400,
    '/conditions/card_number value_error.unknown',
    '/outcome/result value_error.conflict',
  ])
  expect(refused.text).not.toContain(number)
  expect(api.logs.join('\n')).not.toContain(number)
  const { body } = await create({}, says('Y'))
  const change = await api.request('PUT', `${path}/${body.id}`, { body: { conditions: { card_number: number } } })
  expect(refusal(change)).toEqual([400, '/conditions/card_number value_error.unknown'])
})

test('versions are those of 3-D Secure', async () => {
  for (const version of ['3', '2.', 'two', '2.1.0.0'])
    expect((await create({}, { ...says('Y'), version })).status).toBe(400)
  for (const version of ['1', '2.1', '2.2.0', null])
    expect((await create({}, { ...says('Y'), version })).status).toBe(201)
})

test('the newest scenario that fits decides a payment, and a deleted one no more', async () => {
  await create({}, says('Y'))
  const { body: newest } = await create({ amount: 1299, external_identifier: 'order-1' }, says('R'))
  const declined = await pay({ external_identifier: 'order-1' })
  expect(declined.body).toMatchObject({
    status: 'authorization_declined',
    error_code: 'failed_buyer_approval',
    three_d_secure: { status: 'declined', method: 'frictionless', response_data: null },
  })
  const other = { status: 'authorization_succeeded', three_d_secure: { status: 'complete', method: 'frictionless' } }
  expect((await pay({ external_identifier: 'order-2' })).body).toMatchObject(other)
  expect((await pay({ external_identifier: 'order-1', amount: 1300 })).body).toMatchObject(other)
  await api.request('DELETE', `${path}/${newest.id}`)
  expect((await pay({ external_identifier: 'order-1' })).body).toMatchObject(other)
})

test('the buyer of a payment can be a condition', async () => {
  await create({ email_address: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }, says('N'))
  const billing_details = { email_address: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
  expect((await pay({ buyer: { billing_details } })).body.status).toBe('authorization_declined')
  const { body } = await pay({ buyer: { billing_details: { ...billing_details, first_name: 'Eve' } } })
  expect(body.status).toBe('buyer_approval_pending')
})

test('scenarios of another account decide nothing here', async () => {
  await create({}, says('N'), 'other')
  expect((await pay()).body.status).toBe('buyer_approval_pending')
})

test('in production there are no scenarios', async () => {
  const { body } = await create({}, says('Y'))
  const config = apiConfig(api.database.url('florin_api'), { environment: 'production', vaultUrl: api.vault.url() })
  const production = await startApi(config, () => undefined)
  try {
    const requests: [string, string, object?][] = [
      ['GET', path],
      ['POST', path, { conditions: {}, outcome: says('Y') }],
      ['PUT', `${path}/${body.id}`, {}],
      ['DELETE', `${path}/${body.id}`],
    ]
    for (const [method, to, sent] of requests) {
      const answer = await send(production.url, method, to, { token: api.token(), ...(sent && { body: sent }) })
      expect([method, answer.status]).toEqual([method, 404])
    }
  } finally {
    await production.close()
  }
})
