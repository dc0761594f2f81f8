import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Answer, roleIds, useApi } from '../../../test/api.ts'
import type { Collection } from '../../schema.ts'
import type { APIKeyPair } from './schema.ts'

const api = useApi()
const create = (body: object, token = api.token()) => api.request<APIKeyPair>('POST', '/api-key-pairs', { body, token })

test('a new key pair signs tokens that work, and its private key is shown once', async () => {
  const created = await create({ display_name: 'Shop', role_ids: [roleIds.full] })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    type: 'api-key-pair',
    display_name: 'Shop',
    algorithm: 'ECDSA',
    active: true,
    merchant_accounts: [],
    roles: [{ slug: 'full-access', permissions: { allow: ['*.read', '*.write'] } }],
    creator: { id: api.owner().id, name: 'Test', email_address: null, thumbprint: api.owner().thumbprint },
    last_used_at: null,
  })
  const { id, thumbprint, private_key } = created.body
  const token = await api.makeToken({ id, thumbprint, privateKeyPem: private_key ?? '' })
  const read = await api.request<APIKeyPair>('GET', `/api-key-pairs/${id}`, { token })
  expect(read.status).toBe(200)
  expect(read.body).toEqual({ ...created.body, private_key: null })
})

test('an RSA pair signs with RS512', async () => {
  const { body } = await create({ display_name: 'RSA', role_ids: [roleIds.full], algorithm: 'RSA' })
  const token = await api.makeToken({ id: body.id, thumbprint: body.thumbprint, privateKeyPem: body.private_key ?? '' })
  expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toMatchObject({ alg: 'RS512' })
  expect((await api.request('GET', '/roles', { token })).status).toBe(200)
})

test('a caller can bring its own P-521 public key, once; then no private key exists', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  const body = {
    display_name: 'Own',
    role_ids: [roleIds.full],
    public_key: publicKey.export({ type: 'spki', format: 'pem' }),
  }
  const created = await create(body)
  expect(created.status).toBe(201)
  expect(created.body.private_key).toBeNull()
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const token = await api.makeToken({ id: created.body.id, thumbprint: created.body.thumbprint, privateKeyPem })
  expect((await api.request('GET', '/roles', { token })).status).toBe(200)

  const again = (await create(body)) as unknown as Answer
  expect(again.status).toBe(409)
  expect(again.body).toMatchObject({
    type: 'error',
    code: 'duplicate_record',
    status: 409,
    resource_id: created.body.id,
  })
})

test.each([
  [
    'a P-256 key',
    () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }),
  ],
  [
    'a private key',
    () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ],
  ['nonsense', () => 'hello'],
])('%s is refused as a public key', async (_name, pem) => {
  const refused = (await create({
    display_name: 'Own',
    role_ids: [roleIds.full],
    public_key: pem(),
  })) as unknown as Answer
  expect(refused.status).toBe(422)
  expect(refused.body).toMatchObject({ detail: [{ loc: ['body', 'public_key'], type: 'value_error.pattern' }] })
  expect(refused.text).not.toContain('input')
})

test('every bad field is reported at once, in the shape of these operations', async () => {
  const refused = (await create({ active: 'yes', role_ids: [], extra: 1 })) as unknown as Answer<{
    detail: { loc: string[]; type: string }[]
  }>
  expect(refused.status).toBe(422)
  expect(refused.body.detail.map(({ loc, type }) => `${loc.join('/')} ${type}`).sort()).toEqual([
    'body/active type_error.boolean',
    'body/display_name value_error.missing',
    'body/extra value_error.extra',
    'body/role_ids value_error.length',
  ])
})

test('a key pair can grant only scopes that its caller has', async () => {
  const manager = await api.makeKeyPair({ roleIds: [roleIds.systemManagement] })
  const token = await api.makeToken(manager)
  expect((await create({ display_name: 'Same', role_ids: [roleIds.systemManagement] }, token)).status).toBe(201)
  for (const role of [roleIds.full, roleIds.processing]) {
    expect((await create({ display_name: 'More', role_ids: [role] }, token)).status).toBe(403)
  }
  const narrow = await api.makeToken(api.owner(), { scopes: ['api-key-pairs.write'] })
  expect((await create({ display_name: 'More', role_ids: [roleIds.full] }, narrow)).status).toBe(403)
})

test('an update cannot grant more either', async () => {
  const manager = await api.makeKeyPair({ roleIds: [roleIds.systemManagement] })
  const token = await api.makeToken(manager)
  const raise = await api.request('PUT', `/api-key-pairs/${manager.id}`, { token, body: { role_ids: [roleIds.full] } })
  expect(raise.status).toBe(403)
})

test('a key pair can grant only merchant accounts that its caller reaches', async () => {
  const bound = await api.makeKeyPair({ merchantAccountIds: ['default'] })
  const token = await api.makeToken(bound)
  const grant = (accounts: string[] | undefined) =>
    create(
      { display_name: 'Bound', role_ids: [roleIds.full], ...(accounts && { merchant_account_ids: accounts }) },
      token,
    )
  expect((await grant(['default'])).status).toBe(201)
  expect((await grant(['default', 'other'])).status).toBe(422)
  expect((await grant([])).status).toBe(403)
  expect((await grant(undefined)).status).toBe(403)
  const widen = await api.request('PUT', `/api-key-pairs/${bound.id}`, { token, body: { merchant_account_ids: [] } })
  expect(widen.status).toBe(403)
})

test('roles for users, unknown roles and unknown accounts are named one by one', async () => {
  const refused = (await create({
    display_name: 'Wrong',
    role_ids: [roleIds.full, roleIds.administrator, '01900000-0000-7000-8000-0000000000ff'],
    merchant_account_ids: ['default', 'nowhere'],
  })) as unknown as Answer<{ detail: { loc: unknown[] }[] }>
  expect(refused.status).toBe(422)
  expect(refused.body.detail.map(({ loc }) => loc)).toEqual([
    ['body', 'role_ids', 1],
    ['body', 'role_ids', 2],
    ['body', 'merchant_account_ids', 1],
  ])
})

test('an update changes what it names, and a bound caller sees only pairs bound to its accounts', async () => {
  const bound = await api.makeKeyPair({ merchantAccountIds: ['other'] })
  const updated = await api.request<APIKeyPair>('PUT', `/api-key-pairs/${bound.id}`, {
    body: { display_name: 'Renamed', active: null },
  })
  expect(updated.body).toMatchObject({ display_name: 'Renamed', active: true, merchant_accounts: [{ id: 'other' }] })
  const token = await api.makeToken(bound)
  const list = await api.request<Collection<APIKeyPair>>('GET', '/api-key-pairs?limit=100', { token })
  expect(list.body.items.map(({ id }) => id)).toEqual([bound.id])
  expect((await api.request('GET', `/api-key-pairs/${api.owner().id}`, { token })).status).toBe(404)
})

test('a deleted pair is gone, and its tokens are refused', async () => {
  const pair = await api.makeKeyPair()
  const token = await api.makeToken(pair)
  expect((await api.request('GET', '/roles', { token })).status).toBe(200)
  const deleted = await api.request('DELETE', `/api-key-pairs/${pair.id}`)
  expect([deleted.status, deleted.text]).toEqual([204, ''])
  expect((await api.request('GET', `/api-key-pairs/${pair.id}`)).status).toBe(404)
  await expect.poll(async () => (await api.request('GET', '/roles', { token })).status, { timeout: 5_000 }).toBe(401)
})

test('a use is written down, at most once a minute', async () => {
  const pair = await api.makeKeyPair()
  const token = await api.makeToken(pair)
  for (let index = 0; index < 20; index += 1) await api.request('GET', '/roles', { token })
  const lastUse = async () => (await api.request<APIKeyPair>('GET', `/api-key-pairs/${pair.id}`)).body.last_used_at
  await expect.poll(lastUse, { timeout: 5_000 }).not.toBeNull()
  const first = await lastUse()
  await api.request('GET', '/roles', { token })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(await lastUse()).toBe(first)
})

test('events of a key pair carry its state, without any key, and ascend', async () => {
  const { body: pair } = await create({ display_name: 'Watched', role_ids: [roleIds.full] })
  await api.request('PUT', `/api-key-pairs/${pair.id}`, { body: { active: false } })
  await api.request('DELETE', `/api-key-pairs/${pair.id}`)
  const events = await api.database.query<{
    name: string
    sequence: string
    enabled: boolean
    queued: boolean
    target: string
  }>(
    `select name, sequence, (target->>'enabled')::boolean as enabled, target::text,
       exists (select from event_queue where event_id = events.id) as queued
     from events where resource_id = $1 order by sequence`,
    [pair.id],
  )
  expect(events.map(({ name, sequence, enabled, queued }) => [name, Number(sequence), enabled, queued])).toEqual([
    ['api-key-pair.created', 1, true, true],
    ['api-key-pair.updated', 2, false, true],
    ['api-key-pair.deleted', 3, false, true],
  ])
  expect(events.map(({ target }) => target).join()).not.toMatch(/PRIVATE KEY|PUBLIC KEY/)
})
