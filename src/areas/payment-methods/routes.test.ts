import { expect, test } from 'vitest'
import { type Answer, useApi } from '../../../test/api.ts'
import type { ErrorDetail } from '../../errors.ts'
import type { Collection } from '../../schema.ts'
import type { PaymentMethod, PaymentMethodSummary } from './schema.ts'

const api = useApi()
let count = 0
const unique = (prefix: string) => `${prefix}-${(count += 1)}`
const card = { method: 'card', number: '4111111111111111', expiration_date: '12/30' }
const create = (body: object = card, headers: Record<string, string> = {}) =>
  api.request<PaymentMethod>('POST', '/payment-methods', { body, headers })
const refusal = async (body: object) =>
  (await create(body)) as unknown as Answer<{ message: string; details: ErrorDetail[] }>
const makeBuyer = async (externalIdentifier: string) =>
  (
    await api.request<{ id: string }>('POST', '/buyers', {
      body: { external_identifier: externalIdentifier, display_name: 'Ada' },
    })
  ).body

test('a stored card shows its first digits, its last four and a fingerprint, and nothing else of its number', async () => {
  const created = await create({ ...card, security_code: '737' })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    type: 'payment-method',
    method: 'card',
    mode: 'card',
    status: 'succeeded',
    label: '1111',
    scheme: 'visa',
    expiration_date: '12/30',
    details: { bin: expect.stringMatching(/^411111/) },
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    merchant_account_id: 'default',
    buyer: null,
    external_identifier: null,
    has_replacement: false,
    last_replaced_at: null,
    usage_count: 0,
    cit_usage_count: 0,
    last_used_at: null,
    cit_last_used_at: null,
    country: null,
    currency: null,
    approval_url: null,
    approval_target: null,
  })
  expect(created.text).not.toContain(card.number)
  expect(created.body).not.toHaveProperty('security_code')
  expect(created.text).not.toContain('"737"')
  expect((await api.request('GET', `/payment-methods/${created.body.id}`)).body).toEqual(created.body)
})

test('the same number has the same fingerprint in every account, another number another', async () => {
  const [first, second, third] = await Promise.all([
    create(card),
    create({ ...card, expiration_date: '01/27' }, { 'X-Service-Merchant-Account-ID': 'other' }),
    create({ ...card, number: '5555555555554444' }),
  ])
  expect(first.body.fingerprint).toBe(second.body.fingerprint)
  expect(first.body.fingerprint).not.toBe(third.body.fingerprint)
})

test.each<[name: string, body: object, pointer: string, type: string]>([
  ['no method', { ...card, method: undefined }, '/method', 'value_error.missing'],
  ['another method', { ...card, method: 'network-token' }, '/method', 'type_error.enum'],
  ['no number', { ...card, number: undefined }, '/number', 'value_error.missing'],
  ['twelve digits', { ...card, number: '411111111111' }, '/number', 'value_error.pattern'],
  ['twenty digits', { ...card, number: '41111111111111111111' }, '/number', 'value_error.pattern'],
  ['spaces in the number', { ...card, number: '4111 1111 1111 1111' }, '/number', 'value_error.pattern'],
  ['a number as a number', { ...card, number: 4111111111111111 }, '/number', 'type_error.string'],
  ['a wrong check digit', { ...card, number: '4111111111111112' }, '/number', 'value_error.luhn'],
  ['no date', { ...card, expiration_date: undefined }, '/expiration_date', 'value_error.missing'],
  ['a date without a slash', { ...card, expiration_date: '12-30' }, '/expiration_date', 'value_error.pattern'],
  ['month 13', { ...card, expiration_date: '13/30' }, '/expiration_date', 'value_error.range'],
  ['month 00', { ...card, expiration_date: '00/30' }, '/expiration_date', 'value_error.range'],
  ['a security code of two digits', { ...card, security_code: '12' }, '/security_code', 'value_error.pattern'],
  ['a security code of five digits', { ...card, security_code: '12345' }, '/security_code', 'value_error.pattern'],
  ['an empty external identifier', { ...card, external_identifier: '' }, '/external_identifier', 'value_error.length'],
  ['a buyer id that is no UUID', { ...card, buyer_id: 'ada' }, '/buyer_id', 'type_error.uuid'],
  [
    'an unknown buyer',
    { ...card, buyer_id: '01900000-0000-7000-8000-000000000000' },
    '/buyer_id',
    'value_error.unknown',
  ],
  [
    'an unknown buyer reference',
    { ...card, buyer_external_identifier: 'nobody' },
    '/buyer_external_identifier',
    'value_error.unknown',
  ],
  ['a redirect URL that is none', { ...card, redirect_url: 'home' }, '/redirect_url', 'value_error.pattern'],
  ['an unknown field', { ...card, colour: 'red' }, '/colour', 'value_error.extra'],
])('%s is refused at its field', async (_name, body, pointer, type) => {
  const { status, body: answer, text } = await refusal(body)
  expect([status, answer.message]).toEqual([400, 'Request failed validation'])
  expect(answer.details.map((detail) => [detail.pointer, detail.type])).toContainEqual([pointer, type])
  expect(text).not.toMatch(/\d{12,}/)
})

test('fields that may be null or missing are', async () => {
  const nulls = {
    security_code: null,
    external_identifier: null,
    buyer_id: null,
    buyer_external_identifier: null,
    redirect_url: null,
  }
  expect((await create({ ...card, ...nulls })).status).toBe(201)
  expect((await create({ ...card, security_code: '1234', redirect_url: 'https://shop.example/back' })).status).toBe(201)
})

test('an expired card is stored: the account updater may refresh it', async () => {
  expect((await create({ ...card, expiration_date: '01/20' })).status).toBe(201)
})

test('a buyer is named by id or by reference, and shown with the card', async () => {
  const reference = unique('buyer')
  const { id } = await makeBuyer(reference)
  const byId = await create({ ...card, buyer_id: id })
  const byReference = await create({ ...card, buyer_external_identifier: reference })
  for (const { body } of [byId, byReference])
    expect(body.buyer).toMatchObject({ type: 'buyer', id, external_identifier: reference })
  const both = await refusal({ ...card, buyer_id: id, buyer_external_identifier: reference })
  expect(both.status).toBe(400)
  expect(both.body.details.map(({ pointer, type }) => [pointer, type])).toEqual([
    ['/buyer_id', 'value_error.conflict'],
    ['/buyer_external_identifier', 'value_error.conflict'],
  ])
})

test("another account's buyer cannot be used", async () => {
  const { id } = await makeBuyer(unique('buyer'))
  const stolen = (await create(
    { ...card, buyer_id: id },
    { 'X-Service-Merchant-Account-ID': 'other' },
  )) as unknown as Answer
  expect(stolen.status).toBe(400)
})

test('an external identifier is taken once per account, and the refusal names who has it', async () => {
  const external_identifier = unique('card')
  const first = await create({ ...card, external_identifier })
  const again = (await create({ ...card, external_identifier })) as unknown as Answer
  expect(again.status).toBe(409)
  expect(again.body).toMatchObject({ code: 'duplicate_record', status: 409, resource_id: first.body.id })
  expect((await create({ ...card, external_identifier }, { 'X-Service-Merchant-Account-ID': 'other' })).status).toBe(
    201,
  )
  await api.request('DELETE', `/payment-methods/${first.body.id}`)
  expect((await create({ ...card, external_identifier })).status).toBe(201)
})

test('200 requests with one external identifier at once: exactly one stores the card, the rest name it', async () => {
  // The long form, on several processes: npm run proof:card-races.
  for (let round = 0; round < 3; round += 1) {
    const external_identifier = unique('race')
    const answers = await Promise.all(Array.from({ length: 200 }, () => create({ ...card, external_identifier })))
    const stored = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 409) as unknown as Answer[]
    expect([stored.length, refused.length]).toEqual([1, 199])
    expect(new Set(refused.map(({ body }) => body['resource_id']))).toEqual(new Set([stored[0]?.body.id]))
  }
  const [left] = await api.database.query<{ n: number }>(
    'select count(*)::int as n from vault.secrets where id not in (select id from payment_methods)',
  )
  expect(left?.n).toBe(0)
})

test('lists filter by buyer, reference, state and external identifier', async () => {
  const reference = unique('buyer')
  const buyer = await makeBuyer(reference)
  const external_identifier = unique('card')
  const mine = await create({ ...card, buyer_id: buyer.id, external_identifier })
  const find = async (query: string) =>
    (await api.request<Collection<PaymentMethod>>('GET', `/payment-methods?${query}`)).body.items.map(({ id }) => id)
  expect(await find(`buyer_id=${buyer.id}`)).toEqual([mine.body.id])
  expect(await find(`buyer_external_identifier=${reference}`)).toEqual([mine.body.id])
  expect(await find(`external_identifier=${external_identifier}&status=succeeded&status=failed`)).toEqual([
    mine.body.id,
  ])
  expect(await find(`external_identifier=${external_identifier}&status=failed`)).toEqual([])
  expect(await find('buyer_external_identifier=nobody')).toEqual([])
})

test("a buyer's methods are the usable ones, sorted as asked", async () => {
  const reference = unique('buyer')
  const buyer = await makeBuyer(reference)
  const ids: string[] = []
  for (const expiration_date of ['01/30', '02/30', '03/30'])
    ids.push((await create({ ...card, expiration_date, buyer_id: buyer.id })).body.id)
  await api.database.query(
    'update payment_methods set usage_count = case id when $1 then 5 when $2 then 9 else 1 end where id in ($1, $2, $3)',
    ids,
  )
  const list = async (query: string) =>
    (await api.request<{ items: PaymentMethodSummary[] }>('GET', `/buyers/payment-methods?${query}`)).body.items.map(
      ({ id }) => id,
    )
  expect(await list(`buyer_id=${buyer.id}`)).toEqual(ids.toReversed())
  expect(await list(`buyer_external_identifier=${reference}&sort_by=usage_count`)).toEqual([ids[1], ids[0], ids[2]])
  expect(await list(`buyer_id=${buyer.id}&sort_by=usage_count&order_by=asc`)).toEqual([ids[2], ids[0], ids[1]])
  expect(await list('buyer_external_identifier=nobody')).toEqual([])
  expect((await api.request('GET', '/buyers/payment-methods')).status).toBe(400)
  const put = await api.request('PUT', '/buyers/payment-methods', { body: {} })
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})

test('an update keeps what it does not name; a scheme transaction id takes the scheme of the card', async () => {
  const { body: stored } = await create(card)
  const update = (body: object) => api.request<PaymentMethod>('PUT', `/payment-methods/${stored.id}`, { body })
  expect((await update({ expiration_date: '11/31' })).body).toMatchObject({ expiration_date: '11/31', label: '1111' })
  expect((await update({ scheme_transaction_id: 'abc' })).body).toMatchObject({
    expiration_date: '11/31',
    scheme_transaction_id: 'abc',
    scheme_transaction_id_scheme: 'visa',
  })
  expect((await update({ scheme_transaction_id: 'def', scheme_transaction_id_scheme: 'star' })).body).toMatchObject({
    scheme_transaction_id_scheme: 'star',
  })
  expect((await update({ scheme_transaction_id: null })).body).toMatchObject({
    scheme_transaction_id: null,
    scheme_transaction_id_scheme: null,
  })
  expect((await update({ expiration_date: '13/31' })).status).toBe(400)
})

test('deleting a card destroys its ciphertext, and deleting its buyer only unlinks it', async () => {
  const buyer = await makeBuyer(unique('buyer'))
  const { body: kept } = await create({ ...card, buyer_id: buyer.id })
  const { body: gone } = await create({ ...card, buyer_id: buyer.id })
  const ciphertexts = async (id: string) =>
    (await api.database.query('select 1 from vault.secrets where id = $1', [id])).length
  expect([await ciphertexts(kept.id), await ciphertexts(gone.id)]).toEqual([1, 1])
  expect((await api.request('DELETE', `/payment-methods/${gone.id}`)).status).toBe(204)
  expect(await ciphertexts(gone.id)).toBe(0)
  expect((await api.request('GET', `/payment-methods/${gone.id}`)).status).toBe(404)
  await api.request('DELETE', `/buyers/${buyer.id}`)
  expect((await api.request<PaymentMethod>('GET', `/payment-methods/${kept.id}`)).body.buyer).toBeNull()
})

test('changes and deletions are reported, in order, without any number', async () => {
  const { body: stored } = await create(card)
  await api.request('PUT', `/payment-methods/${stored.id}`, { body: { expiration_date: '11/31' } })
  await api.request('DELETE', `/payment-methods/${stored.id}`)
  const events = await api.database.query<{ name: string; sequence: number; target: string }>(
    'select name, sequence::int, target::text from events where resource_id = $1 order by sequence',
    [stored.id],
  )
  expect(events.map(({ name, sequence }) => [name, sequence])).toEqual([
    ['payment-method.updated', 2],
    ['payment-method.deleted', 3],
  ])
  expect(events.map(({ target }) => target).join()).not.toContain(card.number)
})
