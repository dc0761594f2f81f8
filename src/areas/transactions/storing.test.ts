import { beforeAll, describe, expect, test } from 'vitest'
import { card, refusal, usePayments } from '../../../test/payments.ts'
import { sandboxAccountUpdater } from '../../connectors/sandbox/account-updater.ts'
import { newId } from '../../ids.ts'
import { createLog } from '../../platform/log.ts'
import { connect, type Database } from '../../platform/postgres.ts'
import { runInquiry } from '../account-updater/operations.ts'

const { api, pay, paid, get, store, act, settled } = usePayments()

const methodOf = (body: Record<string, unknown>) => (body['payment_method'] as { id: string }).id
const byId = (id: string, change: object = {}) => ({ method: 'id', id, ...change })
const numberOf = (id: string) => api.vault.client().readCard({ merchantAccountId: 'default', id })

describe('store', () => {
  test('keeps the card of an approved payment, to pay with by its id', async () => {
    const external_identifier = `card-${newId()}`
    const payment_method = card('4242424242424242', { external_identifier })
    const { body } = await pay({ store: true, payment_method })
    const id = methodOf(body)
    expect(await get(`/payment-methods/${id}`)).toMatchObject({
      status: 'succeeded',
      label: '4242',
      external_identifier,
      scheme: 'visa',
      usage_count: 1,
    })
    expect(await numberOf(id)).toBe('4242424242424242')
    const again = await pay({ payment_method: byId(id), payment_source: 'card_on_file', is_subsequent_payment: true })
    expect(again.body).toMatchObject({ status: 'authorization_succeeded', payment_method: { id, label: '4242' } })
  })

  test('gives the card to the buyer who pays', async () => {
    const { body: buyer } = await api.request<{ id: string }>('POST', '/buyers', { body: {} })
    const { body } = await pay({ store: true, buyer_id: buyer.id })
    expect(await get(`/payment-methods/${methodOf(body)}`)).toMatchObject({ buyer: { id: buyer.id } })
  })

  test.each([
    ['declined', 200_011],
    ['failed', 300_004],
  ])('forgets the number of a payment that %s', async (_outcome, amount) => {
    const { body } = await pay({ store: true, amount })
    const id = methodOf(body)
    expect(await get(`/payment-methods/${id}`)).toMatchObject({ status: 'failed' })
    expect(await numberOf(id)).toBeUndefined()
  })

  test('leaves the external identifier to the next try when the payment is declined', async () => {
    const payment_method = { ...card(), external_identifier: 'second-try' }
    const declined = await pay({ store: true, amount: 200_011, payment_method })
    expect(declined.body).toMatchObject({ payment_method: { external_identifier: 'second-try' } })
    const { status, body } = await pay({ store: true, payment_method })
    expect([status, body['status']]).toEqual([201, 'authorization_succeeded'])
    expect(await get(`/payment-methods/${methodOf(body)}`)).toMatchObject({ external_identifier: 'second-try' })
  })

  test('keeps nothing of a payment that nobody takes', async () => {
    const before = await get<{ items: unknown[] }>('/payment-methods')
    const { body } = await pay({ store: true, currency: 'SEK' })
    expect(body).toMatchObject({ error_code: 'all_attempts_skipped', payment_method: { id: null, label: '1111' } })
    expect(await get('/payment-methods')).toEqual(before)
  })

  test('waits for the outcome of a payment that is not decided', async () => {
    const path = await paid({ store: true, payment_method: card('4000000000002008') })
    const id = methodOf(await get(path))
    expect(await get(`/payment-methods/${id}`)).toMatchObject({ status: 'processing' })
    expect(refusal(await pay({ payment_method: byId(id) }))).toEqual([400, '/payment_method/id value_error.conflict'])
    expect((await settled(path)).status).toBe('authorization_succeeded')
    expect(await get(`/payment-methods/${id}`)).toMatchObject({ status: 'succeeded' })
  })

  test('forgets the number when the payment turns out never to have arrived', async () => {
    const path = await paid({ store: true, payment_method: card('4000000000003006') })
    const id = methodOf(await get(path))
    expect((await settled(path)).status).toBe('authorization_failed')
    expect(await get(`/payment-methods/${id}`)).toMatchObject({ status: 'failed' })
    expect(await numberOf(id)).toBeUndefined()
  })

  test('refuses an external identifier that another method has, before anything is charged', async () => {
    const external_identifier = `card-${newId()}`
    const { id } = await store({ external_identifier })
    const before = await get<{ items: unknown[] }>('/transactions')
    const answer = await pay({ store: true, payment_method: card(undefined, { external_identifier }) })
    expect([answer.status, answer.body['resource_id']]).toEqual([409, id])
    expect(await get('/transactions')).toEqual(before)
  })
})

describe('the use of a stored card', () => {
  const merchants = { payment_source: 'card_on_file', merchant_initiated: true, is_subsequent_payment: true }

  test('is counted, and the uses by the customer apart', async () => {
    const { id } = await store()
    const counts = async () => {
      const { usage_count, cit_usage_count, last_used_at, cit_last_used_at } = await get(`/payment-methods/${id}`)
      return { usage_count, cit_usage_count, last_used_at, cit_last_used_at }
    }
    expect(await counts()).toEqual({ usage_count: 0, cit_usage_count: 0, last_used_at: null, cit_last_used_at: null })
    const { body: first } = await pay({ payment_method: byId(id) })
    const created = first['created_at']
    expect(await counts()).toEqual({
      usage_count: 1,
      cit_usage_count: 1,
      last_used_at: created,
      cit_last_used_at: created,
    })
    const { body: second } = await pay({ payment_method: byId(id), ...merchants })
    expect(await counts()).toEqual({
      usage_count: 2,
      cit_usage_count: 1,
      last_used_at: second['created_at'],
      cit_last_used_at: created,
    })
    await pay({ payment_method: byId(id), amount: 200_011 })
    expect(await counts()).toMatchObject({ usage_count: 3, cit_usage_count: 2 })
  })

  test('takes the security code of the moment', async () => {
    const { id } = await store()
    const { body } = await pay({ payment_method: byId(id, { security_code: '333' }) })
    expect(body).toMatchObject({ cvv_response_code: 'no_match' })
  })
})

describe('a card with a replacement that waits', () => {
  let db: Database
  beforeAll(() => {
    const url = api.database.url('florin_worker')
    db = connect({ url, applicationName: 'test', poolSize: 2, onError: () => undefined })
    return () => db.close()
  })

  async function cardWithReplacement(): Promise<string> {
    const { id } = await store({ expiration_date: '01/30' })
    await act('/account-updater/jobs', { payment_method_ids: [id] })
    const jobs = await api.database.query<{ payload: { merchantAccountId: string; inquiryId: string } }>(
      "delete from jobs where kind = 'account-updater-inquiry' returning payload",
    )
    const log = createLog({ level: 'silent', process: 'test' })
    const system = { db, vault: api.vault.client(), log, now: () => new Date() }
    for (const { payload } of jobs) await runInquiry(system, sandboxAccountUpdater, payload)
    expect(await get(`/payment-methods/${id}`)).toMatchObject({ has_replacement: true, label: '1111' })
    return id
  }

  test.each([
    ['canceled_payment_method', 200_001],
    ['expired_payment_method', 200_005],
    ['unavailable_payment_method', 200_018],
    ['unknown_payment_method', 200_019],
  ])('gets it when a payment ends with %s', async (error_code, amount) => {
    const id = await cardWithReplacement()
    expect((await pay({ payment_method: byId(id), amount })).body).toMatchObject({ error_code })
    expect(await get(`/payment-methods/${id}`)).toMatchObject({
      has_replacement: false,
      label: '4242',
      last_replaced_at: expect.any(String),
    })
    expect((await pay({ payment_method: byId(id) })).body).toMatchObject({
      status: 'authorization_succeeded',
      payment_method: { label: '4242' },
    })
  })

  test('keeps waiting when a payment ends with another code, or well', async () => {
    const id = await cardWithReplacement()
    for (const amount of [200_011, 300_003, 1299]) await pay({ payment_method: byId(id), amount })
    expect(await get(`/payment-methods/${id}`)).toMatchObject({ has_replacement: true, label: '1111' })
  })
})
