import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, useApi } from '../../../../test/api.ts'
import { insertDelivery, insertEvents, insertSubscription } from '../../../../test/webhooks.ts'
import { laterBy, newId, timeOfId } from '../../../ids.ts'
import { connect, type Database } from '../../../platform/postgres.ts'
import type { Collection } from '../../../schema.ts'
import { advanceReplays } from './operations.ts'
import type { WebhookReplay } from './schema.ts'

const api = useApi()
let db: Database

beforeAll(() => {
  const url = api.database.url('florin_worker')
  db = connect({ url, applicationName: 'test', poolSize: 4, onError: () => undefined })
  return () => db.close()
})

/** Names the account of the subscription; one of the whole instance needs none. */
async function call<Body>(method: string, id: string, path: string, body?: object): Promise<Answer<Body>> {
  const [row] = await api.database.query<{ account: string }>(
    'select merchant_account_id as account from webhook_subscriptions where id = $1',
    [id],
  )
  const headers: Record<string, string> =
    row && row.account !== '*' ? { 'X-Service-Merchant-Account-ID': row.account } : {}
  return await api.request<Body>(method, `/webhook-subscriptions/${id}/${path}`, { headers, ...(body && { body }) })
}
const replay = (id: string, body: object) => call<WebhookReplay>('POST', id, 'replay', body)
const get = async (id: string, replayId: string | null) =>
  (await call<WebhookReplay>('GET', id, `replays/${replayId}`)).body
const list = async (id: string) => (await call<Collection<WebhookReplay>>('GET', id, 'replays')).body.items
const advance = (now = () => new Date()) => advanceReplays(db, now, new AbortController().signal)
/** Events that the subscription was told of again, in their order. */
const replayed = async (subscriptionId: string) =>
  (
    await api.database.query<{ event_id: string }>(
      `select event_id from webhook_deliveries where subscription_id = $1 and origin = 'replay' order by event_id`,
      [subscriptionId],
    )
  ).map(({ event_id }) => event_id)
/** An account of its own, so that the events of one test are not in the way of another. */
async function makeAccount(): Promise<string> {
  const account = `replay-${newId().slice(-12)}`
  await api.makeAccount(account)
  return account
}
const hour = 3_600_000
const ago = (ms: number) => new Date(Date.now() - ms)

describe('a replay', () => {
  test('sends the events of a time again, both moments included, each as a new delivery with the same event', async () => {
    const account = await makeAccount()
    const id = await insertSubscription(api.database, { account })
    const events = await insertEvents(api.database, 5, { account })
    const [, second = '', , fourth = ''] = events
    const terms = {
      created_at_gte: timeOfId(second).toISOString(),
      created_at_lte: timeOfId(fourth).toISOString(),
    }
    const { status, body } = await replay(id, terms)
    expect([status, body]).toEqual([
      200,
      {
        type: 'webhook-replay',
        id: expect.any(String),
        merchant_account_id: account,
        subscription_id: id,
        ...terms,
        event_names: null,
        undelivered_only: false,
        deliveries: 0,
        is_minimum: false,
        position: null,
        created_at: expect.stringMatching(/Z$/),
        finished_at: null,
      },
    ])
    expect(await replayed(id)).toEqual([])

    await advance()
    expect(await replayed(id)).toEqual(events.slice(1, 4))
    expect(await get(id, body.id)).toMatchObject({
      deliveries: 3,
      position: timeOfId(fourth).toISOString(),
      finished_at: expect.stringMatching(/Z$/),
    })
    const rows = await api.database.query(
      `select merchant_account_id, status, next_attempt_at <= now() as is_due, expires_at > now() + interval '6 days' as is_renewed
       from webhook_deliveries where subscription_id = $1`,
      [id],
    )
    expect(rows).toEqual(
      Array(3).fill({ merchant_account_id: account, status: 'pending', is_due: true, is_renewed: true }),
    )
    await advance()
    expect(await replayed(id)).toHaveLength(3)
  })

  test('is of the account’s own events, and of all for a subscription of the whole instance', async () => {
    const [account, other] = [await makeAccount(), await makeAccount()]
    const [own, whole] = [
      await insertSubscription(api.database, { account }),
      await insertSubscription(api.database, { account: '*' }),
    ]
    const from = ago(40 * hour)
    const events = [
      await insertEvents(api.database, 2, { account, from }),
      await insertEvents(api.database, 2, { account: other, from }),
      await insertEvents(api.database, 2, { account: null, from }),
    ]
    const terms = { created_at_gte: ago(41 * hour).toISOString(), created_at_lte: ago(39 * hour).toISOString() }
    await replay(own, terms)
    expect((await replay(whole, { ...terms, dry_run: true })).body.deliveries).toBe(6)
    const { body } = await replay(whole, terms)
    expect(body.merchant_account_id).toBeNull()
    await advance()
    expect(await replayed(own)).toEqual(events[0])
    expect(await replayed(whole)).toEqual(events.flat().toSorted())
    expect((await get(whole, body.id)).deliveries).toBe(6)
  })

  test('is of the events that the subscription is told of, or of those that are named, and never of tests', async () => {
    const account = await makeAccount()
    const id = await insertSubscription(api.database, { account, eventNames: ['buyer.created'] })
    const all = await insertSubscription(api.database, { account })
    const created = await insertEvents(api.database, 2, { account, name: 'buyer.created' })
    const failed = await insertEvents(api.database, 2, { account, name: 'refund.failed' })
    await insertEvents(api.database, 1, { account, name: 'webhook-subscription.test' })
    const created_at_gte = ago(2 * hour).toISOString()
    for (const subscription of [id, all]) await replay(subscription, { created_at_gte })
    await advance()
    expect(await replayed(id)).toEqual(created)
    expect(await replayed(all)).toEqual([...created, ...failed].toSorted())
    await replay(id, { created_at_gte, event_names: ['refund.failed'] })
    await advance()
    expect(await replayed(id)).toEqual([...created, ...failed].toSorted())
  })

  test('leaves out what was received or is still being sent, if only the rest is wanted', async () => {
    const account = await makeAccount()
    const [id, other] = [
      await insertSubscription(api.database, { account }),
      await insertSubscription(api.database, { account }),
    ]
    const [succeeded, pending, failed, unheard, elsewhere] = (await insertEvents(api.database, 5, { account })) as [
      string,
      string,
      string,
      string,
      string,
    ]
    for (const [eventId, status] of [
      [succeeded, 'succeeded'],
      [pending, 'pending'],
      [failed, 'failed'],
    ] as const) {
      await insertDelivery(api.database, { account, subscriptionId: id, eventId, status })
    }
    await insertDelivery(api.database, { account, subscriptionId: other, eventId: elsewhere, status: 'succeeded' })
    const terms = { created_at_gte: ago(2 * hour).toISOString(), undelivered_only: true }
    expect((await replay(id, { ...terms, dry_run: true })).body.deliveries).toBe(3)
    await replay(id, terms)
    await advance()
    expect(await replayed(id)).toEqual([failed, unheard, elsewhere])
  })

  test('of the last moments waits until no event can still appear among them', async () => {
    const account = await makeAccount()
    const id = await insertSubscription(api.database, { account })
    const [early = ''] = await insertEvents(api.database, 1, { account })
    const from = ago(100)
    const [late = ''] = await insertEvents(api.database, 1, { account, from })
    const { body } = await replay(id, { created_at_gte: ago(2 * hour).toISOString() })
    await advance()
    expect(await replayed(id)).toEqual([early])
    // Committed after the replay has begun, with an id from before.
    const [later = ''] = await insertEvents(api.database, 1, { account, from })
    await advance(() => new Date(Date.now() + 60_000))
    expect(await replayed(id)).toEqual([early, ...[late, later].toSorted()])
    expect((await get(id, body.id)).finished_at).not.toBeNull()
  })

  test('waits while many deliveries are to be sent, and while the subscription is not active', async () => {
    const account = await makeAccount()
    const id = await insertSubscription(api.database, { account })
    const events = await insertEvents(api.database, 6_500, { account })
    const terms = { created_at_gte: ago(2 * hour).toISOString(), created_at_lte: ago(hour / 2).toISOString() }
    const { body } = await replay(id, terms)
    const activate = (active: boolean) =>
      api.database.query('update webhook_subscriptions set active = $2 where id = $1', [id, active])
    await activate(false)
    await advance()
    expect(await replayed(id)).toEqual([])
    await activate(true)
    await advance()
    expect(await replayed(id)).toEqual(events.slice(0, 5_000))
    expect(await get(id, body.id)).toMatchObject({ deliveries: 5_000, finished_at: null })
    await api.database.query(
      `update webhook_deliveries set status = 'succeeded', next_attempt_at = null where subscription_id = $1`,
      [id],
    )
    await advance()
    expect(await replayed(id)).toEqual(events)
    expect(await get(id, body.id)).toMatchObject({ deliveries: 6_500, finished_at: expect.any(String) })
  })

  test('is done once, however many workers go on with it at the same time', async () => {
    const account = await makeAccount()
    const id = await insertSubscription(api.database, { account })
    const events = await insertEvents(api.database, 3_500, { account })
    await replay(id, { created_at_gte: ago(2 * hour).toISOString() })
    await Promise.all([advance(), advance(), advance(), advance()])
    // Whoever found it locked has left it to the others.
    await advance()
    expect(await replayed(id)).toEqual(events)
  })
})

describe('a dry run', () => {
  test('counts and changes nothing', async () => {
    const account = await makeAccount()
    const id = await insertSubscription(api.database, { account, eventNames: ['buyer.created', 'refund.failed'] })
    await insertEvents(api.database, 3, { account, name: 'buyer.created' })
    await insertEvents(api.database, 2, { account, name: 'refund.failed' })
    await insertEvents(api.database, 2, { account, name: 'refund.pending' })
    const count = async (terms: object) => {
      const { body } = await replay(id, { created_at_gte: ago(2 * hour).toISOString(), dry_run: true, ...terms })
      return [body.id, body.deliveries, body.is_minimum]
    }
    expect(await count({})).toEqual([null, 5, false])
    expect(await count({ event_names: ['refund.failed', 'refund.pending'] })).toEqual([null, 4, false])
    expect(await count({ created_at_lte: ago(1.5 * hour).toISOString() })).toEqual([null, 0, false])
    expect(await list(id)).toEqual([])
    await advance()
    expect(await replayed(id)).toEqual([])
  })

  test('says so when there are more events than it counts', async () => {
    const account = await makeAccount()
    const id = await insertSubscription(api.database, { account })
    const [first = ''] = await insertEvents(api.database, 1, { account, from: ago(2 * hour) })
    await api.database.query(
      `insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
       select (left($1, 24) || lpad(to_hex(number), 12, '0'))::uuid, $2, 'buyer.created', 'buyer', 'x', 1, '{}', $3
       from generate_series(1, 100000) as number`,
      [laterBy(first, 1), account, timeOfId(first)],
    )
    const { body } = await replay(id, { created_at_gte: ago(3 * hour).toISOString(), dry_run: true })
    expect([body.deliveries, body.is_minimum]).toEqual([100_000, true])
  })
})

test('a time that is to come, or ends before it begins, and a subscription that is not active are refused', async () => {
  const id = await insertSubscription(api.database)
  for (const body of [
    { created_at_gte: ago(-hour).toISOString() },
    { created_at_gte: ago(hour).toISOString(), created_at_lte: ago(2 * hour).toISOString() },
  ]) {
    const { status, body: refusal } = await api.request('POST', `/webhook-subscriptions/${id}/replay`, { body })
    const detail = expect.objectContaining({ pointer: '/created_at_gte', type: 'value_error.range' })
    expect([status, refusal['details']]).toEqual([400, [detail]])
  }
  const inactive = await insertSubscription(api.database, { active: false })
  const refused = await api.request('POST', `/webhook-subscriptions/${inactive}/replay`, {
    body: { created_at_gte: ago(hour).toISOString() },
  })
  expect([refused.status, refused.body['message']]).toEqual([400, expect.stringMatching(/not active/)])
})

test('replays are listed under their own subscription only', async () => {
  const [id, other] = [await insertSubscription(api.database), await insertSubscription(api.database)]
  const { body: made } = await replay(id, { created_at_gte: ago(hour).toISOString() })
  expect((await list(id)).map((item) => item.id)).toEqual([made.id])
  expect(await list(other)).toEqual([])
  const { status } = await api.request('GET', `/webhook-subscriptions/${other}/replays/${made.id}`)
  expect(status).toBe(404)
})
