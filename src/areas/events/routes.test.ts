import { beforeAll, expect, test } from 'vitest'
import { roleIds, useApi } from '../../../test/api.ts'
import { eventNames, eventTypes, typeOf } from '../../events/catalog.ts'
import type { Collection } from '../../schema.ts'

interface Event {
  id: string
  name: string
  created_at: string
  merchant_account_id: string | null
  target: { type: string; id: string; updated_at: string }
}

const api = useApi()
const everywhere = { 'X-Service-Merchant-Account-ID': '*' }
const list = async (query = '', headers: Record<string, string> = {}, token = api.token()) =>
  (await api.request<Collection<Event>>('GET', `/events${query}`, { headers, token })).body

const made: string[] = []
beforeAll(async () => {
  for (const display_name of ['Ada', 'Grace', 'Mary']) {
    const { body } = await api.request<{ id: string }>('POST', '/buyers', { body: { display_name } })
    made.unshift(body.id)
  }
  await api.request('PUT', `/buyers/${made[0]}`, { body: { display_name: 'Mary S.' } })
  await api.request('POST', '/buyers', {
    headers: { 'X-Service-Merchant-Account-ID': 'other' },
    body: { display_name: 'Joan' },
  })
})

test('an event is listed and got as the text that is sent, with the resource as it was then', async () => {
  const { body: buyer } = await api.request<{ id: string }>('POST', '/buyers', { body: { display_name: 'Ada' } })
  const [event] = (await list('?limit=1')).items
  expect(event).toEqual({
    type: 'event',
    id: expect.any(String) as string,
    name: 'buyer.created',
    created_at: expect.stringMatching(/Z$/) as string,
    merchant_account_id: 'default',
    instance_id: 'test',
    environment: 'sandbox',
    target: buyer,
  })
  await api.request('DELETE', `/buyers/${buyer.id}`)
  const got = await api.request('GET', `/events/${event?.id}`)
  expect([got.status, got.body]).toEqual([200, event])
  const elsewhere = { headers: { 'X-Service-Merchant-Account-ID': 'other' } }
  expect((await api.request('GET', `/events/${event?.id}`, elsewhere)).status).toBe(404)
})

test('filters narrow the list, alone and together', async () => {
  const of = async (query: string) => (await list(query)).items.map(({ name, target }) => `${name} ${target.id}`)
  const updated = `buyer.updated ${made[0]}`
  expect(await of('?name=buyer.updated')).toEqual([updated])
  expect(await of(`?resource_id=${made[0]}`)).toEqual([updated, `buyer.created ${made[0]}`])
  expect(await of(`?resource_id=${made[0]}&name=buyer.created`)).toEqual([`buyer.created ${made[0]}`])
  expect(await of(`?resource_type=buyer&name=buyer.updated&name=gift-card.created`)).toEqual([updated])
  expect(await of('?resource_type=gift-card&name=buyer.updated')).toEqual([])
  expect(await of(`?resource_type=buyer&resource_id=${made[1]}`)).toEqual([`buyer.created ${made[1]}`])
})

test('times are bounds that belong to the list', async () => {
  const { items } = await list('?resource_type=buyer&limit=100')
  const [newest, oldest] = [items.at(0)?.created_at ?? '', items.at(-1)?.created_at ?? '']
  const between = async (from: string, to: string) =>
    (await list(`?resource_type=buyer&limit=100&created_at_gte=${from}&created_at_lte=${to}`)).items
  expect(await between(oldest, newest)).toEqual(items)
  expect(await between(newest.replace('Z', '1Z'), '2999-01-01T00:00:00Z')).toEqual([])
  expect(await between('1970-01-01T00:00:00Z', oldest.replace('Z', '9Z'))).toContainEqual(items.at(-1))
  expect(await between('1970-01-01T00:00:00Z', '1970-01-01T00:00:00%2B14:00')).toEqual([])
})

test('a walk by name sees every event of all accounts once, in order, those of the whole instance too', async () => {
  await api.request('POST', '/api-key-pairs', { body: { display_name: 'Everywhere', role_ids: [roleIds.full] } })
  const names = '&name=buyer.created&name=buyer.updated&name=api-key-pair.created'
  const whole = (await list(`?limit=100${names}`, everywhere)).items
  expect(new Set(whole.map((event) => event.merchant_account_id))).toEqual(new Set(['default', 'other', null]))
  expect(whole.map(({ id }) => id)).toEqual(
    whole
      .map(({ id }) => id)
      .toSorted()
      .reverse(),
  )
  const walked: Event[] = []
  let page = await list(`?limit=2${names}`, everywhere)
  for (;;) {
    walked.push(...page.items)
    if (page.next_cursor === null) break
    page = await list(`?limit=2${names}&cursor=${page.next_cursor}`, everywhere)
  }
  expect(walked).toEqual(whole)
  expect(page.previous_cursor).not.toBeNull()
})

test('who is bound to an account sees nothing of the others, and nothing of the whole instance', async () => {
  const bound = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['other'] }))
  for (const query of ['?limit=100', `?limit=100${eventNames.map((name) => `&name=${name}`).join('')}`]) {
    const { items } = await list(query, everywhere, bound)
    expect(new Set(items.map((event) => event.merchant_account_id))).toEqual(new Set(['other']))
  }
})

test('what an event is about is the first part of its name', async () => {
  const { items } = await list('?limit=100', everywhere)
  expect(items.length).toBeGreaterThan(5)
  for (const { name, target } of items) expect(typeOf(name as (typeof eventNames)[number])).toBe(target.type)
  expect(eventTypes).toContain('transaction')
})
