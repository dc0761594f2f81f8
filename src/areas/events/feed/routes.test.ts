import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { apiConfig, useApi } from '../../../../test/api.ts'
import { laterBy, timeOfId } from '../../../ids.ts'
import { startApi } from '../../../main/api.ts'

const api = useApi()

interface Sent {
  id: string
  event: string
  data: { id: string; name: string; merchant_account_id: string | null }
}

const parse = (text: string): Sent[] =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('id: '))
    .map((block) => {
      const {
        id = '',
        event = '',
        data = '',
      } = Object.fromEntries(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      ) as Record<string, string>
      return { id, event, data: JSON.parse(data) as Sent['data'] }
    })

interface Follower {
  /** What came so far. */
  events: Sent[]
  text(): string
  /** When so many have come. */
  until(count: number): Promise<Sent[]>
  /** When the other side ends it. */
  ended: Promise<void>
  close(): void
}

async function follow(
  query: string,
  { token = api.token(), account = 'default', url = api.url() } = {},
): Promise<Follower> {
  const headers = { authorization: `Bearer ${token}`, 'X-Service-Merchant-Account-ID': account }
  // A connection of its own, which is closed at once: fetch would open the next one ahead of its use.
  const asked = request(`${url}/events/feed?${query}`, { agent: false, headers })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  let text = ''
  const waiting: { count: number; resolve: (events: Sent[]) => void }[] = []
  const follower: Follower = {
    events: [],
    text: () => text,
    until: (count) => new Promise((resolve) => (waiting.push({ count, resolve }), look())),
    ended: new Promise((resolve) => response.once('close', resolve)),
    close: () => asked.destroy(),
  }
  const look = () => {
    follower.events = parse(text.slice(0, text.lastIndexOf('\n\n') + 2))
    for (const { count, resolve } of waiting) if (follower.events.length >= count) resolve(follower.events)
  }
  response.setEncoding('utf8')
  response.on('error', () => undefined)
  response.on('data', (chunk: string) => {
    text += chunk
    look()
  })
  return follower
}

const makeBuyer = async (name: string, account = 'default') =>
  (
    await api.request<{ id: string }>('POST', '/buyers', {
      body: { display_name: name },
      headers: { 'X-Service-Merchant-Account-ID': account },
    })
  ).body.id

const insertEvent = (id: string) =>
  api.database.query(
    `insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
     select $1, 'default', name, resource_type, resource_id, 2, target, $2 from events where name = 'buyer.created' limit 1`,
    [id, timeOfId(id)],
  )

test('what happens is sent as it is listed, in order, to those who follow from now on', async () => {
  await makeBuyer('Before')
  const feed = await follow('wait=60&name=buyer.created&name=buyer.deleted')
  const first = await makeBuyer('Ada')
  await makeBuyer('Elsewhere', 'other')
  const second = await makeBuyer('Grace')
  await api.request('PUT', `/buyers/${first}`, { body: { display_name: 'Not asked for' } })
  await api.request('DELETE', `/buyers/${second}`)
  const events = await feed.until(3)
  feed.close()
  const { body } = await api.request<{ items: object[] }>(
    'GET',
    '/events?limit=3&name=buyer.created&name=buyer.deleted',
  )
  expect(events.map(({ data }) => data)).toEqual(body.items.toReversed())
  for (const { id, event, data } of events) expect([id, event]).toEqual([data.id, data.name])
})

test('an event that commits late, after others with later ids were sent, is sent too, and nothing twice', async () => {
  await makeBuyer('Ada')
  const feed = await follow('wait=60')
  await makeBuyer('Grace')
  const [onTime] = await feed.until(1)
  const late = laterBy(onTime?.id ?? '', -1)
  await insertEvent(late)
  const last = await makeBuyer('Mary')
  const events = await feed.until(3)
  feed.close()
  expect(events.map(({ id }) => id)).toEqual([onTime?.id, late, expect.any(String)])
  expect(events[2]?.data).toMatchObject({ target: { id: last } })
})

test('who goes on from a position misses nothing, and has the ten seconds before it again', async () => {
  const feed = await follow('wait=60')
  for (const name of ['Ada', 'Grace', 'Mary']) await makeBuyer(name)
  const seen = await feed.until(3)
  feed.close()
  const again = await follow(`wait=60&position=${seen[1]?.id}`)
  const ids = (await again.until(3)).map(({ id }) => id)
  again.close()
  expect(ids).toEqual(expect.arrayContaining(seen.map(({ id }) => id)))
  expect(new Set(ids).size).toBe(ids.length)
  // From far before everything, through more than are looked for at once.
  await api.database.query(
    `insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
     select florin_id_floor(now() - make_interval(secs => 1000 + number * 0.002)), 'default', 'buyer.updated', 'buyer', 'x', 1, '{}', now()
     from generate_series(1, 5500) as number`,
  )
  const all = await follow('position=01900000-0000-7000-8000-000000000000')
  await all.ended
  const everything = all.events.map(({ id }) => id)
  expect(everything).toEqual([...new Set(everything)].toSorted())
  expect(everything.length).toBeGreaterThan(5_500)
  expect(everything).toEqual(expect.arrayContaining(seen.map(({ id }) => id)))
})

test('a consumer goes on where it said it was, each account and all of them apart', async () => {
  const headersOf = (account: string) => ({ 'X-Service-Merchant-Account-ID': account })
  const create = (account: string, token = api.token()) =>
    api.request<{ position: string }>('POST', '/events/consumers', {
      body: { id: 'warehouse' },
      headers: headersOf(account),
      token,
    })
  const move = (account: string, position: string) =>
    api.request<{ position: string }>('PUT', '/events/consumers/warehouse', {
      body: { position },
      headers: headersOf(account),
    })
  const refused = await api.request('GET', '/events/feed?consumer=warehouse')
  expect([refused.status, refused.body['details']]).toMatchObject([400, [{ pointer: 'consumer' }]])

  const { body: begun } = await create('default')
  expect(Math.abs(timeOfId(begun.position).getTime() - Date.now())).toBeLessThan(60_000)
  expect((await create('default')).status).toBe(409)
  await makeBuyer('While nobody follows')
  const feed = await follow('wait=60&consumer=warehouse')
  const { id: last = '' } = (await feed.until(1)).at(-1) ?? {}
  feed.close()
  expect((await move('default', last)).body.position).toBe(last)
  expect((await move('other', last)).status).toBe(404)
  expect((await move('*', last)).status).toBe(404)
  expect([(await create('other')).status, (await create('*')).status]).toEqual([201, 201])
  expect((await move('*', begun.position)).body.position).toBe(begun.position)
  const rows = await api.database.query('select merchant_account_id, position from event_consumers order by 1')
  expect(rows).toMatchObject([
    { merchant_account_id: '*', position: begun.position },
    { merchant_account_id: 'default', position: last },
    { merchant_account_id: 'other' },
  ])

  const bound = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['default', 'other'] }))
  expect((await create('*', bound)).status).toBe(403)
  const several = await api.request('GET', '/events/feed?consumer=warehouse', { token: bound, headers: headersOf('*') })
  expect([several.status, several.body['details']]).toMatchObject([400, [{ pointer: 'consumer' }]])
})

test('who is bound to an account follows nothing else; all accounts and the whole instance are for who reaches all', async () => {
  const bound = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['other'] }))
  const [narrow, wide] = [
    await follow('wait=60', { token: bound, account: '*' }),
    await follow('wait=60', { account: '*' }),
  ]
  await makeBuyer('Ada')
  await api.makeKeyPair()
  const theirs = await makeBuyer('Theirs', 'other')
  const all = await wide.until(3)
  const own = await narrow.until(1)
  wide.close()
  narrow.close()
  expect(all.map(({ data }) => data.merchant_account_id)).toEqual(['default', null, 'other'])
  expect(own.map(({ data }) => data)).toMatchObject([{ target: { id: theirs } }])
})

test('a stream ends when its key pair is deleted', async () => {
  const pair = await api.makeKeyPair()
  const feed = await follow('wait=3600', { token: await api.makeToken(pair) })
  await api.request('DELETE', `/api-key-pairs/${pair.id}`)
  await feed.ended
  expect(feed.text()).toMatch(/^:\n\n/)
})

test('a stream ends when its token does', async () => {
  const token = await api.makeToken(await api.makeKeyPair(), {
    claims: { exp: Math.floor(Date.now() / 1_000) - 55 },
  })
  const feed = await follow('wait=3600', { token })
  await feed.ended
  expect((await api.request('GET', '/events', { token })).status).toBe(401)
})

test('a key pair holds five streams and no more, and again as many when it has let go', async () => {
  const token = await api.makeToken(await api.makeKeyPair())
  const feeds = await Promise.all(Array.from({ length: 5 }, () => follow('wait=3600', { token })))
  const refused = await api.request('GET', '/events/feed?wait=3600', { token })
  expect([refused.status, refused.body['code']]).toEqual([429, 'too_many_requests'])
  const other = await follow('wait=0')
  await other.ended
  for (const feed of feeds) feed.close()
  let status = 429
  while (status === 429) status = (await api.request('GET', '/events/feed', { token })).status
  expect(status).toBe(200)
})

test('a stream ends when the process is about to, so that it does not hold it up', async () => {
  const second = await startApi(apiConfig(api.database.url('florin_api')), () => undefined)
  const feed = await follow('wait=3600', { url: second.url })
  second.drain()
  await feed.ended
  await second.close()
  expect(feed.text()).toMatch(/^:\n\n/)
})
