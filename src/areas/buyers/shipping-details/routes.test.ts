import { expect, test } from 'vitest'
import { type RequestOptions, useApi } from '../../../../test/api.ts'
import { newId } from '../../../ids.ts'
import type { Buyer } from '../schema.ts'
import type { ShippingDetails } from './schema.ts'

const api = useApi()
const account = 'X-Service-Merchant-Account-ID'
const other = { headers: { [account]: 'other' } }

const makeBuyer = async (options: RequestOptions = {}) =>
  (await api.request<Buyer>('POST', '/buyers', { body: { display_name: 'Ada' }, ...options })).body.id
const path = (buyerId: string, id = '') => `/buyers/${buyerId}/shipping-details${id && `/${id}`}`
const create = (buyerId: string, body: object, options: RequestOptions = {}) =>
  api.request<ShippingDetails>('POST', path(buyerId), { body, ...options })
const get = (buyerId: string, id: string, options: RequestOptions = {}) =>
  api.request<ShippingDetails>('GET', path(buyerId, id), options)
const update = (buyerId: string, id: string, body: object, options: RequestOptions = {}) =>
  api.request<ShippingDetails>('PUT', path(buyerId, id), { body, ...options })
const remove = (buyerId: string, id: string, options: RequestOptions = {}) =>
  api.request('DELETE', path(buyerId, id), options)
const list = (buyerId: string, options: RequestOptions = {}) =>
  api.request<{ items: ShippingDetails[] }>('GET', path(buyerId), options)

const address = {
  city: 'London',
  country: 'GB',
  postal_code: 'SW1Y 4JH',
  state: 'Greater London',
  state_code: 'GB-LND',
  house_number_or_name: '12',
  line1: "12 St James's Square",
  line2: 'Second floor',
  organization: 'Analytical Engines Ltd',
}
const details = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  email_address: 'ada@example.com',
  phone_number: '+442071234567',
  address,
}
const nothing = { first_name: null, last_name: null, email_address: null, phone_number: null, address: null }

test('shipping details need no field, and every field that is sent comes back', async () => {
  const buyerId = await makeBuyer()
  const blank = await create(buyerId, {})
  expect(blank.status).toBe(201)
  expect(blank.body).toEqual({ type: 'shipping-details', id: blank.body.id, buyer_id: buyerId, ...nothing })
  const full = await create(buyerId, details)
  expect(full.body).toEqual({ type: 'shipping-details', id: full.body.id, buyer_id: buyerId, ...details })
  expect((await get(buyerId, full.body.id)).body).toEqual(full.body)
  expect((await list(buyerId)).body).toEqual({ items: [full.body, blank.body] })
})

test.each([
  ['/first_name', '', 'value_error.length'],
  ['/first_name', 'x'.repeat(256), 'value_error.length'],
  ['/last_name', '', 'value_error.length'],
  ['/last_name', 'x'.repeat(256), 'value_error.length'],
  ['/email_address', '', 'value_error.length'],
  ['/email_address', 'x'.repeat(321), 'value_error.length'],
  ['/phone_number', '020 7123 4567', 'value_error.pattern'],
  ['/address', 'London', 'type_error.object'],
  ['/address', { country: 'UK ' }, 'value_error.pattern', '/address/country'],
  ['/address', { city: 'x'.repeat(101) }, 'value_error.length', '/address/city'],
  ['/address', { zip: '1' }, 'value_error.extra', '/address/zip'],
  ['/tax_id', null, 'value_error.extra'],
  ['/buyer_id', newId(), 'value_error.extra'],
  ['/type', 'shipping-details', 'value_error.extra'],
])('%s may not be %j', async (pointer, value, type, at = pointer) => {
  const buyerId = await makeBuyer()
  const { body } = await create(buyerId, {})
  const sent = { [pointer.slice(1)]: value }
  for (const answer of [await create(buyerId, sent), await update(buyerId, body.id, sent)]) {
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ details: [{ location: 'body', pointer: at, type }] })
  }
})

test.each([
  { first_name: '\u{1f600}'.repeat(255), last_name: 'x'.repeat(255), email_address: 'x'.repeat(320) },
  { phone_number: '+123456789012345' },
  { ...nothing },
])('%j is taken', async (sent) => {
  const { status, body } = await create(await makeBuyer(), sent)
  expect(status).toBe(201)
  expect(body).toMatchObject(sent)
})

test('an update changes what it names, null clears, and an address is replaced as a whole', async () => {
  const buyerId = await makeBuyer()
  const { body: before } = await create(buyerId, details)
  const renamed = await update(buyerId, before.id, { last_name: 'King', email_address: null })
  expect(renamed.status).toBe(200)
  expect(renamed.body).toEqual({ ...before, last_name: 'King', email_address: null })
  const moved = await update(buyerId, before.id, { address: { city: 'Porlock' } })
  const blank = Object.fromEntries(Object.keys(address).map((name) => [name, null]))
  expect(moved.body).toEqual({ ...renamed.body, address: { ...blank, city: 'Porlock' } })
  expect((await update(buyerId, before.id, { address: null })).body.address).toBeNull()
  expect((await get(buyerId, before.id)).body).toEqual({ ...moved.body, address: null })
})

test('deleted shipping details are gone, the others stay', async () => {
  const buyerId = await makeBuyer()
  const [{ body: first }, { body: second }] = [await create(buyerId, details), await create(buyerId, details)]
  expect((await remove(buyerId, first.id)).status).toBe(204)
  expect((await get(buyerId, first.id)).status).toBe(404)
  expect((await remove(buyerId, first.id)).status).toBe(404)
  expect((await list(buyerId)).body.items).toEqual([second])
})

test('shipping details go with their buyer', async () => {
  const buyerId = await makeBuyer()
  const { body } = await create(buyerId, details)
  await api.request('DELETE', `/buyers/${buyerId}`)
  expect((await list(buyerId)).status).toBe(404)
  expect((await get(buyerId, body.id)).status).toBe(404)
  expect((await create(buyerId, {})).status).toBe(404)
  expect(await api.database.query('select from shipping_details where buyer_id = $1', [buyerId])).toEqual([])
})

test('while a buyer is deleted, shipping details are made before it or not at all', async () => {
  for (let round = 0; round < 10; round += 1) {
    const buyerId = await makeBuyer()
    const answers = await Promise.all([
      create(buyerId, details),
      api.request('DELETE', `/buyers/${buyerId}`),
      create(buyerId, details),
    ])
    expect(answers[1].status).toBe(204)
    for (const { status } of [answers[0], answers[2]]) expect([201, 404]).toContain(status)
    expect(await api.database.query('select from shipping_details where buyer_id = $1', [buyerId])).toEqual([])
  }
})

test("another buyer's shipping details, another account's and unknown ones are not found", async () => {
  const [mine, yours, theirs] = [await makeBuyer(), await makeBuyer(), await makeBuyer(other)]
  const { body: own } = await create(mine, details)
  const { body: foreign } = await create(theirs, details, other)
  for (const [buyerId, id] of [
    [yours, own.id],
    [theirs, own.id],
    [theirs, foreign.id],
    [mine, foreign.id],
    [mine, newId()],
    [newId(), own.id],
  ] as const) {
    expect((await get(buyerId, id)).status).toBe(404)
    expect((await update(buyerId, id, { first_name: 'X' })).status).toBe(404)
    expect((await remove(buyerId, id)).status).toBe(404)
  }
  for (const buyerId of [theirs, newId()]) {
    expect((await list(buyerId)).status).toBe(404)
    expect((await create(buyerId, details)).status).toBe(404)
  }
  expect((await get(mine, own.id)).body).toEqual(own)
  expect((await list(theirs, other)).body.items).toEqual([foreign])
  expect((await list(yours)).body).toEqual({ items: [] })
})

test('each change leaves one event and one audit row that names nobody, and the buyer as it was', async () => {
  const buyerId = await makeBuyer()
  const { body: created } = await create(buyerId, details)
  const { body: updated } = await update(buyerId, created.id, { last_name: 'King' })
  await remove(buyerId, created.id)
  const events = await api.database.query(
    'select merchant_account_id, name, resource_type, sequence, target from events where resource_id = $1 order by id',
    [created.id],
  )
  const common = { merchant_account_id: 'default', resource_type: 'shipping-details' }
  expect(events).toEqual([
    { ...common, name: 'shipping-details.created', sequence: 1, target: created },
    { ...common, name: 'shipping-details.updated', sequence: 2, target: updated },
    { ...common, name: 'shipping-details.deleted', sequence: 3, target: updated },
  ])
  const rows = await api.database.query<{ action: string; resource_name: string }>(
    'select action, resource_name from audit_logs where resource_id = $1 order by id',
    [created.id],
  )
  expect(rows.map(({ action }) => action)).toEqual(['created', 'updated', 'deleted'])
  expect(new Set(rows.map(({ resource_name }) => resource_name))).toEqual(new Set([created.id]))
  const ofBuyer = await api.database.query('select name from events where resource_id = $1', [buyerId])
  expect(ofBuyer).toEqual([{ name: 'buyer.created' }])
  expect(api.logs.join('\n')).not.toMatch(/Lovelace|ada@example/)
})
