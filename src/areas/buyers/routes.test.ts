import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Answer, type RequestOptions, useApi } from '../../../test/api.ts'
import { commandLineContext } from '../../cli/command-line-context.ts'
import { reconciliationIdOf } from '../../ids.ts'
import { connect } from '../../platform/postgres.ts'
import type { Collection } from '../../schema.ts'
import { createBuyer, updateBuyer } from './operations.ts'
import { taxIdKinds } from './rules.ts'
import type { Buyer } from './schema.ts'

const api = useApi()
const account = 'X-Service-Merchant-Account-ID'
let count = 0
const unique = () => `customer-${(count += 1)}`

const create = (body: object, options: RequestOptions = {}) =>
  api.request<Buyer>('POST', '/buyers', { body, ...options })
const update = (id: string, body: object, options: RequestOptions = {}) =>
  api.request<Buyer>('PUT', `/buyers/${id}`, { body, ...options })
const get = (id: string, options: RequestOptions = {}) => api.request<Buyer>('GET', `/buyers/${id}`, options)
const remove = (id: string, options: RequestOptions = {}) => api.request('DELETE', `/buyers/${id}`, options)
const list = (query: Record<string, string>, options: RequestOptions = {}) =>
  api.request<Collection<Buyer>>('GET', `/buyers?${new URLSearchParams(query).toString()}`, options)

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
const noAddress = Object.fromEntries(Object.keys(address).map((name) => [name, null]))
const billing = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  email_address: 'ada@example.com',
  phone_number: '+442071234567',
  address,
  tax_id: { value: 'GB123456789', kind: 'gb.vat' },
}
const noBilling = {
  type: 'billing-details',
  first_name: null,
  last_name: null,
  email_address: null,
  phone_number: null,
  address: null,
  tax_id: null,
}

// ------------------------------------------------------------------------------------------------ fields

test('a buyer needs no field, and what was not said is null', async () => {
  const { status, body } = await create({})
  expect(status).toBe(201)
  expect(body).toEqual({
    type: 'buyer',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    reconciliation_id: reconciliationIdOf(body.id),
    merchant_account_id: 'default',
    display_name: null,
    external_identifier: null,
    account_number: null,
    billing_details: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updated_at: body.created_at,
  })
  expect((await get(body.id)).body).toEqual(body)
})

test('every field that is sent comes back', async () => {
  const sent = { display_name: 'Ada', external_identifier: unique(), account_number: '4711', billing_details: billing }
  const { body } = await create(sent)
  expect(body).toMatchObject({ ...sent, billing_details: { type: 'billing-details', ...billing } })
  expect((await get(body.id)).body).toEqual(body)
  const [listed] = (await list({ limit: '1' })).body.items
  expect(listed).toEqual(body)
})

test('billing details without anything in them are kept, all null', async () => {
  expect((await create({ billing_details: {} })).body.billing_details).toEqual(noBilling)
  expect((await create({ billing_details: { address: {}, tax_id: null } })).body.billing_details).toEqual({
    ...noBilling,
    address: noAddress,
  })
})

test('all 58 kinds of tax ids are taken', async () => {
  for (const kind of taxIdKinds) {
    const { body } = await create({ billing_details: { tax_id: { value: '1', kind } } })
    expect(body.billing_details?.tax_id).toEqual({ value: '1', kind })
  }
})

/** Length limits in characters, by pointer. */
const lengths: Record<string, number> = {
  '/display_name': 200,
  '/external_identifier': 200,
  '/account_number': 200,
  '/billing_details/first_name': 255,
  '/billing_details/last_name': 255,
  '/billing_details/email_address': 320,
  '/billing_details/address/city': 100,
  '/billing_details/address/postal_code': 50,
  '/billing_details/address/state': 255,
  '/billing_details/address/house_number_or_name': 255,
  '/billing_details/address/line1': 255,
  '/billing_details/address/line2': 255,
  '/billing_details/address/organization': 255,
}
/** A body with one value in it, and what a tax id cannot be without. */
function bodyWith(pointer: string, value: unknown): object {
  const [name = '', ...rest] = pointer.slice(1).split('/')
  if (rest.length === 0) return { [name]: value }
  const inner = bodyWith(`/${rest.join('/')}`, value)
  return { [name]: name === 'tax_id' ? { value: '1', kind: 'gb.vat', ...inner } : inner }
}

const good: [pointer: string, value: unknown][] = [
  // Characters, not bytes or UTF-16 units.
  ...Object.entries(lengths).flatMap(([pointer, length]): [string, unknown][] => [
    [pointer, 'x'],
    [pointer, '\u{1f600}'.repeat(length)],
    [pointer, null],
  ]),
  ['/billing_details', null],
  ['/billing_details/address', null],
  ['/billing_details/tax_id', null],
  ['/billing_details/tax_id/value', 'x'.repeat(50)],
  ['/billing_details/email_address', 'not checked further'],
  ['/billing_details/phone_number', '+12'],
  ['/billing_details/phone_number', '+123456789012345'],
  ['/billing_details/phone_number', null],
  ['/billing_details/address/country', 'ZZ'],
  ['/billing_details/address/country', null],
  ['/billing_details/address/state_code', 'US-C'],
  ['/billing_details/address/state_code', 'BR-1A2'],
  ['/billing_details/address/state_code', null],
]
test.each(good)('%s may be %j', async (pointer, value) => {
  const { status, body } = await create(bodyWith(pointer, value))
  expect(status).toBe(201)
  const found = pointer
    .slice(1)
    .split('/')
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], body)
  expect(found).toBe(value)
})

const bad: [pointer: string, value: unknown, type: string][] = [
  ...Object.entries(lengths).flatMap(([pointer, length]): [string, unknown, string][] => [
    [pointer, '', 'value_error.length'],
    [pointer, 'x'.repeat(length + 1), 'value_error.length'],
    [pointer, 1, 'type_error.string'],
  ]),
  ['/billing_details', [], 'type_error.object'],
  ['/billing_details/address', 'London', 'type_error.object'],
  ['/billing_details/tax_id', 'GB1', 'type_error.object'],
  ['/billing_details/tax_id/value', '', 'value_error.length'],
  ['/billing_details/tax_id/value', 'x'.repeat(51), 'value_error.length'],
  ['/billing_details/tax_id/value', null, 'type_error.string'],
  ['/billing_details/tax_id/kind', 'GB.VAT', 'type_error.enum'],
  ['/billing_details/tax_id/kind', 'xx.none', 'type_error.enum'],
  ...['442071234567', '+042071234567', '+4', '+1234567890123456', '+44 20', '+44\n', ''].map(
    (phone): [string, unknown, string] => ['/billing_details/phone_number', phone, 'value_error.pattern'],
  ),
  ...['gb', 'GBR', 'G', '', 'GB\n'].map((country): [string, unknown, string] => [
    '/billing_details/address/country',
    country,
    'value_error.pattern',
  ]),
  ...['GB', 'GB-', 'GB-ABCD', 'gb-lnd', 'GB-lnd', 'GBLND', 'GB-LND\n'].map((code): [string, unknown, string] => [
    '/billing_details/address/state_code',
    code,
    'value_error.pattern',
  ]),
  ['/id', '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', 'value_error.extra'],
  ['/type', 'buyer', 'value_error.extra'],
  ['/merchant_account_id', 'default', 'value_error.extra'],
  ['/billing_details/type', 'billing-details', 'value_error.extra'],
  ['/billing_details/address/zip', '1', 'value_error.extra'],
  ['/billing_details/tax_id/country', 'GB', 'value_error.extra'],
]
test.each(bad)('%s may not be %j', async (pointer, value, type) => {
  const { body } = await create({})
  for (const answer of [await create(bodyWith(pointer, value)), await update(body.id, bodyWith(pointer, value))]) {
    const { details } = answer.body as unknown as { details: object[] }
    expect(answer.status).toBe(400)
    expect(details).toMatchObject([{ location: 'body', pointer, type }])
  }
})

test('a tax id needs both its value and its kind', async () => {
  const answer = (await create({ billing_details: { tax_id: {} } })) as unknown as Answer
  expect(answer.body['details']).toMatchObject([
    { pointer: '/billing_details/tax_id/value', type: 'value_error.missing' },
    { pointer: '/billing_details/tax_id/kind', type: 'value_error.missing' },
  ])
})

test('whatever fits the contract is stored and read back unchanged', async () => {
  const text = (maxLength: number) =>
    fc.option(
      fc
        .string({ unit: 'binary', minLength: 1, maxLength })
        .filter((value) => !value.includes('\0') && value.isWellFormed()),
    )
  const contact = { first_name: text(255), last_name: text(255), email_address: text(320) }
  const places = fc.record({ city: text(100), line1: text(255), country: fc.constantFrom('GB', null) })
  const bodies = fc.record(
    {
      display_name: text(200),
      account_number: text(200),
      billing_details: fc.option(fc.record({ ...contact, address: fc.option(places) })),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(bodies, async (sent) => {
      const created = await create(sent)
      expect(created.status).toBe(201)
      expect(created.body).toMatchObject(sent)
      expect((await get(created.body.id)).body).toEqual(created.body)
    }),
    { numRuns: 50 },
  )
})

// ------------------------------------------------------------------------------------------------ update and delete

test('an update changes what it names, null clears, and the rest stays', async () => {
  const sent = { display_name: 'Ada', external_identifier: unique(), account_number: '4711', billing_details: billing }
  const { body: before } = await create(sent)
  const renamed = await update(before.id, { display_name: 'Ada King', account_number: null })
  expect(renamed.status).toBe(200)
  expect(renamed.body).toEqual({
    ...before,
    display_name: 'Ada King',
    account_number: null,
    updated_at: renamed.body.updated_at,
  })
  expect(renamed.body.updated_at > before.updated_at).toBe(true)
  const cleared = await update(before.id, { display_name: null, external_identifier: null, billing_details: null })
  expect(cleared.body).toMatchObject({ display_name: null, external_identifier: null, billing_details: null })
  expect((await get(before.id)).body).toEqual(cleared.body)
})

test('billing details that are sent replace all that were there', async () => {
  const { body } = await create({ billing_details: billing })
  const { body: after } = await update(body.id, {
    billing_details: { first_name: 'Ada', address: { city: 'Porlock' } },
  })
  expect(after.billing_details).toEqual({
    ...noBilling,
    first_name: 'Ada',
    address: { ...noAddress, city: 'Porlock' },
  })
})

test('a deleted buyer is gone, and its identifier is free', async () => {
  const externalIdentifier = unique()
  const { body } = await create({ external_identifier: externalIdentifier })
  const gone = await remove(body.id)
  expect([gone.status, gone.text]).toEqual([204, ''])
  expect((await get(body.id)).status).toBe(404)
  expect((await update(body.id, {})).status).toBe(404)
  expect((await remove(body.id)).status).toBe(404)
  expect((await list({ external_identifier: externalIdentifier })).body.items).toEqual([])
  expect(await api.database.query('select from buyers where id = $1', [body.id])).toEqual([])
  expect((await create({ external_identifier: externalIdentifier })).status).toBe(201)
})

// ------------------------------------------------------------------------------------------------ external identifiers

test('200 requests for one external identifier at once: one creates it, the rest are told its id', async () => {
  const externalIdentifier = unique()
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => create({ external_identifier: externalIdentifier })),
  )
  const [made, ...more] = answers.filter(({ status }) => status === 201)
  expect(more).toEqual([])
  const refused = answers.filter(({ status }) => status === 409).map(({ body }) => body)
  expect(refused).toHaveLength(199)
  for (const body of refused) expect(body).toMatchObject({ code: 'duplicate_record', resource_id: made?.body.id })
  const rows = await api.database.query('select id from buyers where external_identifier = $1', [externalIdentifier])
  expect(rows).toEqual([{ id: made?.body.id }])
})

test('an external identifier that is taken cannot be taken by an update, also when many try at once', async () => {
  const [taken, wanted] = [unique(), unique()]
  const { body: holder } = await create({ external_identifier: taken })
  const { body: other } = await create({ external_identifier: unique(), display_name: 'Other' })
  const refused = (await update(other.id, { external_identifier: taken, display_name: 'X' })) as unknown as Answer
  expect(refused.status).toBe(409)
  expect(refused.body).toMatchObject({ code: 'duplicate_record', resource_id: holder.id })
  expect((await get(other.id)).body).toEqual(other)
  expect((await update(holder.id, { external_identifier: taken })).status).toBe(200)

  const ids = await Promise.all(Array.from({ length: 20 }, async () => (await create({})).body.id))
  const answers = await Promise.all(ids.map((id) => update(id, { external_identifier: wanted })))
  const winner = answers.find(({ status }) => status === 200)?.body.id
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ body }) => (body as unknown as Answer['body'])['resource_id'] === winner)).toHaveLength(19)
})

test('accounts do not share external identifiers, and letters count', async () => {
  const externalIdentifier = unique()
  await create({ external_identifier: externalIdentifier })
  const headers = { [account]: 'other' }
  expect((await create({ external_identifier: externalIdentifier }, { headers })).status).toBe(201)
  expect((await create({ external_identifier: externalIdentifier.toUpperCase() })).status).toBe(201)
})

// ------------------------------------------------------------------------------------------------ lists

test('the list is of one account, or with * of all within reach, newest first', async () => {
  const externalIdentifier = unique()
  const { body: first } = await create({ external_identifier: externalIdentifier })
  const { body: second } = await create(
    { external_identifier: externalIdentifier },
    { headers: { [account]: 'other' } },
  )
  const find = async (headers: Record<string, string>, token = api.token()) =>
    (await list({ external_identifier: externalIdentifier }, { headers, token })).body.items.map(({ id }) => id)
  expect(await find({})).toEqual([first.id])
  expect(await find({ [account]: 'other' })).toEqual([second.id])
  expect(await find({ [account]: '*' })).toEqual([second.id, first.id])
  const bound = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['default'] }))
  expect(await find({ [account]: '*' }, bound)).toEqual([first.id])
  const both = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['other', 'default'] }))
  expect(await find({ [account]: '*' }, both)).toEqual([second.id, first.id])
  const [newest] = (await list({ limit: '1' }, { headers: { [account]: '*' }, token: both })).body.items
  expect(newest?.id).toBe(second.id)
})

test("another account's buyer can be neither read, changed nor deleted, nor found", async () => {
  const { body } = await create({ display_name: 'Hidden buyer' }, { headers: { [account]: 'other' } })
  const token = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['default'] }))
  for (const options of [{}, { token }]) {
    expect((await get(body.id, options)).status).toBe(404)
    expect((await update(body.id, { display_name: 'Mine' }, options)).status).toBe(404)
    expect((await remove(body.id, options)).status).toBe(404)
    expect((await list({ search: 'hidden' }, options)).body.items).toEqual([])
  }
  expect((await get(body.id, { headers: { [account]: 'other' } })).body).toEqual(body)
})

test('search finds how the name or the identifier begins, in any case, literally', async () => {
  // An account of its own: other tests make buyers with all kinds of names.
  await api.makeAccount('search')
  const options = { headers: { [account]: 'search' } }
  const { body: ada } = await create({ display_name: 'Zoë 100%_Ångström', external_identifier: 'ZID-1' }, options)
  const { body: both } = await create({ display_name: 'zid', external_identifier: 'zid-2' }, options)
  const find = async (search: string, more: Record<string, string> = {}) =>
    (await list({ search, ...more }, options)).body.items.map(({ id }) => id)
  expect(await find('zOË 100%_å')).toEqual([ada.id])
  expect(await find('zid')).toEqual([both.id, ada.id])
  expect(await find('Zid-1')).toEqual([ada.id])
  expect(await find('zid', { external_identifier: 'ZID-1' })).toEqual([ada.id])
  for (const nothing of ['ngström', '%', '_', 'id-1', 'zid-11', 'zoe', "'", '\\'])
    expect(await find(nothing)).toEqual([])
  await update(ada.id, { display_name: 'Renamed zoë', external_identifier: null }, options)
  expect(await find('zoë')).toEqual([])
  expect(await find('zid-1')).toEqual([])
  expect(await find('renamed ZOË')).toEqual([ada.id])
  await update(ada.id, { account_number: '1' }, options)
  expect(await find('renamed ZOË')).toEqual([ada.id])
})

test('a search is read in pages, there and back, without loss or repetition', async () => {
  const made: string[] = []
  for (let index = 0; index < 7; index += 1) {
    const body = { display_name: `Walker ${index}`, external_identifier: `walker-${index}` }
    made.unshift((await create(body)).body.id)
  }
  const page = async (cursor: string | null) =>
    (await list({ search: 'WALKER', limit: '3', ...(cursor && { cursor }) })).body
  const first = await page(null)
  const second = await page(first.next_cursor)
  const third = await page(second.next_cursor)
  expect([first, second, third].flatMap(({ items }) => items.map(({ id }) => id))).toEqual(made)
  expect([first.previous_cursor, third.next_cursor]).toEqual([null, null])
  expect((await page(third.previous_cursor)).items).toEqual(second.items)
  const back = await page(second.previous_cursor)
  expect([back.items, back.previous_cursor]).toEqual([first.items, null])
})

test('a search that more than 10,000 buyers match is refused, whoever searches', async () => {
  await api.makeAccount('crowd')
  await api.database.query(`
    insert into buyers (merchant_account_id, id, display_name, display_name_key, external_identifier, external_identifier_key,
      created_at, updated_at)
    select 'crowd', gen_random_uuid(), 'Crowd ' || number, 'CROWD ' || number, 'crowd-' || number, 'CROWD-' || number, now(), now()
    from generate_series(1, 10000) number`)
  const headers = { [account]: 'crowd' }
  expect((await list({ search: 'crowd', limit: '5' }, { headers })).body.items).toHaveLength(5)
  await create({ external_identifier: 'crowd' }, { headers })
  for (const value of ['crowd', '*']) {
    const refused = (await list({ search: 'crowd' }, { headers: { [account]: value } })) as unknown as Answer
    expect(refused.status).toBe(400)
    expect(refused.body['details']).toMatchObject([
      { location: 'query', pointer: 'search', type: 'value_error.range', message: expect.stringMatching('10,000') },
    ])
  }
  expect((await list({ search: 'Crowd 77' }, { headers })).body.items).toHaveLength(20)
})

test.each(['display_name', 'external_identifier'])('a search for %s reads an index alone', async (column) => {
  const db = connect({
    url: api.database.url('florin_api'),
    applicationName: 't',
    poolSize: 1,
    onError: () => undefined,
  })
  const client = await db.pool.connect()
  try {
    await client.query("begin; set local enable_seqscan = off; select set_config('florin.accounts', 'default', true)")
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain select id from buyers where merchant_account_id = 'default' and ${column}_key ^@ 'ADA' limit 10001`,
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain(`Index Only Scan using buyers_${column}`)
    expect(plan).toMatch(new RegExp(`Index Cond: .*${column}_key >= 'ADA'::text.*${column}_key < 'ADB'::text`))
  } finally {
    client.release(true)
    await db.close()
  }
})

// ------------------------------------------------------------------------------------------------ what a change leaves behind

test('each change leaves one event with the whole buyer and one audit row with its name', async () => {
  const { body: created } = await create({ display_name: 'Grace', billing_details: billing })
  const { body: updated } = await update(created.id, { display_name: null })
  await remove(created.id)
  const events = await api.database.query(
    'select merchant_account_id, name, resource_type, sequence, target from events where resource_id = $1 order by id',
    [created.id],
  )
  const common = { merchant_account_id: 'default', resource_type: 'buyer' }
  expect(events).toEqual([
    { ...common, name: 'buyer.created', sequence: 1, target: created },
    { ...common, name: 'buyer.updated', sequence: 2, target: updated },
    { ...common, name: 'buyer.deleted', sequence: 3, target: updated },
  ])
  const rows = await api.database.query(
    'select merchant_account_id, action, resource_type, resource_name from audit_logs where resource_id = $1 order by id',
    [created.id],
  )
  expect(rows).toEqual([
    { ...common, action: 'created', resource_name: 'Grace' },
    { ...common, action: 'updated', resource_name: created.id },
    { ...common, action: 'deleted', resource_name: created.id },
  ])
})

test('a refused change leaves nothing behind', async () => {
  const externalIdentifier = unique()
  const { body } = await create({ external_identifier: externalIdentifier })
  const leftBehind = () => api.database.query('select (select count(*) from events), (select count(*) from audit_logs)')
  const before = await leftBehind()
  await create({ external_identifier: externalIdentifier })
  await update((await get(body.id)).body.id.replace(/^0/, '1'), { display_name: 'Nobody' })
  expect(await leftBehind()).toEqual(before)
})

test('names, addresses and identifiers of buyers are in no log line, also of a request that fails', async () => {
  const externalIdentifier = unique()
  const { body } = await create({ display_name: 'Logname', external_identifier: externalIdentifier })
  await create({ external_identifier: externalIdentifier, display_name: 'Logname' })
  await update((await create({})).body.id, { external_identifier: externalIdentifier })
  await list({ search: 'Logname' })
  await update(body.id, { billing_details: { ...billing, phone_number: 'Logname' } })
  const logs = api.logs.join('\n')
  for (const personal of ['Logname', externalIdentifier, 'Lovelace', 'ada@example.com'])
    expect(logs).not.toContain(personal)
})

test('creating and updating a buyer take five round trips', async () => {
  const db = connect({
    url: api.database.url('florin_api'),
    applicationName: 't',
    poolSize: 1,
    onError: () => undefined,
  })
  try {
    let trips = 0
    db.pool.on('acquire', (client) => {
      const query = client.query.bind(client)
      client.query = ((...args: Parameters<typeof query>) => {
        trips += 1
        return query(...args)
      }) as typeof query
    })
    const ctx = { ...commandLineContext(db, 'test'), accounts: ['default'] }
    const { id } = await createBuyer(ctx, { display_name: 'Ada', external_identifier: unique() })
    expect(trips).toBe(5)
    db.pool.removeAllListeners('acquire')
    trips = 0
    await updateBuyer(ctx, id, { display_name: 'Ada King' })
    expect(trips).toBe(5)
  } finally {
    await db.close()
  }
})
