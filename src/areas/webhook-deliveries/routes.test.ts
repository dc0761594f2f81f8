import { beforeAll, describe, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { insertAttempt, insertDelivery, insertEvents, insertSubscription } from '../../../test/webhooks.ts'
import { newId } from '../../ids.ts'
import type { Collection } from '../../schema.ts'
import type { WebhookDelivery, WebhookDeliveryDetails } from './schema.ts'

const api = useApi()
const everywhere = { 'X-Service-Merchant-Account-ID': '*' }
let bound: string

beforeAll(async () => {
  bound = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['default'] }))
})

const list = async (query: string, options: { token?: string; headers?: Record<string, string> } = {}) => {
  const { body } = await api.request<Collection<WebhookDelivery>>('GET', `/webhook-deliveries?${query}`, options)
  return body.items.map(({ id }) => id)
}
const get = (id: string, token = api.token()) =>
  api.request<WebhookDeliveryDetails>('GET', `/webhook-deliveries/${id}`, { token })
const retry = (id: string, token = api.token()) =>
  api.request<WebhookDelivery>('POST', `/webhook-deliveries/${id}/retry`, { token })
const inMs = (moment: string | null | undefined) => new Date(moment ?? Number.NaN).getTime() - Date.now()
const minute = 60_000
const day = 24 * 60 * minute

test('a delivery says what is sent to whom, how it went and when it is sent next', async () => {
  const subscriptionId = await insertSubscription(api.database)
  const [eventId = ''] = await insertEvents(api.database, 1, { name: 'refund.succeeded' })
  const id = await insertDelivery(api.database, { subscriptionId, eventId })
  const { body } = await api.request<Collection<WebhookDelivery>>(
    'GET',
    `/webhook-deliveries?subscription_id=${subscriptionId}`,
  )
  expect(body.items).toEqual([
    {
      type: 'webhook-delivery',
      id,
      merchant_account_id: 'default',
      subscription_id: subscriptionId,
      event_id: eventId,
      event_name: 'refund.succeeded',
      origin: 'event',
      status: 'pending',
      attempt_count: 0,
      next_attempt_at: expect.stringMatching(/Z$/),
      status_code: null,
      error: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    },
  ])
})

test('an event that is no longer kept leaves its deliveries without its name', async () => {
  const id = await insertDelivery(api.database, { subscriptionId: await insertSubscription(api.database) })
  expect((await get(id)).body.event_name).toBeNull()
})

test('filters narrow the list, alone and together', async () => {
  const [first, second] = [await insertSubscription(api.database), await insertSubscription(api.database)]
  const eventId = newId()
  const pending = await insertDelivery(api.database, { subscriptionId: first, eventId })
  const succeeded = await insertDelivery(api.database, { subscriptionId: first, status: 'succeeded' })
  const failed = await insertDelivery(api.database, { subscriptionId: first, status: 'failed' })
  const other = await insertDelivery(api.database, { subscriptionId: second, eventId, status: 'succeeded' })

  expect(await list(`event_id=${eventId}`)).toEqual([other, pending])
  expect(await list(`event_id=${eventId}&subscription_id=${first}`)).toEqual([pending])
  const ofFirst = `subscription_id=${first}`
  expect(await list(ofFirst)).toEqual([failed, succeeded, pending])
  expect(await list(`${ofFirst}&status=failed`)).toEqual([failed])
  expect(await list(`${ofFirst}&status=failed&status=succeeded`)).toEqual([failed, succeeded])
  expect(await list(`${ofFirst}&undelivered=true`)).toEqual([failed, pending])
  expect(await list(`${ofFirst}&undelivered=false`)).toEqual([succeeded])
  expect(await list(`${ofFirst}&undelivered=true&status=pending`)).toEqual([pending])
  expect(await list(`${ofFirst}&undelivered=true&status=succeeded`)).toEqual([])
})

test('a delivery shows its attempts, newest first, and no more than a hundred', async () => {
  const subscriptionId = await insertSubscription(api.database)
  const deliveryId = await insertDelivery(api.database, { subscriptionId })
  for (let number = 1; number <= 101; number += 1) await insertAttempt(api.database, { deliveryId, number })
  const { attempts } = (await get(deliveryId)).body
  expect(attempts.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_none, index) => 101 - index))
  expect(attempts[0]).toEqual({
    type: 'webhook-attempt',
    id: expect.any(String),
    number: 101,
    status_code: 500,
    error: 'status',
    duration_ms: 12,
    created_at: expect.stringMatching(/Z$/),
  })
})

describe('what goes to a subscription of the whole instance', () => {
  test('has no merchant account, and is there for callers who reach all accounts only, in lists with *', async () => {
    const subscriptionId = await insertSubscription(api.database, { account: '*' })
    const [eventId = ''] = await insertEvents(api.database, 1, { account: 'other' })
    const id = await insertDelivery(api.database, { account: '*', subscriptionId, eventId })
    await insertAttempt(api.database, { account: '*', deliveryId: id })
    const query = `subscription_id=${subscriptionId}`

    expect(await list(query, { headers: everywhere })).toEqual([id])
    expect(await list(query)).toEqual([])
    expect(await list(query, { headers: everywhere, token: bound })).toEqual([])

    const { body } = await get(id)
    expect([body.merchant_account_id, body.event_name, body.attempts.length]).toEqual([null, 'buyer.created', 1])
    expect((await get(id, bound)).status).toBe(404)
    expect((await retry(id, bound)).status).toBe(404)
    const retried = await retry(id)
    expect([retried.status, retried.body.event_name]).toEqual([200, 'buyer.created'])
  })
})

describe('a retry', () => {
  test.each(['failed', 'succeeded'] as const)('makes one that has %s due now, for seven more days', async (status) => {
    const subscriptionId = await insertSubscription(api.database)
    const id = await insertDelivery(api.database, { subscriptionId, status, expiresInMs: -minute })
    const { body } = await retry(id)
    expect([body.id, body.status]).toEqual([id, 'pending'])
    expect(inMs(body.next_attempt_at)).toBeLessThanOrEqual(0)
    const [row] = await api.database.query<{ expires_at: Date }>(
      'select expires_at from webhook_deliveries where id = $1',
      [id],
    )
    expect(inMs(row?.expires_at.toISOString())).toBeGreaterThan(6.9 * day)
  })

  test('makes one that waits for its next attempt due now, and does not prolong its time', async () => {
    const subscriptionId = await insertSubscription(api.database)
    const id = await insertDelivery(api.database, { subscriptionId, nextAttemptInMs: day / 2, expiresInMs: day })
    const { body } = await retry(id)
    expect(inMs(body.next_attempt_at)).toBeLessThanOrEqual(0)
    const [row] = await api.database.query<{ expires_at: Date }>(
      'select expires_at from webhook_deliveries where id = $1',
      [id],
    )
    expect(inMs(row?.expires_at.toISOString())).toBeLessThanOrEqual(day)
  })

  test('leaves one alone that may be on its way: it is not sent twice', async () => {
    const subscriptionId = await insertSubscription(api.database)
    const id = await insertDelivery(api.database, { subscriptionId, nextAttemptInMs: 45_000 })
    const before = (await get(id)).body.next_attempt_at
    const { status, body } = await retry(id)
    expect([status, body.status, body.next_attempt_at]).toEqual([200, 'pending', before])
  })

  test('is refused, and says why, where nothing is sent', async () => {
    const inactive = await insertSubscription(api.database, { active: false })
    const deleted = newId()
    for (const [subscriptionId, message] of [
      [inactive, /not active/],
      [deleted, /deleted/],
    ] as const) {
      const id = await insertDelivery(api.database, { subscriptionId, status: 'failed' })
      const { status, body } = await api.request('POST', `/webhook-deliveries/${id}/retry`)
      expect([status, body['message']]).toEqual([400, expect.stringMatching(message)])
      expect((await get(id)).body.status).toBe('failed')
    }
  })
})
