import { describe, expect, test } from 'vitest'
import { idOf, refusal, usePayments } from '../../../../test/payments.ts'
import { newId } from '../../../ids.ts'
import type { Refund } from './schema.ts'

const { api, paid, get, act } = usePayments()

const captured = (change: object = {}) => paid({ intent: 'capture', ...change })
const refund = (path: string, body?: object) => act<Refund>(`${path}/refunds`, body)
const list = async (path: string) => (await get<{ items: Refund[] }>(`${path}/refunds`)).items

test('a part is given back, then the rest, and the status stays', async () => {
  const path = await captured({ external_identifier: 'order-1' })
  const first = await refund(path, { amount: 300, reason: 'Returned', external_identifier: 'refund-1' })
  expect(first.status).toBe(201)
  expect(first.body).toMatchObject({
    type: 'refund',
    transaction_id: idOf(path),
    status: 'succeeded',
    amount: 300,
    currency: 'EUR',
    reason: 'Returned',
    external_identifier: 'refund-1',
    transaction_external_identifier: 'order-1',
    target_type: 'payment-method',
    error_code: null,
    creator: { id: api.owner().id },
  })
  expect(await get(path)).toMatchObject({ refunded_amount: 300, status: 'capture_succeeded' })
  expect((await refund(path)).body).toMatchObject({ status: 'succeeded', amount: 999 })
  expect(await get(path)).toMatchObject({ refunded_amount: 1299, captured_amount: 1299, status: 'capture_succeeded' })
})

test('more than is left is refused, and once all is given back anything is', async () => {
  const path = await captured()
  expect(refusal(await refund(path, { amount: 1300 }))).toEqual([400, '/amount value_error.range'])
  await refund(path, { amount: 1000 })
  expect(refusal(await refund(path, { amount: 300 }))).toEqual([400, '/amount value_error.range'])
  await refund(path, { amount: 299 })
  expect((await refund(path, { amount: 1 })).status).toBe(400)
  expect(refusal(await refund(path))).toEqual([400, 'transaction_id value_error.conflict'])
  expect(refusal(await act(`${path}/refunds/all`))).toEqual([400, 'transaction_id value_error.conflict'])
  expect(await list(path)).toHaveLength(2)
})

test('only what was captured can be given back', async () => {
  const part = await paid()
  expect(refusal(await refund(part))).toEqual([400, 'transaction_id value_error.conflict'])
  await act(`${part}/capture`, { amount: 1000 })
  expect(refusal(await refund(part, { amount: 1001 }))).toEqual([400, '/amount value_error.range'])
  expect((await refund(part)).body).toMatchObject({ amount: 1000 })
  for (const change of [{ amount: 200_011 }, { currency: 'SEK' }, { amount: 0 }]) {
    expect(refusal(await refund(await paid(change)))).toEqual([400, 'transaction_id value_error.conflict'])
  }
})

test.each([
  ['an amount of 0', { amount: 0 }, '/amount value_error.range'],
  ['a reason of 101 characters', { reason: 'x'.repeat(101) }, '/reason value_error.length'],
  ['an unknown target', { target_type: 'cash' }, '/target_type type_error.enum'],
  ['a redemption that is not named', { target_type: 'gift-card-redemption' }, '/target_id value_error.missing'],
  [
    'a redemption that is not there',
    { target_type: 'gift-card-redemption', target_id: newId() },
    '/target_id value_error.unknown',
  ],
])('%s is refused and gives nothing back', async (_name, body, expected) => {
  const path = await captured()
  expect(refusal(await refund(path, body))).toEqual([400, expected])
  expect(await list(path)).toEqual([])
})

test.each([
  [520_001, 'failed', 'disputed_transaction'],
  [520_002, 'declined', 'issuer_decline'],
  [520_003, 'failed', 'service_error'],
  [520_004, 'failed', 'refund_already_satisfied'],
])('a refund of %i is %s with %s, and the money is there to be given back', async (amount, status, error_code) => {
  const path = await captured({ amount: 600_000 })
  const refused = await refund(path, { amount })
  expect(refused.status).toBe(201)
  expect(refused.body).toMatchObject({ status, error_code, amount })
  expect(await get(path)).toMatchObject({ refunded_amount: 0, status: 'capture_succeeded' })
  expect((await refund(path)).body).toMatchObject({ status: 'succeeded', amount: 600_000 })
})

describe('refunds/all', () => {
  test('gives back what is left and answers with the list', async () => {
    const path = await captured()
    await refund(path, { amount: 300 })
    const { status, body } = await act<{ items: Refund[] }>(`${path}/refunds/all`, { reason: 'Order canceled' })
    expect(status).toBe(201)
    expect(body.items).toMatchObject([{ status: 'succeeded', amount: 999, reason: 'Order canceled' }])
    expect(await get(path)).toMatchObject({ refunded_amount: 1299 })
  })

  test('takes no amount', async () => {
    expect(refusal(await act(`${await captured()}/refunds/all`, { amount: 1 }))).toEqual([
      400,
      '/amount value_error.extra',
    ])
  })
})

test('refunds are listed newest first, and found both ways, under their own transaction only', async () => {
  const [path, other] = [await captured(), await captured()]
  const [first, second] = [(await refund(path, { amount: 1 })).body, (await refund(path, { amount: 2 })).body]
  expect(await list(path)).toEqual([second, first])
  expect(await list(other)).toEqual([])
  expect(await get(`${path}/refunds/${first.id}`)).toEqual(first)
  expect(await get(`/refunds/${first.id}`)).toEqual(first)
  expect((await api.request('GET', `${other}/refunds/${first.id}`)).status).toBe(404)
  expect((await api.request('GET', `/refunds/${newId()}`)).status).toBe(404)
  expect((await api.request('GET', `/transactions/${newId()}/refunds`)).status).toBe(404)
})

test('a request for all that died is answered with its own refunds, also when its key was used for another before', async () => {
  const path = await captured()
  const key = { 'Idempotency-Key': `both-${idOf(path)}` }
  const part = await act<Refund>(`${path}/refunds`, { amount: 300 }, key)
  expect(part.status).toBe(201)
  const all = await act<{ items: Refund[] }>(`${path}/refunds/all`, {}, key)
  expect(all.body.items.map(({ amount }) => amount)).toEqual([999])
  // As if it had died before its answer was kept.
  await api.database.query(
    "update idempotency_keys set status = null, body = null, lease_until = now() - interval '1 second' where operation = 'refundAll' and key = $1",
    [key['Idempotency-Key']],
  )
  expect((await act(`${path}/refunds/all`, {}, key)).body).toEqual(all.body)
})
