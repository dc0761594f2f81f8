import { describe, expect, test } from 'vitest'
import { card, preferring, refusal, usePayments } from '../../../test/payments.ts'
import { newId } from '../../ids.ts'

const { api, pay, paid, get, act, settled, timeline } = usePayments()

interface Captures {
  items: Record<string, unknown>[]
}
const captures = async (path: string) => (await get<Captures>(`${path}/captures`)).items
const asCapture = preferring('transaction-capture')

test('without an amount everything is captured', async () => {
  const path = await paid()
  const { status, body } = await act(`${path}/capture`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ type: 'transaction', status: 'capture_succeeded', captured_amount: 1299 })
  expect(body['captured_at']).toEqual(expect.any(String))
  expect(await captures(path)).toMatchObject([{ amount: 1299, status: 'succeeded', final: true, currency: 'EUR' }])
})

test('a part is captured, and the rest is let go', async () => {
  const path = await paid()
  expect((await act(`${path}/capture`, { amount: 1000 })).body).toMatchObject({
    status: 'capture_succeeded',
    authorized_amount: 1299,
    captured_amount: 1000,
  })
  expect(refusal(await act(`${path}/capture`, { amount: 299 }))).toEqual([400, 'transaction_id value_error.conflict'])
})

test('several captures that are not final, and a last one, each listed newest first', async () => {
  const path = await paid()
  await act(`${path}/capture`, { amount: 500, final: false, external_identifier: 'parcel-1' })
  await act(`${path}/capture`, { amount: 300, final: false })
  expect(await get(path)).toMatchObject({ status: 'capture_succeeded', captured_amount: 800 })
  expect(refusal(await act(`${path}/capture`, { amount: 500 }))).toEqual([400, '/amount value_error.range'])
  const last = await act(`${path}/capture`)
  expect(last.body).toMatchObject({ status: 'capture_succeeded', captured_amount: 1299 })
  expect(await captures(path)).toMatchObject([
    { amount: 499, final: true },
    { amount: 300, final: false },
    { amount: 500, final: false, external_identifier: 'parcel-1' },
  ])
  expect((await act(`${path}/capture`, { amount: 1 })).status).toBe(400)
})

describe('more than was authorized', () => {
  const allow = (over_capture_amount: number | null, over_capture_percentage: number | null) =>
    api.request('PUT', '/merchant-accounts/default', { body: { over_capture_amount, over_capture_percentage } })

  test.each([
    ['nothing', null, null, 1000],
    ['an amount', 100, null, 1100],
    ['a percentage', null, 15, 1150],
    ['both, of which the larger counts', 100, 15, 1150],
  ])('may be captured as far as the account allows it: %s', async (_name, amount, percentage, most) => {
    expect((await allow(amount, percentage)).status).toBe(200)
    const path = await paid({ amount: 1000 })
    expect(refusal(await act(`${path}/capture`, { amount: most + 1 }))).toEqual([400, '/amount value_error.range'])
    expect(await get(path)).toMatchObject({ status: 'authorization_succeeded', captured_amount: 0 })
    expect((await act(`${path}/capture`, { amount: most })).body).toMatchObject({
      status: 'capture_succeeded',
      authorized_amount: 1000,
      captured_amount: most,
    })
    await allow(null, null)
  })
})

test.each([
  ['0', { amount: 0 }, '/amount value_error.range'],
  ['a fraction', { amount: 1.5 }, '/amount type_error.integer'],
  ['an unknown field', { amout: 1 }, '/amout value_error.extra'],
])('%s is refused and captures nothing', async (_name, body, expected) => {
  const path = await paid()
  expect(refusal(await act(`${path}/capture`, body))).toEqual([400, expected])
  expect(await captures(path)).toEqual([])
})

describe('only an authorization can be captured', () => {
  test.each([
    ['a declined payment', { amount: 200_011 }],
    ['one that was captured already', { intent: 'capture' }],
    ['one that is not decided', { payment_method: card('4000000000002008') }],
    ['one that nobody took', { currency: 'SEK' }],
    ['one of no amount', { amount: 0 }],
  ])('not %s', async (_name, change) => {
    const path = await paid(change)
    expect(refusal(await act(`${path}/capture`))).toEqual([400, 'transaction_id value_error.conflict'])
  })

  test('not one that was voided', async () => {
    const path = await paid()
    await act(`${path}/void`)
    expect(refusal(await act(`${path}/capture`))).toEqual([400, 'transaction_id value_error.conflict'])
  })
})

describe('a capture that the provider refuses', () => {
  test.each([
    [500_001, 'failed', 'service_network_error', '91'],
    [500_002, 'declined', 'refused_transaction', '57'],
  ])('%i keeps the authorization, which can be captured after all', async (amount, status, code, raw_response_code) => {
    const path = await paid({ amount: 600_000 })
    const refused = await act(`${path}/capture`, { amount }, asCapture)
    expect(refused.status).toBe(200)
    expect(refused.body).toMatchObject({ type: 'transaction-capture', status, code, raw_response_code })
    expect(refused.body['transaction']).toMatchObject({ status: 'authorization_succeeded', captured_amount: 0 })
    expect(await captures(path)).toMatchObject([{ status, error_code: code, amount, captured_at: null }])
    expect((await act(`${path}/capture`)).body).toMatchObject({ status: 'capture_succeeded', captured_amount: 600_000 })
  })

  test('a later one leaves what was captured before', async () => {
    const path = await paid({ amount: 900_000 })
    await act(`${path}/capture`, { amount: 1000, final: false })
    expect((await act(`${path}/capture`, { amount: 500_002, final: false })).body).toMatchObject({
      status: 'capture_succeeded',
      captured_amount: 1000,
    })
    expect((await act(`${path}/capture`, { amount: 2000 })).body).toMatchObject({ captured_amount: 3000 })
  })
})

describe('Prefer', () => {
  test('resource=transaction-capture answers with the capture around the transaction', async () => {
    const path = await paid()
    const { body } = await act(`${path}/capture`, { external_identifier: 'parcel-1' }, asCapture)
    const [capture] = await captures(path)
    expect(body).toMatchObject({
      type: 'transaction-capture',
      status: 'succeeded',
      code: null,
      capture_id: capture?.['id'],
      external_identifier: 'parcel-1',
      transaction: { id: (await get(path)).id, status: 'capture_succeeded' },
    })
  })

  test.each(['resource=transaction-void', 'resource=Transaction-Capture', 'return=minimal', 'capture'])(
    '%s is ignored',
    async (Prefer) => {
      const { body } = await act(`${await paid()}/capture`, undefined, { Prefer })
      expect(body).toMatchObject({ type: 'transaction', status: 'capture_succeeded' })
    },
  )
})

test('a capture is found by its id, under its own transaction only', async () => {
  const [path, other] = [await paid({ intent: 'capture' }), await paid({ intent: 'capture' })]
  const [capture] = await captures(path)
  const id = String(capture?.['id'])
  expect(await get(`${path}/captures/${id}`)).toEqual(capture)
  expect((await api.request('GET', `${other}/captures/${id}`)).status).toBe(404)
  expect((await api.request('GET', `${path}/captures/${newId()}`)).status).toBe(404)
  expect((await api.request('GET', `/transactions/${newId()}/captures`)).status).toBe(404)
})

describe('asynchronous capture', () => {
  test('is pending at once, and known when it is asked about later', async () => {
    const path = await paid({ intent: 'capture', async_capture: true })
    expect(await get(path)).toMatchObject({
      status: 'capture_pending',
      intent_outcome: 'pending',
      authorized_amount: 1299,
      captured_amount: 0,
    })
    expect(await captures(path)).toMatchObject([{ status: 'pending', amount: 1299 }])
    expect((await act(`${path}/sync`)).body).toMatchObject({ status: 'capture_pending' })
    expect(await settled(path)).toMatchObject({
      status: 'capture_succeeded',
      intent_outcome: 'succeeded',
      captured_amount: 1299,
    })
    expect(await captures(path)).toMatchObject([{ status: 'succeeded', amount: 1299 }])
  })

  test('of a declined card is declined at once', async () => {
    const { body } = await pay({ intent: 'capture', async_capture: true, amount: 200_011 })
    expect(body).toMatchObject({ status: 'authorization_declined', error_code: 'insufficient_funds' })
  })

  test('that fails later leaves a capture that failed, and says so in the timeline', async () => {
    const path = await paid({ intent: 'capture', async_capture: true, amount: 500_002 })
    expect(await get(path)).toMatchObject({ status: 'capture_pending' })
    expect(await settled(path)).toMatchObject({ captured_amount: 0, intent_outcome: 'failed' })
    expect(await captures(path)).toMatchObject([{ status: 'declined', error_code: 'refused_transaction' }])
    expect(await timeline(path)).toEqual([
      'transaction-updated-status',
      'payment-connector-response-transaction-capture-declined',
      'transaction-updated-status',
      'transaction-sync-event',
    ])
  })
})
