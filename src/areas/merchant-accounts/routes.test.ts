import { expect, test } from 'vitest'
import { type Answer, useApi } from '../../../test/api.ts'
import type { Collection } from '../../schema.ts'
import type { MerchantAccount } from './schema.ts'

const api = useApi()
let count = 0
const newId = () => `shop-${(count += 1)}`
const create = (body: object, token = api.token()) =>
  api.request<MerchantAccount>('POST', '/merchant-accounts', { body, token })
const update = (id: string, body: object, token = api.token()) =>
  api.request<MerchantAccount>('PUT', `/merchant-accounts/${id}`, { body, token })

test('a new account has its own id, and everything else at its default', async () => {
  const id = newId()
  const created = await create({ id, display_name: 'Shop' })
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    type: 'merchant-account',
    id,
    display_name: 'Shop',
    account_updater_enabled: false,
    account_updater_request_encryption_key: null,
    account_updater_request_encryption_key_id: null,
    account_updater_response_decryption_key: null,
    account_updater_response_decryption_key_id: null,
    over_capture_amount: null,
    over_capture_percentage: null,
    loon_client_key: null,
    loon_secret_key: null,
    loon_accepted_schemes: null,
    loon_merchant_account_id: null,
    visa_network_tokens_requestor_id: null,
    visa_network_tokens_app_id: null,
    amex_network_tokens_requestor_id: null,
    amex_network_tokens_app_id: null,
    mastercard_network_tokens_requestor_id: null,
    mastercard_network_tokens_app_id: null,
    discover_network_tokens_requestor_id: null,
    discover_network_tokens_app_id: null,
    async_network_tokens_enabled: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updated_at: created.body.created_at,
  })
  expect((await api.request('GET', `/merchant-accounts/${id}`)).body).toEqual(created.body)
})

test('an id that is taken answers 409 and names it', async () => {
  const id = newId()
  await create({ id, display_name: 'Shop' })
  const again = (await create({ id, display_name: 'Shop' })) as unknown as Answer
  expect(again.status).toBe(409)
  expect(again.body).toMatchObject({ code: 'duplicate_record', resource_id: id })
})

test('twenty requests for the same id at once: one creates it', async () => {
  const id = newId()
  const answers = await Promise.all(Array.from({ length: 20 }, () => create({ id, display_name: 'Shop' })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
})

test('an update changes what it names, null clears, and the rest stays', async () => {
  const id = newId()
  await create({
    id,
    display_name: 'Shop',
    over_capture_amount: 500,
    over_capture_percentage: 10,
    account_updater_enabled: true,
  })
  const { status, body } = await update(id, { over_capture_amount: null, display_name: 'Renamed' })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    display_name: 'Renamed',
    over_capture_amount: null,
    over_capture_percentage: 10,
    account_updater_enabled: true,
  })
  expect(body.updated_at > body.created_at).toBe(true)
})

test('fields that belong together are set together', async () => {
  const id = newId()
  const half = (await create({
    id,
    display_name: 'Shop',
    loon_client_key: 'a',
    visa_network_tokens_app_id: 'b',
  })) as unknown as Answer<{
    details: { pointer: string }[]
  }>
  expect(half.status).toBe(400)
  expect(half.body.details.map(({ pointer }) => pointer).sort()).toEqual([
    '/loon_accepted_schemes',
    '/loon_merchant_account_id',
    '/loon_secret_key',
    '/visa_network_tokens_requestor_id',
  ])
  const loon = {
    loon_client_key: 'a',
    loon_secret_key: 'b',
    loon_accepted_schemes: ['visa'],
    loon_merchant_account_id: 'c',
  }
  expect((await create({ id, display_name: 'Shop', ...loon })).body).toMatchObject(loon)
  expect((await update(id, { loon_secret_key: null })).status).toBe(400)
})

test('network token credentials cannot be shared by accounts or schemes', async () => {
  const [first, second] = [newId(), newId()]
  const visa = { visa_network_tokens_requestor_id: 'r1', visa_network_tokens_app_id: 'a1' }
  expect((await create({ id: first, display_name: 'Shop', ...visa })).body).toMatchObject(visa)
  const taken = (await create({ id: second, display_name: 'Shop', ...visa })) as unknown as Answer
  expect([taken.status, taken.body['resource_id']]).toEqual([409, null])
  expect((await api.request('GET', `/merchant-accounts/${second}`)).status).toBe(404)
  const twice = { amex_network_tokens_requestor_id: 'r1', amex_network_tokens_app_id: 'a1' }
  expect((await update(first, twice)).status).toBe(400)
  expect(
    (await update(first, { ...twice, visa_network_tokens_requestor_id: null, visa_network_tokens_app_id: null }))
      .status,
  ).toBe(200)
})

test('an account cannot be created by a key pair that is bound to some accounts', async () => {
  const token = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['default'] }))
  expect((await create({ id: newId(), display_name: 'Shop' }, token)).status).toBe(403)
  expect((await update('default', { display_name: 'Mine' }, token)).status).toBe(200)
  expect((await update('other', { display_name: 'Not mine' }, token)).status).toBe(404)
})

test('search finds part of the id or name, in any case, literally', async () => {
  await create({ id: 'needle-1', display_name: '100% Cotton_Shop' })
  const find = async (search: string) =>
    (
      await api.request<Collection<MerchantAccount>>('GET', `/merchant-accounts?search=${encodeURIComponent(search)}`)
    ).body.items.map(({ id }) => id)
  expect(await find('NEEDLE')).toEqual(['needle-1'])
  expect(await find('cotton_')).toEqual(['needle-1'])
  expect(await find('%')).toEqual(['needle-1'])
  expect(await find('nothing like it')).toEqual([])
})
