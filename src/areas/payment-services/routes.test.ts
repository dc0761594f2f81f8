import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Answer, useApi } from '../../../test/api.ts'
import { newId } from '../../ids.ts'
import type { Collection } from '../../schema.ts'
import type { PaymentService } from './schema.ts'

const api = useApi()
const accountHeader = 'X-Service-Merchant-Account-ID'
const makeSecret = () => `secret-${randomBytes(12).toString('hex')}`
const secretName = 'field.webhook_secret'

const input = (change: object = {}) => ({
  display_name: 'Cards',
  payment_service_definition_id: 'mock-card',
  fields: [{ key: 'merchant_id', value: 'shop' }],
  accepted_currencies: ['EUR', 'USD'],
  accepted_countries: ['DE', 'US'],
  ...change,
})
const withSecret = (value: string) => ({
  fields: [
    { key: 'merchant_id', value: 'shop' },
    { key: 'webhook_secret', value },
  ],
})
const create = (change: object = {}, account = 'default') =>
  api.request<PaymentService>('POST', '/payment-services', {
    body: input(change),
    headers: { [accountHeader]: account },
  })
const update = (id: string, body: object) => api.request<PaymentService>('PUT', `/payment-services/${id}`, { body })
const get = (id: string) => api.request<PaymentService>('GET', `/payment-services/${id}`)
const remove = (id: string) => api.request('DELETE', `/payment-services/${id}`)
const list = async (query = '', account = 'default') =>
  (
    await api.request<Collection<PaymentService>>('GET', `/payment-services?limit=100${query}`, {
      headers: { [accountHeader]: account },
    })
  ).body.items
const verify = (body: object) =>
  api.request('POST', '/payment-services/verify', { body: { payment_service_definition_id: 'mock-card', ...body } })

const refusals = ({ status, body }: Answer<unknown>) => [
  status,
  ...((body as { details?: { pointer: string; type: string }[] }).details ?? []).map(
    ({ pointer, type }) => `${pointer} ${type}`,
  ),
]
const readSecret = async (id: string) =>
  (await api.vault.client().readSecrets({ merchantAccountId: 'default', id }, [secretName]))[secretName]
/** Every row of every table, as text. */
async function everything(): Promise<string> {
  const tables = await api.database.query<{ name: string }>(`
    select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace n on n.oid = relnamespace
    where nspname in ('public', 'vault') and relkind in ('r', 'p')`)
  const texts = tables.map(({ name }) => api.database.query<{ row: string }>(`select t::text as row from ${name} t`))
  return (await Promise.all(texts)).flatMap((rows) => rows.map(({ row }) => row)).join('\n')
}
const auditOf = async (id: string) =>
  (
    await api.database.query<{ line: string }>(
      "select concat_ws(' ', resource_type, action, resource_name) as line from audit_logs where resource_id = $1 order by id",
      [id],
    )
  ).map(({ line }) => line)

test('a new service has what was sent, and everything else at its default', async () => {
  const created = await create()
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    type: 'payment-service',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    merchant_account_id: 'default',
    payment_service_definition_id: 'mock-card',
    active: true,
    method: 'card',
    display_name: 'Cards',
    position: expect.any(Number),
    status: 'created',
    accepted_currencies: ['EUR', 'USD'],
    accepted_countries: ['DE', 'US'],
    payment_method_tokenization_enabled: false,
    network_tokens_enabled: false,
    open_loop: false,
    settlement_reporting_enabled: false,
    three_d_secure_enabled: false,
    merchant_profile: null,
    webhook_url: `${api.url()}/payment-services/${created.body.id}/notifications`,
    fields: [{ key: 'merchant_id', value: 'shop' }],
    reporting_fields: [],
    is_deleted: false,
    created_at: expect.stringMatching(/Z$/),
    updated_at: created.body.created_at,
  })
  expect((await get(created.body.id)).body).toEqual(created.body)
  expect((await list())[0]).toEqual(created.body)
})

test('a service comes after the last one of its account, unless it says where', async () => {
  await api.makeAccount('positions')
  const positionOf = async (change: object = {}) => (await create(change, 'positions')).body.position
  expect(await positionOf()).toBe(1)
  expect(await positionOf({ position: null })).toBe(2)
  expect(await positionOf({ position: 7 })).toBe(7)
  expect(await positionOf({ active: false })).toBe(8)
  expect(await positionOf({ position: 2_147_483_647 })).toBe(2_147_483_647)
  expect(await positionOf()).toBe(2_147_483_647)
  expect(refusals(await create({ position: -1 }))).toEqual([400, '/position value_error.range'])
})

test('what breaks a rule is refused, all of it at once', async () => {
  expect(refusals(await create({ payment_service_definition_id: 'no-card' }))).toEqual([
    400,
    '/payment_service_definition_id value_error.unknown',
  ])
  expect(refusals(await create({ fields: [] }))).toEqual([400, '/fields value_error.missing'])
  const fields = ['unknown', 'webhook_secret', 'webhook_secret'].map((key) => ({ key, value: 'x' }))
  const everyRule = await create({
    fields,
    reporting_fields: [{ key: 'merchant_id', value: 'x' }],
    accepted_currencies: ['EUR', 'ZZZ'],
    accepted_countries: ['ZZ'],
    open_loop: true,
    payment_method_tokenization_enabled: true,
  })
  expect(refusals(everyRule)).toEqual([
    400,
    '/fields/0/key value_error.unknown',
    '/fields/2/key value_error.conflict',
    '/reporting_fields/0/key value_error.unknown',
    '/fields value_error.missing',
    '/accepted_currencies/1 value_error.unsupported',
    '/accepted_countries/0 value_error.unsupported',
    '/payment_method_tokenization_enabled value_error.conflict',
  ])
  const redirect = { payment_service_definition_id: 'mock-redirect', three_d_secure_enabled: true }
  expect(refusals(await create(redirect))).toEqual([400, '/three_d_secure_enabled value_error.unsupported'])
  expect(refusals(await create({ network_tokens_enabled: true }))).toEqual([
    400,
    '/network_tokens_enabled value_error.conflict',
  ])
  expect((await create({ network_tokens_enabled: true, open_loop: true })).status).toBe(201)
  expect(refusals(await create({ accepted_currencies: [], accepted_countries: [] }))).toEqual([
    400,
    '/accepted_currencies value_error.length',
    '/accepted_countries value_error.length',
  ])
  expect(refusals(await create({ merchant_profile: { 'no-scheme': null } }))).toEqual([
    400,
    '/merchant_profile/no-scheme value_error.extra',
  ])
})

test('a secret is in the vault only: in no table, no answer, no log', async () => {
  const [first, second] = [makeSecret(), makeSecret()]
  const created = await create(withSecret(first))
  const { id } = created.body
  expect(created.body.fields).toEqual([{ key: 'merchant_id', value: 'shop' }])
  expect(await readSecret(id)).toBe(first)
  const updated = await update(id, { fields: [{ key: 'webhook_secret', value: second }] })
  expect([updated.status, updated.body.fields]).toEqual([200, created.body.fields])
  expect(await readSecret(id)).toBe(second)
  const listed = await api.request('GET', '/payment-services')
  const asked = await verify({ payment_service_id: id, fields: [{ key: 'webhook_secret', value: first }] })
  const refused = await update(id, { ...withSecret(first), position: -1 })
  expect([asked.status, refused.status]).toEqual([200, 400])
  const heard = [created, updated, await get(id), listed, asked, refused].map(({ text }) => text)
  const stored = await everything()
  for (const secret of [first, second]) {
    const bytes = Buffer.from(secret).toString('hex')
    for (const text of [...heard, ...api.logs, ...api.vault.logs]) expect(text).not.toContain(secret)
    for (const form of [secret, bytes, Buffer.from(secret).toString('base64')]) expect(stored).not.toContain(form)
  }
  // The sweep for cards without an owner does not take it for one.
  const createdBefore = new Date(Date.now() + 60_000)
  expect(await api.vault.client().listOwners({ createdBefore, limit: 1_000 })).toEqual([])
  // The name alone says that it is set.
  expect(stored).toContain(secretName)
})

test('an update changes what it names, and the rest stays', async () => {
  const { body: before } = await create({ open_loop: true, position: 3, ...withSecret('x') })
  const changed = await update(before.id, { display_name: 'Renamed', active: false, accepted_currencies: ['GBP'] })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({
    ...before,
    display_name: 'Renamed',
    active: false,
    accepted_currencies: ['GBP'],
    updated_at: changed.body.updated_at,
  })
  const nulls = [
    'display_name',
    'fields',
    'position',
    'accepted_currencies',
    'accepted_countries',
    'active',
    'open_loop',
  ]
  const kept = await update(before.id, Object.fromEntries(nulls.map((name) => [name, null])))
  expect(kept.body).toEqual({ ...changed.body, updated_at: kept.body.updated_at })
  expect((await update(before.id, { position: 0, open_loop: false })).body).toMatchObject({
    position: 0,
    open_loop: false,
  })
  expect(await readSecret(before.id)).toBe('x')
})

test('an update is held to the same rules, together with what is there', async () => {
  const { body } = await create({ open_loop: true })
  const refused = await update(body.id, {
    fields: [
      { key: 'merchant_id', value: '' },
      { key: 'other', value: 'x' },
    ],
    payment_method_tokenization_enabled: true,
    accepted_countries: ['ZZ'],
  })
  expect(refusals(refused)).toEqual([
    400,
    '/fields/1/key value_error.unknown',
    '/fields value_error.missing',
    '/accepted_countries/0 value_error.unsupported',
    '/payment_method_tokenization_enabled value_error.conflict',
  ])
  expect((await get(body.id)).body).toEqual(body)
  const swapped = await update(body.id, { open_loop: false, payment_method_tokenization_enabled: true })
  expect(swapped.status).toBe(200)
})

test('an empty value clears a field: a secret is destroyed, a required one stays', async () => {
  const { body } = await create(withSecret('x'))
  const cleared = await update(body.id, { fields: [{ key: 'webhook_secret', value: '' }] })
  expect([cleared.status, cleared.body.fields]).toEqual([200, body.fields])
  expect(await readSecret(body.id)).toBeUndefined()
  const again = await update(body.id, { fields: [{ key: 'webhook_secret', value: '' }] })
  expect(again.status).toBe(200)
  const required = await update(body.id, { fields: [{ key: 'merchant_id', value: '' }] })
  expect(refusals(required)).toEqual([400, '/fields value_error.missing'])
  expect(refusals(await create({ fields: [{ key: 'merchant_id', value: '' }] }))).toEqual([
    400,
    '/fields/0/value value_error.length',
  ])
})

test('a merchant profile is kept by scheme, with the time it was made', async () => {
  const profile = {
    merchant_acquirer_bin: '516327',
    merchant_acquirer_id: '123456789012345',
    merchant_name: 'Shop',
    merchant_country_code: '276',
    merchant_category_code: '5045',
    merchant_url: 'https://example.com',
  }
  const { body } = await create({ merchant_profile: { visa: profile, amex: null, mastercard: profile } })
  const made = { ...profile, created_at: body.created_at }
  expect(body.merchant_profile).toEqual({ visa: made, mastercard: made })
  const changed = await update(body.id, { merchant_profile: { visa: null, amex: profile } })
  expect(changed.body.merchant_profile).toEqual({
    mastercard: made,
    amex: { ...profile, created_at: changed.body.updated_at },
  })
  const { merchant_name: _left, ...partial } = profile
  expect(refusals(await update(body.id, { merchant_profile: { visa: partial } }))).toEqual([
    400,
    '/merchant_profile/visa/merchant_name value_error.missing',
  ])
  expect((await update(body.id, { merchant_profile: null })).body.merchant_profile).toBeNull()
})

test('twenty updates at once all arrive, each with its own audit row', async () => {
  const { body } = await create()
  const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`)
  const answers = await Promise.all(
    names.map((display_name, index) =>
      update(body.id, { display_name, fields: [{ key: 'webhook_secret', value: `secret ${index}` }] }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
  expect(await auditOf(body.id)).toHaveLength(21)
  // The row and the vault show the same one of them as the last.
  const { display_name } = (await get(body.id)).body
  expect(await readSecret(body.id)).toBe(`secret ${names.indexOf(display_name)}`)
})

test('a deleted service is in the list of deleted ones only, and its secrets are gone', async () => {
  const { body } = await create(withSecret('x'))
  expect((await remove(body.id)).status).toBe(204)
  expect(await readSecret(body.id)).toBeUndefined()
  for (const answer of [await get(body.id), await update(body.id, { active: false }), await remove(body.id)]) {
    expect(answer.status).toBe(404)
  }
  expect((await list()).map(({ id }) => id)).not.toContain(body.id)
  expect((await list('&deleted=false')).map(({ id }) => id)).not.toContain(body.id)
  const [deleted, ...others] = await list('&deleted=true')
  expect(deleted).toEqual({ ...body, webhook_url: null, is_deleted: true, updated_at: deleted?.updated_at })
  expect(others).toEqual([])
  expect(await auditOf(body.id)).toEqual(['payment-service created Cards', 'payment-service deleted Cards'])
})

test('a secret that a change brought to the vault after the deletion does not stay there', async () => {
  const { body } = await create()
  const changes = Array.from({ length: 5 }, () =>
    update(body.id, { fields: [{ key: 'webhook_secret', value: makeSecret() }] }),
  )
  const [deleted, ...answers] = await Promise.all([remove(body.id), ...changes])
  expect(deleted?.status).toBe(204)
  for (const { status } of answers) expect([200, 404]).toContain(status)
  expect(await readSecret(body.id)).toBeUndefined()
})

test('the list knows methods', async () => {
  await create()
  expect((await list('&method=card')).length).toBeGreaterThan(0)
  expect(await list('&method=ideal')).toEqual([])
})

test('every change leaves its audit row, and no event', async () => {
  const { body } = await create()
  await update(body.id, { display_name: 'Renamed' })
  await remove(body.id)
  expect(await auditOf(body.id)).toEqual([
    'payment-service created Cards',
    'payment-service updated Renamed',
    'payment-service deleted Renamed',
  ])
  expect(await api.database.query("select from events where name like 'payment-service%'")).toEqual([])
})

const good = { key: 'merchant_id', value: 'shop' }
const wrong = { key: 'merchant_id', value: 'invalid' }

test('good credentials are answered with nothing, wrong ones with what is wrong', async () => {
  const answer = await verify({ fields: [good] })
  expect([answer.status, answer.text]).toEqual([200, ''])
  expect(refusals(await verify({ fields: [wrong] }))).toEqual([400, '/fields value_error.credentials'])
  expect(refusals(await verify({ fields: [] }))).toEqual([400, '/fields value_error.missing'])
  expect(refusals(await verify({ fields: [good, good, { key: 'x', value: 'x' }] }))).toEqual([
    400,
    '/fields/1/key value_error.conflict',
    '/fields/2/key value_error.unknown',
  ])
  expect(refusals(await verify({ payment_service_definition_id: 'no-card', fields: [good] }))).toEqual([
    400,
    '/payment_service_definition_id value_error.unknown',
  ])
})

test('the fields of a service stand in for those that are left out, and nothing is stored', async () => {
  const { body: bad } = await create({ fields: [wrong] })
  const { body: fine } = await create()
  const of = (payment_service_id: string, fields: object[] = []) => verify({ payment_service_id, fields })
  expect((await of(fine.id)).status).toBe(200)
  expect(refusals(await of(fine.id, [wrong]))).toEqual([400, '/fields value_error.credentials'])
  expect(refusals(await of(bad.id))).toEqual([400, '/fields value_error.credentials'])
  expect((await of(bad.id, [good])).status).toBe(200)
  expect((await get(bad.id)).body).toEqual(bad)
  await remove(fine.id)
  const { body: foreign } = await create({}, 'other')
  for (const id of [fine.id, foreign.id, newId()]) {
    expect(refusals(await of(id))).toEqual([400, '/payment_service_id value_error.unknown'])
  }
})
