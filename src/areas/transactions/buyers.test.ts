import { expect, test } from 'vitest'
import { card, refusal, usePayments } from '../../../test/payments.ts'
import { newId } from '../../ids.ts'

const { api, pay, paid, get, store } = usePayments()

const billing_details = { first_name: 'Ada', address: { city: 'Berlin', country: 'DE', postal_code: '10115' } }
const makeBuyer = async (change: object = {}) =>
  (await api.request<{ id: string }>('POST', '/buyers', { body: { display_name: 'Ada', billing_details, ...change } }))
    .body.id
const byId = (id: string) => ({ method: 'id', id })

test('a guest is shown with the payment and not stored as a buyer', async () => {
  const before = await get<{ items: unknown[] }>('/buyers')
  const guest = { display_name: 'Guest', external_identifier: 'guest-1', billing_details }
  const { body } = await pay({ buyer: guest })
  expect(body['buyer']).toMatchObject({ id: null, display_name: 'Guest', external_identifier: 'guest-1' })
  expect(body['buyer']).toMatchObject({ billing_details: { first_name: 'Ada', address: { city: 'Berlin' } } })
  expect(await get('/buyers')).toEqual(before)
})

test('a buyer is named by id or by external identifier', async () => {
  const external_identifier = `buyer-${newId()}`
  const id = await makeBuyer({ external_identifier })
  for (const name of [{ buyer_id: id }, { buyer_external_identifier: external_identifier }]) {
    expect((await pay(name)).body['buyer']).toMatchObject({ id, display_name: 'Ada', external_identifier })
  }
})

test('whoever names the buyer twice is refused at both places', async () => {
  const [buyer_id, buyer_external_identifier] = [await makeBuyer(), 'x']
  expect(refusal(await pay({ buyer_id, buyer_external_identifier }))).toEqual([
    400,
    '/buyer_external_identifier value_error.conflict',
    '/buyer_id value_error.conflict',
  ])
  expect(refusal(await pay({ buyer_id, buyer: { display_name: 'Guest' } }))).toEqual([
    400,
    '/buyer value_error.conflict',
    '/buyer_id value_error.conflict',
  ])
  expect(refusal(await pay({ buyer_id, payment_method: card(undefined, { buyer_id }) }))).toEqual([
    400,
    '/buyer_id value_error.conflict',
    '/payment_method/buyer_id value_error.conflict',
  ])
})

test('a buyer that is not there is refused', async () => {
  expect(refusal(await pay({ buyer_id: newId() }))).toEqual([400, '/buyer_id value_error.unknown'])
  expect(refusal(await pay({ buyer_external_identifier: newId() }))).toEqual([
    400,
    '/buyer_external_identifier value_error.unknown',
  ])
})

test("another buyer's stored card is refused, and so is nobody's", async () => {
  const [owner, other] = [await makeBuyer(), await makeBuyer()]
  const owned = await store({ buyer_id: owner })
  const nobodys = await store()
  for (const { id } of [owned, nobodys]) {
    expect(refusal(await pay({ buyer_id: other, payment_method: byId(id) }))).toEqual([
      400,
      '/payment_method/id value_error.conflict',
    ])
  }
  expect((await pay({ buyer_id: owner, payment_method: byId(owned.id) })).status).toBe(201)
})

test('a stored card without a buyer named is paid with by its owner', async () => {
  const buyer_id = await makeBuyer()
  const { id } = await store({ buyer_id })
  expect((await pay({ payment_method: byId(id) })).body['buyer']).toMatchObject({ id: buyer_id, display_name: 'Ada' })
})

test('the transaction keeps the buyer as it was', async () => {
  const buyer_id = await makeBuyer()
  const path = await paid({ buyer_id })
  await api.request('PUT', `/buyers/${buyer_id}`, { body: { display_name: 'Grace' } })
  expect((await get(path))['buyer']).toMatchObject({ id: buyer_id, display_name: 'Ada' })
  await api.request('DELETE', `/buyers/${buyer_id}`)
  expect((await get(path))['buyer']).toMatchObject({ id: buyer_id, display_name: 'Ada' })
})

test('shipping details are copied when the payment is made', async () => {
  const buyer_id = await makeBuyer()
  const at = `/buyers/${buyer_id}/shipping-details`
  const body = { first_name: 'Ada', address: { city: 'Berlin', country: 'DE' } }
  const shipping = await api.request<{ id: string }>('POST', at, { body })
  const path = await paid({ buyer_id, shipping_details_id: shipping.body.id })
  await api.request('PUT', `${at}/${shipping.body.id}`, { body: { first_name: 'Grace' } })
  expect((await get(path))['shipping_details']).toMatchObject({ id: shipping.body.id, first_name: 'Ada', buyer_id })
})

test('shipping details of another buyer, or without a buyer, are refused', async () => {
  const [buyer_id, other] = [await makeBuyer(), await makeBuyer()]
  const made = await api.request<{ id: string }>('POST', `/buyers/${other}/shipping-details`, { body: {} })
  const shipping_details_id = made.body.id
  expect(refusal(await pay({ buyer_id, shipping_details_id }))).toEqual([
    400,
    '/shipping_details_id value_error.unknown',
  ])
  expect(refusal(await pay({ shipping_details_id }))).toEqual([400, '/shipping_details_id value_error.conflict'])
})

test('a guest has shipping details of its own', async () => {
  const buyer = { display_name: 'Guest', shipping_details: { first_name: 'Ada', address: { city: 'Berlin' } } }
  expect((await pay({ buyer })).body['shipping_details']).toMatchObject({
    id: null,
    buyer_id: null,
    first_name: 'Ada',
    address: { city: 'Berlin' },
  })
})
