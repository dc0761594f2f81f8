import { describe, expect, test } from 'vitest'
import { card, preferring, refusal, usePayments } from '../../../test/payments.ts'

const { paid, get, act, settled, elapse } = usePayments()

const wrongState = [400, 'transaction_id value_error.conflict']
const asVoid = preferring('transaction-void')

describe('void', () => {
  test('lets go of an authorization', async () => {
    const path = await paid()
    const { status, body } = await act(`${path}/void`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ type: 'transaction', status: 'authorization_voided', intent_outcome: 'succeeded' })
    expect(body['voided_at']).toEqual(expect.any(String))
  })

  test.each([
    [510_001, 'failed', 'service_network_error'],
    [510_002, 'declined', 'issuer_decline'],
  ])('of %i is %s and keeps the authorization', async (amount, status, code) => {
    const path = await paid({ amount })
    const { body } = await act(`${path}/void`, undefined, asVoid)
    expect(body).toMatchObject({ type: 'transaction-void', status, code })
    expect(body['transaction']).toMatchObject({ status: 'authorization_succeeded', voided_at: null })
    expect((await act(`${path}/capture`)).body).toMatchObject({ status: 'capture_succeeded', captured_amount: amount })
  })

  test('answers with the void around the transaction when that is preferred', async () => {
    const path = await paid()
    expect((await act(`${path}/void`, undefined, asVoid)).body).toMatchObject({
      type: 'transaction-void',
      status: 'succeeded',
      code: null,
      transaction: { status: 'authorization_voided' },
    })
  })

  test.each([
    ['of no amount', { amount: 0 }],
    ['that was charged', { intent: 'capture' }],
    ['that was declined', { amount: 200_011 }],
    ['that is not decided', { payment_method: card('4000000000002008') }],
  ])('cannot be made of a payment %s', async (_name, change) => {
    expect(refusal(await act(`${await paid(change)}/void`))).toEqual(wrongState)
  })

  test('cannot be made after a capture, of a part too, nor twice', async () => {
    const captured = await paid()
    await act(`${captured}/capture`, { amount: 1, final: false })
    expect(refusal(await act(`${captured}/void`))).toEqual(wrongState)
    const voided = await paid()
    await act(`${voided}/void`)
    expect(refusal(await act(`${voided}/void`))).toEqual(wrongState)
  })
})

describe('cancel', () => {
  test('takes back a payment that is not decided', async () => {
    const path = await paid({ payment_method: card('4000000000002008') })
    const { status, body } = await act(`${path}/cancel`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      type: 'transaction-cancel',
      status: 'succeeded',
      transaction: { status: 'authorization_failed', error_code: 'canceled', intent_outcome: 'failed' },
    })
    expect((await get(path))['canceled_at']).toEqual(expect.any(String))
    expect(await settled(path)).toMatchObject({ status: 'authorization_failed', error_code: 'canceled' })
  })

  test('comes too late for a payment that was decided meanwhile', async () => {
    const path = await paid({ payment_method: card('4000000000002008') })
    await elapse()
    expect((await act(`${path}/cancel`)).body).toMatchObject({
      status: 'failed',
      transaction: { status: 'authorization_succeeded', canceled_at: null },
    })
  })

  test.each([
    ['approved', {}],
    ['declined', { amount: 200_011 }],
    ['captured', { intent: 'capture' }],
    ['not taken by anybody', { currency: 'SEK' }],
  ])('cannot be made of a payment that is %s', async (_name, change) => {
    expect(refusal(await act(`${await paid(change)}/cancel`))).toEqual(wrongState)
  })
})
