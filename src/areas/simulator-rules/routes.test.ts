import { expect, test } from 'vitest'
import { apiConfig, send } from '../../../test/api.ts'
import { refusal, usePayments } from '../../../test/payments.ts'
import { startApi } from '../../main/api.ts'
import type { SimulatorRule } from './schema.ts'

const { api, service } = usePayments()
const path = '/simulator-rules'
const create = (body: object) => api.request<SimulatorRule>('POST', path, { body })
const declined = { result: 'declined', error_code: 'insufficient_funds' }

test('a rule has what was sent, and everything else at its default', async () => {
  const conditions = {
    payment_service_id: service(),
    action: 'authorize',
    amount_gte: 100,
    card_number: '4242424242424242',
  }
  const { status, body } = await create({ conditions, outcome: declined })
  expect(status).toBe(201)
  expect(body).toEqual({
    type: 'simulator-rule',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    merchant_account_id: 'default',
    description: null,
    conditions,
    outcome: declined,
    notifications: null,
    remaining_uses: null,
    active: true,
    created_at: expect.stringMatching(/Z$/),
    updated_at: body.created_at,
  })
  expect((await api.request('GET', `${path}/${body.id}`)).body).toEqual(body)
})

test('an update replaces what it names and keeps the rest; null clears', async () => {
  const { body } = await create({
    description: 'a rule',
    conditions: { currency: 'EUR', country: 'DE' },
    outcome: declined,
    notifications: { delivery: 'lost' },
    remaining_uses: 3,
  })
  const update = (change: object) => api.request<SimulatorRule>('PUT', `${path}/${body.id}`, { body: change })
  const changed = await update({ conditions: { currency: 'USD' }, remaining_uses: null, notifications: null })
  expect(changed.body).toEqual({
    ...body,
    conditions: { currency: 'USD' },
    remaining_uses: null,
    notifications: null,
    updated_at: expect.any(String),
  })
  expect((await update({ active: false })).body).toEqual({
    ...changed.body,
    active: false,
    updated_at: expect.any(String),
  })
  expect(refusal(await update({ conditions: { action: 'void', amount: 1 } }))).toEqual([
    400,
    '/conditions/amount value_error.conflict',
  ])
})

test('a deleted rule is gone', async () => {
  const { body } = await create({ conditions: {}, outcome: {} })
  expect((await api.request('DELETE', `${path}/${body.id}`)).status).toBe(204)
  expect((await api.request('GET', `${path}/${body.id}`)).status).toBe(404)
  expect((await api.request('DELETE', `${path}/${body.id}`)).status).toBe(404)
})

const anything = { result: 'approved' }
test.each<[what: string, rule: object, ...places: string[]]>([
  ['a decline without a code', { outcome: { result: 'declined' } }, '/outcome/error_code value_error.missing'],
  [
    'a code that nobody knows',
    { outcome: { result: 'failed', error_code: 'no_such' } },
    '/outcome/error_code value_error.unknown',
  ],
  [
    'a code of an approval',
    { outcome: { ...anything, error_code: 'service_error', raw_response_code: '51' } },
    '/outcome/error_code value_error.conflict',
    '/outcome/raw_response_code value_error.conflict',
  ],
  [
    'an end of what is decided at once',
    { outcome: { ...anything, final: anything, decide_after_seconds: 3 } },
    '/outcome/decide_after_seconds value_error.conflict',
    '/outcome/final value_error.conflict',
  ],
  [
    'an end without its code',
    { outcome: { result: 'pending', final: { result: 'failed' } } },
    '/outcome/final/error_code value_error.missing',
  ],
  ['a longer delay', { outcome: { delay_ms: 5_001 } }, '/outcome/delay_ms value_error.range'],
  [
    'a number that is no test number',
    { conditions: { card_number: '4539148803436467' }, outcome: {} },
    '/conditions/card_number value_error.unknown',
  ],
  [
    'a card and a country of a capture',
    { conditions: { action: 'capture', card_number: '4111111111111111', country: 'DE' }, outcome: {} },
    '/conditions/card_number value_error.conflict',
    '/conditions/country value_error.conflict',
  ],
  [
    'an amount of a cancel',
    { conditions: { action: 'cancel', amount_gte: 1 }, outcome: {} },
    '/conditions/amount_gte value_error.conflict',
  ],
  [
    'an amount and bounds',
    { conditions: { amount: 5, amount_gte: 1 }, outcome: {} },
    '/conditions/amount_gte value_error.conflict',
  ],
  [
    'bounds that nothing is between',
    { conditions: { amount_gte: 5, amount_lte: 4 }, outcome: {} },
    '/conditions/amount_lte value_error.range',
  ],
  [
    'a service that is not there',
    { conditions: { payment_service_id: '01900000-0000-7000-8000-000000000000' }, outcome: {} },
    '/conditions/payment_service_id value_error.unknown',
  ],
  [
    'copies and lateness of usual messages',
    { outcome: {}, notifications: { delivery: 'normal', count: 2, delay_seconds: 5 } },
    '/notifications/count value_error.conflict',
    '/notifications/delay_seconds value_error.conflict',
  ],
])('%s is refused', async (_what, rule, ...places) => {
  expect(refusal(await create({ conditions: {}, ...rule }))).toEqual([400, ...places])
})

test('a refused number is repeated nowhere: not in the answer, not in the log', async () => {
  const { text } = await create({ conditions: { card_number: '4539148803436467' }, outcome: {} })
  expect(text).not.toContain('4539148803436467')
  expect(api.logs.join('\n')).not.toContain('4539148803436467')
})

test('in production there is no such thing', async () => {
  const made = await create({ conditions: {}, outcome: {}, active: false })
  const production = await startApi(
    apiConfig(api.database.url('florin_api'), { environment: 'production', vaultUrl: api.vault.url() }),
    () => undefined,
  )
  try {
    const body = { conditions: {}, outcome: {} }
    for (const [method, url, options] of [
      ['GET', path, {}],
      ['POST', path, { body }],
      ['GET', `${path}/${made.body.id}`, {}],
      ['PUT', `${path}/${made.body.id}`, { body }],
      ['DELETE', `${path}/${made.body.id}`, {}],
    ] as const) {
      const { status } = await send(production.url, method, url, { token: api.token(), ...options })
      expect([method, url, status]).toEqual([method, url, 404])
    }
  } finally {
    await production.close()
  }
})
