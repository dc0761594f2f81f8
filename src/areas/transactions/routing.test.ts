import { expect, test } from 'vitest'
import { card, idOf, refusal, usePayments } from '../../../test/payments.ts'
import { newId } from '../../ids.ts'

/* Each test has a currency, and so services, to itself. */

const { api, pay, paid, get, timeline, makeService, service, events } = usePayments()

const only = (accepted_currencies: string[], change: object = {}) => makeService({ accepted_currencies, ...change })
const attempts = (id: string) =>
  api.database.query(
    'select payment_service_id, result, error_code from attempts where transaction_id = $1 order by id',
    [id],
  )

test('without a service for the currency the payment fails and nobody is asked', async () => {
  const { status, body } = await pay({ currency: 'SEK' })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    status: 'authorization_failed',
    error_code: 'all_attempts_skipped',
    intent_outcome: 'failed',
    payment_service: null,
  })
  expect(await attempts(body.id)).toEqual([])
  expect(await events(body.id)).toEqual(['transaction.failed 1'])
  expect(await timeline(`/transactions/${body.id}`)).toEqual(['transaction-updated-status'])
})

test('without a service for the country the payment fails, and without a country any will do', async () => {
  expect((await pay({ country: 'SE' })).body).toMatchObject({ error_code: 'all_attempts_skipped' })
  expect((await pay({ country: null })).body).toMatchObject({ status: 'authorization_succeeded', country: null })
})

test('the first by position is asked', async () => {
  const [last, first] = [await only(['GBP'], { position: 900 }), await only(['GBP'], { position: 800 })]
  expect((await pay({ currency: 'GBP' })).body).toMatchObject({ payment_service: { id: first } })
  await api.request('PUT', `/payment-services/${last}`, { body: { position: 700 } })
  expect((await pay({ currency: 'GBP' })).body).toMatchObject({ payment_service: { id: last } })
})

test('a service that is not active is passed over', async () => {
  await only(['CHF'], { active: false, position: 1 })
  const active = await only(['CHF'], { position: 2 })
  expect((await pay({ currency: 'CHF' })).body).toMatchObject({ payment_service: { id: active } })
})

test('payment_service_id goes past the order', async () => {
  await only(['CAD'], { position: 1 })
  const named = await only(['CAD'], { position: 2 })
  expect((await pay({ currency: 'CAD', payment_service_id: named })).body).toMatchObject({
    payment_service: { id: named },
  })
})

test('a service that cannot take the payment cannot be named for it', async () => {
  const expected = [400, '/payment_service_id value_error.unknown']
  await api.makeAccount('elsewhere')
  const unusable = {
    unknown: newId(),
    foreign: await makeService({}, 'elsewhere'),
    inactive: await makeService({ active: false, accepted_currencies: ['EUR'] }),
    'of another currency': await only(['NOK']),
  }
  for (const [name, payment_service_id] of Object.entries(unusable)) {
    expect([name, ...refusal(await pay({ payment_service_id }))]).toEqual([name, ...expected])
  }
  expect(refusal(await pay({ payment_service_id: service(), country: 'SE' }))).toEqual(expected)
})

test('a decline that another provider may not share goes on to the next, until one approves or none is left', async () => {
  const first = await only(['DKK'], { position: 1 })
  const second = await only(['DKK'], { position: 2, accepted_countries: ['DE'] })
  const third = await only(['DKK'], { position: 3, accepted_countries: ['US'] })
  const { body } = await pay({ currency: 'DKK', amount: 200_012 })
  expect(body).toMatchObject({
    status: 'authorization_declined',
    error_code: 'issuer_decline',
    payment_service: { id: second },
  })
  expect(await attempts(body.id)).toMatchObject([
    { payment_service_id: first, error_code: 'issuer_decline' },
    { payment_service_id: second, error_code: 'issuer_decline' },
  ])
  expect((await pay({ currency: 'DKK', country: 'US', amount: 300_013 })).body).toMatchObject({
    status: 'authorization_failed',
    payment_service: { id: third },
  })
})

test('a final decline, and any with skip_retry, is the end', async () => {
  const first = await only(['PLN'], { position: 1 })
  await only(['PLN'], { position: 2 })
  const declined = { status: 'authorization_declined', payment_service: { id: first } }
  expect((await pay({ currency: 'PLN', amount: 200_011 })).body).toMatchObject(declined)
  const connection_options = { 'mock-card': { skip_retry: true } }
  expect((await pay({ currency: 'PLN', amount: 200_012, connection_options })).body).toMatchObject(declined)
})

test('an unknown outcome is the end too: the first provider may have done it', async () => {
  const first = await only(['CZK'], { position: 1 })
  await only(['CZK'], { position: 2 })
  const path = await paid({ currency: 'CZK', payment_method: card('4000000000003006') })
  expect(await get(path)).toMatchObject({ status: 'processing', payment_service: { id: first } })
  expect(await attempts(idOf(path))).toHaveLength(1)
})

test('a service that is deleted still captures and refunds what it began', async () => {
  const doomed = await only(['HUF'])
  const path = await paid({ currency: 'HUF' })
  await api.request('DELETE', `/payment-services/${doomed}`)
  expect((await api.request('POST', `${path}/capture`)).body).toMatchObject({ status: 'capture_succeeded' })
  expect((await api.request('POST', `${path}/refunds`)).body).toMatchObject({ status: 'succeeded' })
  expect(await get(path)).toMatchObject({ payment_service: { id: doomed } })
})
