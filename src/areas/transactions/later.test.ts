import { describe, expect, test } from 'vitest'
import { card, preferring, usePayments } from '../../../test/payments.ts'
import type { Refund } from './refunds/schema.ts'

/* What a provider does not decide at once, or does without our hearing of it. */

const { api, paid, get, act, settled, events } = usePayments()

const withCard = (number: string, change: object = {}) => paid({ payment_method: card(number), ...change })
const open = (path: string) =>
  api.database.query<{ action: string; state: string }>(
    "select action, state from attempts where transaction_id = $1 and state <> 'done'",
    [path.split('/').at(-1)],
  )

describe('a payment', () => {
  test.each([
    ['authorize', 'authorization_succeeded', 0],
    ['capture', 'capture_succeeded', 1299],
  ])('with intent %s that takes time is processing, then decided', async (intent, status, captured_amount) => {
    const path = await withCard('4000000000002008', { intent })
    expect(await get(path)).toMatchObject({ status: 'processing', intent_outcome: 'pending', authorized_amount: 0 })
    expect((await act(`${path}/sync`)).body).toMatchObject({ status: 'processing' })
    expect(await settled(path)).toMatchObject({ status, intent_outcome: 'succeeded', captured_amount })
    expect(await open(path)).toEqual([])
  })

  test('that takes time may be declined in the end', async () => {
    const path = await withCard('4000000000002008', { amount: 200_011 })
    expect(await get(path)).toMatchObject({ status: 'processing', error_code: null })
    expect(await settled(path)).toMatchObject({ status: 'authorization_declined', error_code: 'insufficient_funds' })
  })

  test.each(['authorize', 'capture'])('with intent %s whose answer was lost was made after all', async (intent) => {
    const path = await withCard('4000000000003014', { intent })
    expect(await get(path)).toMatchObject({ status: 'processing' })
    expect(await open(path)).toEqual([{ action: 'authorize', state: 'open' }])
    const status = intent === 'authorize' ? 'authorization_succeeded' : 'capture_succeeded'
    expect((await act(`${path}/sync`)).body).toMatchObject({ status, authorized_amount: 1299 })
  })

  test('that never arrived has failed', async () => {
    const path = await withCard('4000000000003006')
    expect(await get(path)).toMatchObject({ status: 'processing' })
    expect((await act(`${path}/sync`)).body).toMatchObject({
      status: 'authorization_failed',
      error_code: 'service_network_error',
    })
  })
})

describe('a capture', () => {
  test('that takes time leaves the transaction pending, then captured', async () => {
    const path = await withCard('4000000000002016')
    const { body } = await act(`${path}/capture`, { amount: 1000 }, preferring('transaction-capture'))
    expect(body).toMatchObject({ status: 'pending', code: null, transaction: { status: 'capture_pending' } })
    expect((await act(`${path}/capture`)).status).toBe(400)
    expect((await act(`${path}/void`)).status).toBe(400)
    expect(await settled(path)).toMatchObject({ status: 'capture_succeeded', captured_amount: 1000 })
    expect(await open(path)).toEqual([])
  })

  test('whose answer was lost was made after all, once', async () => {
    const path = await withCard('4000000000003105')
    expect((await act(`${path}/capture`)).body).toMatchObject({ status: 'capture_pending', captured_amount: 0 })
    expect(await open(path)).toEqual([{ action: 'capture', state: 'open' }])
    for (const _ of [1, 2]) {
      expect((await act(`${path}/sync`)).body).toMatchObject({ status: 'capture_succeeded', captured_amount: 1299 })
    }
  })
})

describe('a void', () => {
  test('that takes time leaves the transaction pending, then voided', async () => {
    const path = await withCard('4000000000002024')
    const { body } = await act(`${path}/void`, undefined, preferring('transaction-void'))
    expect(body).toMatchObject({ status: 'pending', transaction: { status: 'authorization_void_pending' } })
    expect((await act(`${path}/capture`)).status).toBe(400)
    expect(await settled(path)).toMatchObject({ status: 'authorization_voided', voided_at: expect.any(String) })
  })

  test('whose answer was lost was made after all', async () => {
    const path = await withCard('4000000000003113')
    expect((await act(`${path}/void`)).body).toMatchObject({ status: 'authorization_void_pending' })
    expect((await act(`${path}/sync`)).body).toMatchObject({ status: 'authorization_voided' })
  })
})

describe('a refund', () => {
  test.each([
    ['takes time', '4000000000002032'],
    ['has lost its answer', '4000000000003121'],
  ])('that %s is processing, holds its amount, then succeeds', async (_name, number) => {
    const path = await withCard(number, { intent: 'capture' })
    const { status, body } = await act<Refund>(`${path}/refunds`, { amount: 1000 })
    expect([status, body.status]).toEqual([201, 'processing'])
    expect(await get(path)).toMatchObject({ refunded_amount: 0 })
    expect((await act(`${path}/refunds`, { amount: 300 })).status).toBe(400)
    expect(await settled(path)).toMatchObject({ refunded_amount: 1000, status: 'capture_succeeded' })
    expect(await get(`/refunds/${body.id}`)).toMatchObject({ status: 'succeeded', amount: 1000 })
    expect(await events(body.id)).toEqual([expect.stringMatching(/^refund\.pending /), 'refund.succeeded 3'])
  })
})

test('asking about a payment that is decided changes nothing', async () => {
  const path = await paid()
  const before = await get(path)
  expect((await act(`${path}/sync`)).body).toEqual(before)
  expect((await act('/transactions/0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e/sync')).status).toBe(404)
})

test('a token that may only read may ask', async () => {
  const path = await withCard('4000000000002008')
  const token = await api.makeToken(api.owner(), { scopes: ['transactions.read'] })
  expect((await api.request('POST', `${path}/sync`, { token })).status).toBe(200)
  expect((await api.request('POST', `${path}/cancel`, { token })).status).toBe(403)
})
