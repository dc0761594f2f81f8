import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { hostileTargets } from '../../../test/hostile-targets.ts'
import { refusal } from '../../../test/payments.ts'
import type { Collection } from '../../schema.ts'
import { readEndpointSecrets, StaleSubscriptionError, type SubscriptionRow } from './operations/endpoints.ts'
import type { NewAuthentication } from './rules.ts'
import type { WebhookSubscription } from './schema.ts'

const api = useApi()
const path = '/webhook-subscriptions'
const url = 'https://shop.example.com/hooks?key=abc'
const header = (account: string) => ({ 'X-Service-Merchant-Account-ID': account })

const create = (body: object = {}, headers: Record<string, string> = {}) =>
  api.request<WebhookSubscription>('POST', path, { headers, body: { url, ...body } })
const make = async (body: object = {}, headers: Record<string, string> = {}) => {
  const { status, body: made, text } = await create(body, headers)
  if (status !== 201) throw new Error(text)
  return made
}
const get = (id: string, options: object = {}) => api.request<WebhookSubscription>('GET', `${path}/${id}`, options)
const update = (id: string, body: object) => api.request<WebhookSubscription>('PUT', `${path}/${id}`, { body })
const rotate = (id: string, body?: object) =>
  api.request<WebhookSubscription>('POST', `${path}/${id}/rotate-secret`, { body })
const list = (headers: Record<string, string> = {}) =>
  api.request<Collection<WebhookSubscription>>('GET', `${path}?limit=100`, { headers })

const rowOf = async (id: string) => {
  const [row] = await api.database.query<SubscriptionRow>('select * from webhook_subscriptions where id = $1', [id])
  if (!row) throw new Error('no such subscription')
  return row
}
const secretsOf = async (id: string) => readEndpointSecrets({ vault: api.vault.client() }, await rowOf(id))
const countSecrets = async (id: string) => {
  const [found] = await api.database.query<{ count: number }>(
    'select count(*)::integer as count from vault.secrets where id = $1',
    [id],
  )
  return found?.count
}

const basic = { kind: 'basic', username: 'shop', password: 'pass:wörd' } as const
const credentials = {
  kind: 'oauth_client_credentials',
  client_id: 'shop',
  client_secret: 'a client secret',
  token_url: 'https://login.example.com/token',
} as const
const password = { ...credentials, kind: 'oauth_password', username: 'us:er', password: 'its password' } as const

beforeEach(() => api.database.query('delete from webhook_subscriptions'))

test('a subscription is created, read, listed, changed and deleted, with its secret in every answer', async () => {
  const { status, body: made } = await create()
  expect([status, made]).toEqual([
    201,
    {
      type: 'webhook-subscription',
      id: expect.any(String),
      merchant_account_id: 'default',
      active: true,
      url,
      event_names: null,
      authentication: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{64}$/),
      rotating: false,
      creator: { id: api.owner().id, name: 'Test', email_address: null, thumbprint: api.owner().thumbprint },
    },
  ])
  expect((await get(made.id)).body).toEqual(made)
  expect((await list()).body.items).toEqual([made])
  const names = ['transaction.captured', 'buyer.created']
  const changed = await update(made.id, { active: false, url: 'https://other.example.com/', event_names: names })
  expect([changed.status, changed.body]).toEqual([
    200,
    { ...made, active: false, url: 'https://other.example.com/', event_names: names },
  ])
  expect((await update(made.id, { active: null, url: null })).body).toEqual(changed.body)
  expect((await update(made.id, { event_names: null })).body.event_names).toBe(null)
  expect(await rowOf(made.id)).toMatchObject({ version: 4 })

  expect((await api.request('DELETE', `${path}/${made.id}`)).status).toBe(204)
  expect(await countSecrets(made.id)).toBe(0)
  for (const answer of [
    get(made.id),
    update(made.id, {}),
    rotate(made.id),
    api.request('DELETE', `${path}/${made.id}`),
  ]) {
    expect((await answer).status).toBe(404)
  }
  expect((await list()).body.items).toEqual([])
})

test('every change is in the audit log, by the host and not by the path, which may be a secret', async () => {
  const { id } = await make()
  await update(id, { active: false })
  await rotate(id)
  await api.request('DELETE', `${path}/${id}`)
  const rows = await api.database.query<object>(
    'select action, operation, resource_type, resource_name, merchant_account_id from audit_logs where resource_id = $1 order by id',
    [id],
  )
  const common = {
    resource_type: 'webhook-subscription',
    resource_name: 'shop.example.com',
    merchant_account_id: 'default',
  }
  expect(rows).toEqual([
    { action: 'created', operation: 'createWebhookSubscription', ...common },
    { action: 'updated', operation: 'updateWebhookSubscription', ...common },
    { action: 'updated', operation: 'rotateWebhookSecret', ...common },
    { action: 'deleted', operation: 'deleteWebhookSubscription', ...common },
  ])
})

describe('secrets', () => {
  test('are in no table of ours, no log line and no audit row', async () => {
    const { id, secret } = await make({ authentication: password })
    await rotate(id, { delta: 5 })
    const texts = await Promise.all(
      ['webhook_subscriptions', 'audit_logs', 'idempotency_keys'].map((table) =>
        api.database.query<{ text: string }>(`select to_jsonb(t)::text as text from ${table} t`),
      ),
    )
    const everything = [...texts.flat().map(({ text }) => text), ...api.logs, ...api.vault.logs].join('\n')
    for (const value of [secret ?? '', password.password, password.client_secret]) {
      expect(value).not.toBe('')
      expect(everything).not.toContain(value)
    }
  })

  test('of an endpoint are masked in every answer, and handed to whoever sends', async () => {
    const { client_id, token_url } = credentials
    const oauth = { type: 'webhook-authentication', client_id, client_secret: '********', token_url, scope: null }
    const cases: [NewAuthentication, object, { password: string | null; clientSecret: string | null }][] = [
      [
        basic,
        { type: 'webhook-authentication', kind: 'basic', username: 'shop', password: '********' },
        { password: basic.password, clientSecret: null },
      ],
      [
        credentials,
        { ...oauth, kind: 'oauth_client_credentials' },
        { password: null, clientSecret: credentials.client_secret },
      ],
      [
        { ...password, scope: 'hooks' },
        { ...oauth, kind: 'oauth_password', username: 'us:er', password: '********', scope: 'hooks' },
        { password: password.password, clientSecret: password.client_secret },
      ],
    ]
    for (const [authentication, shown, handed] of cases) {
      const made = await make({ authentication })
      expect(made.authentication).toEqual(shown)
      expect((await get(made.id)).body.authentication).toEqual(shown)
      expect(await secretsOf(made.id)).toEqual({ signing: [made.secret], ...handed })
    }
  })

  test('sent back as masks are kept, anything else replaces them, and nothing unused stays in the vault', async () => {
    const { id } = await make({ authentication: password })
    const masked = { ...password, password: '********', client_secret: '********', username: 'other' }
    expect((await update(id, { authentication: masked })).body.authentication).toMatchObject({ username: 'other' })
    expect(await secretsOf(id)).toMatchObject({ password: password.password, clientSecret: password.client_secret })
    await update(id, { authentication: { ...masked, password: 'new' } })
    expect(await secretsOf(id)).toMatchObject({ password: 'new', clientSecret: password.client_secret })
    // The password goes along to another kind; the client secret is not needed there.
    await update(id, { authentication: { ...basic, password: '********' } })
    expect(await secretsOf(id)).toMatchObject({ password: 'new', clientSecret: null })
    expect(await countSecrets(id)).toBe(2)
    expect(refusal(await update(id, { authentication: { ...credentials, client_secret: '********' } }))).toEqual([
      400,
      '/authentication/client_secret value_error.unknown',
    ])
    expect((await update(id, { active: false })).body.authentication).not.toBe(null)
    expect((await update(id, { authentication: null })).body.authentication).toBe(null)
    expect(await secretsOf(id)).toMatchObject({ password: null, clientSecret: null })
    expect(await countSecrets(id)).toBe(1)
    expect(refusal(await create({ authentication: { ...basic, password: '********' } }))).toEqual([
      400,
      '/authentication/password value_error.unknown',
    ])
  })
})

describe('a rotation', () => {
  test('without a time makes the old secret useless at once', async () => {
    const { id, secret } = await make()
    for (const body of [undefined, {}, { delta: null }, { delta: 0 }]) {
      const before = (await get(id)).body.secret
      const { status, body: after } = await rotate(id, body)
      expect([status, after.rotating]).toEqual([200, false])
      expect(after.secret).toMatch(/^whsec_/)
      expect(after.secret).not.toBe(before)
      expect(await secretsOf(id)).toMatchObject({ signing: [after.secret] })
      expect((await get(id)).body).toEqual(after)
    }
    expect((await get(id)).body.secret).not.toBe(secret)
    expect(await countSecrets(id)).toBe(1)
  })

  test('with a time lets both sign until then, and no longer', async () => {
    const { id, secret } = await make()
    const { body: after } = await rotate(id, { delta: 60 })
    expect(after.rotating).toBe(true)
    expect(await secretsOf(id)).toMatchObject({ signing: [after.secret, secret] })
    expect((await update(id, { active: false })).body).toMatchObject({ rotating: true, secret: after.secret })
    const { rotating_until } = await rowOf(id)
    const minutes = ((rotating_until?.getTime() ?? 0) - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(50)
    expect(minutes).toBeLessThanOrEqual(60)
    await api.database.query(
      "update webhook_subscriptions set rotating_until = now() - interval '1 ms' where id = $1",
      [id],
    )
    expect((await get(id)).body.rotating).toBe(false)
    expect(await secretsOf(id)).toMatchObject({ signing: [after.secret] })
  })

  test('that dies halfway leaves the old secret in force', async () => {
    const { id, secret } = await make()
    // As if the process had ended after the vault took the new one.
    await api.vault.client().storeSecrets({ merchantAccountId: 'default', id }, { 'webhook_secret.lost': 'whsec_lost' })
    expect((await get(id)).body).toMatchObject({ secret, rotating: false })
    expect(await secretsOf(id)).toMatchObject({ signing: [secret] })
  })

  test('beside others: the last two secrets that were answered sign, each the one that was answered', async () => {
    const { id, secret } = await make()
    const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(id, { delta: 60 })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const answered = answers.map(({ body }) => body.secret)
    expect(new Set(answered).size).toBe(8)
    const { signing } = await secretsOf(id)
    expect(signing).toHaveLength(2)
    expect([...answered, secret]).toEqual(expect.arrayContaining(signing))
    expect(await countSecrets(id)).toBe(2)
  })

  test('makes whoever has read the row before read it again', async () => {
    const { id } = await make()
    const stale = await rowOf(id)
    await rotate(id)
    await expect(readEndpointSecrets({ vault: api.vault.client() }, stale)).rejects.toThrow(StaleSubscriptionError)
  })

  test.for([-1, 1.5, '5', 365 * 24 * 60 + 1])('of %s minutes is refused', async (delta) => {
    const { id, secret } = await make()
    expect((await rotate(id, { delta })).status).toBe(400)
    expect((await get(id)).body).toMatchObject({ secret })
  })
})

describe('the whole instance', () => {
  test('has subscriptions of its own, for those who reach all of it', async () => {
    const made = await make({}, header('*'))
    expect(made.merchant_account_id).toBe(null)
    expect((await rowOf(made.id)).merchant_account_id).toBe('*')
    expect(await secretsOf(made.id)).toMatchObject({ signing: [made.secret] })
    const own = await make()
    expect((await list(header('*'))).body.items).toEqual([own, made])
    expect((await list()).body.items).toEqual([own])
    for (const headers of [{}, header('other')]) expect((await get(made.id, { headers })).body).toEqual(made)
    expect((await get(made.id, { headers: header('*') })).status).toBe(400)
    expect((await update(made.id, { active: false })).body).toEqual({ ...made, active: false })
    expect((await rotate(made.id, { delta: 1 })).body.rotating).toBe(true)
    expect((await api.request('DELETE', `${path}/${made.id}`)).status).toBe(204)
    expect(await countSecrets(made.id)).toBe(0)
    const [audited] = await api.database.query('select merchant_account_id from audit_logs where resource_id = $1', [
      made.id,
    ])
    expect(audited).toEqual({ merchant_account_id: null })
  })

  test('is out of reach for key pairs of single accounts, of all of them too', async () => {
    const { id } = await make({}, header('*'))
    for (const merchantAccountIds of [['default'], ['default', 'other']]) {
      const token = await api.makeToken(await api.makeKeyPair({ merchantAccountIds }))
      const ask = (method: string, at: string, options: object = {}) => api.request(method, at, { token, ...options })
      expect((await ask('POST', path, { headers: header('*'), body: { url } })).status).toBe(403)
      expect((await ask('GET', path, { headers: header('*') })).body).toMatchObject({ items: [] })
      expect((await ask('GET', `${path}/${id}`)).status).toBe(404)
      expect((await ask('PUT', `${path}/${id}`, { body: { active: false } })).status).toBe(404)
      expect((await ask('POST', `${path}/${id}/rotate-secret`)).status).toBe(404)
      expect((await ask('DELETE', `${path}/${id}`)).status).toBe(404)
    }
    expect((await rowOf(id)).version).toBe(1)
  })

  test("another account's subscription is not found under the name of a third", async () => {
    const { id } = await make({}, header('other'))
    expect((await get(id)).status).toBe(404)
    expect((await get(id, { headers: header('other') })).status).toBe(200)
  })
})

test('forbidden targets are refused in all three places, each with its pointer', async () => {
  const { id } = await make({ authentication: credentials })
  const some = hostileTargets.filter((target, index) => index % 40 === 0 && target !== '')
  expect(some.length).toBeGreaterThan(10)
  for (const target of some) {
    const authentication = { ...credentials, token_url: target }
    expect(refusal(await create({ url: target }))).toEqual([400, '/url value_error.pattern'])
    expect(refusal(await update(id, { url: target }))).toEqual([400, '/url value_error.pattern'])
    expect(refusal(await update(id, { authentication }))).toEqual([
      400,
      '/authentication/token_url value_error.pattern',
    ])
  }
  expect(refusal(await create({ url: 'http://localhost/', event_names: ['buyer.created', 'nothing'] }))).toEqual([
    400,
    '/event_names/1 value_error.unknown',
    '/url value_error.pattern',
  ])
})

test('what would break out of a header is refused in usernames and secrets', async () => {
  const bad = fc
    .tuple(fc.string(), fc.constantFrom('\r', '\n', '\r\nx: y', '\u0001', '\u007f', '\u0085', '\t'), fc.string())
    .map((parts) => parts.join('').replaceAll('\0', ''))
  const places: [keyof typeof password, object][] = [
    ['username', basic],
    ['password', basic],
    ['username', password],
    ['client_id', password],
    ['client_secret', password],
  ]
  await fc.assert(
    fc.asyncProperty(bad, fc.constantFrom(...places), async (value, [key, good]) => {
      const { status } = await create({ authentication: { ...good, [key]: value } })
      expect(status).toBe(400)
    }),
    { numRuns: 60 },
  )
  expect(refusal(await create({ authentication: { ...basic, username: 'a:b' } }))).toEqual([
    400,
    '/authentication/username value_error.pattern',
  ])
})

test('a page of a hundred is one call of the vault', async () => {
  for (let count = 0; count < 100; count += 1) await make()
  const before = api.vault.logs.length
  const { body } = await list()
  expect(body.items.map(({ secret }) => secret?.length)).toEqual(Array.from({ length: 100 }, () => 70))
  const calls = api.vault.logs.slice(before).filter((line) => line.includes('"operation"'))
  expect(calls.map((line) => (JSON.parse(line) as { operation: string }).operation)).toEqual(['readEach'])
})
