import { expect, test } from 'vitest'
import { useApi } from '../../../../test/api.ts'
import { insertSubscription } from '../../../../test/webhooks.ts'
import { newId } from '../../../ids.ts'
import type { WebhookDelivery } from '../../webhook-deliveries/schema.ts'

const api = useApi()
const send = (id: string, token = api.token()) =>
  api.request<WebhookDelivery>('POST', `/webhook-subscriptions/${id}/test`, { token })
const eventOf = async ({ event_id }: WebhookDelivery) =>
  (await api.database.query('select merchant_account_id, name, target from events where id = $1', [event_id]))[0]

test('a test is a delivery that is due at once, of an event that says what it is', async () => {
  const id = await insertSubscription(api.database, { eventNames: ['refund.failed'] })
  const { status, body } = await send(id)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    type: 'webhook-delivery',
    merchant_account_id: 'default',
    subscription_id: id,
    event_name: 'webhook-subscription.test',
    origin: 'test',
    status: 'pending',
    attempt_count: 0,
    next_attempt_at: body.created_at,
  })
  expect(await eventOf(body)).toEqual({
    merchant_account_id: 'default',
    name: 'webhook-subscription.test',
    target: { type: 'webhook-subscription', id, merchant_account_id: 'default' },
  })
})

test('other subscriptions hear nothing of it: its event is not in the queue', async () => {
  const { body } = await send(await insertSubscription(api.database))
  expect(await api.database.query('select from event_queue where event_id = $1', [body.event_id])).toEqual([])
  const deliveries = await api.database.query('select from webhook_deliveries where event_id = $1', [body.event_id])
  expect(deliveries).toHaveLength(1)
})

test('a subscription of the whole instance is tested by those who reach all accounts', async () => {
  const id = await insertSubscription(api.database, { account: '*' })
  const bound = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['default'] }))
  expect((await send(id, bound)).status).toBe(404)
  const { status, body } = await send(id)
  expect([status, body.merchant_account_id]).toEqual([200, null])
  expect(await eventOf(body)).toMatchObject({ merchant_account_id: null, target: { merchant_account_id: null } })
})

test('where nothing is sent there is nothing to test', async () => {
  const inactive = await api.request(
    'POST',
    `/webhook-subscriptions/${await insertSubscription(api.database, { active: false })}/test`,
  )
  expect([inactive.status, inactive.body['message']]).toEqual([400, expect.stringMatching(/not active/)])
  expect((await send(newId())).status).toBe(404)
})
