import { expect, test } from 'vitest'
import { roleIds, useApi } from '../../../test/api.ts'
import type { Collection } from '../../schema.ts'
import type { AuditLogEntry } from './schema.ts'

const api = useApi()
const list = async (
  query = '',
  headers: Record<string, string> = { 'X-Service-Merchant-Account-ID': '*' },
  token = api.token(),
) => (await api.request<Collection<AuditLogEntry>>('GET', `/audit-logs${query}`, { headers, token })).body.items

test('an entry says who did what to which resource, and when', async () => {
  const { body: pair } = await api.request<{ id: string }>('POST', '/api-key-pairs', {
    body: { display_name: 'Watched', role_ids: [roleIds.full], merchant_account_ids: ['default'] },
  })
  const [entry] = await list('', {})
  expect(entry).toEqual({
    type: 'audit-log',
    id: expect.any(String),
    merchant_account_id: 'default',
    resource: { type: 'api-key-pair', id: pair.id, name: 'Watched' },
    action: 'created',
    user: { type: 'user', id: api.owner().id, name: 'Test', email_address: null, is_staff: false, status: 'active' },
    timestamp: expect.stringMatching(/Z$/),
  })
})

test('changes that concern the whole instance are listed with * only', async () => {
  await api.request('POST', '/api-key-pairs', { body: { display_name: 'Everywhere', role_ids: [roleIds.full] } })
  expect((await list())[0]).toMatchObject({ merchant_account_id: null, resource: { name: 'Everywhere' } })
  expect((await list('', {})).every(({ merchant_account_id }) => merchant_account_id === 'default')).toBe(true)
  const bound = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['default'] }))
  expect(
    (await list('', { 'X-Service-Merchant-Account-ID': '*' }, bound)).some(
      ({ merchant_account_id }) => merchant_account_id === null,
    ),
  ).toBe(false)
})

test('filters narrow the list, alone and together', async () => {
  const { body: account } = await api.request<{ id: string }>('POST', '/merchant-accounts', {
    body: { id: 'audited', display_name: 'A' },
  })
  await api.request('PUT', `/merchant-accounts/${account.id}`, { body: { display_name: 'B' } })
  const found = await list(`?resource_type=merchant-account&action=updated&user_id=${api.owner().id}`)
  expect(found.map(({ resource, action }) => [resource.id, resource.name, action])).toEqual([
    ['audited', 'B', 'updated'],
  ])
  expect((await list('?action=deleted')).every(({ action }) => action === 'deleted')).toBe(true)
  expect(await list('?user_id=01900000-0000-7000-8000-000000000000')).toEqual([])
})

test('a change that fails leaves no entry', async () => {
  const before = (await list('?limit=100')).length
  await api.request('POST', '/merchant-accounts', { body: { id: 'default', display_name: 'Again' } })
  await api.request('PUT', '/merchant-accounts/default', { body: { loon_client_key: 'alone' } })
  await api.request('DELETE', '/api-key-pairs/01900000-0000-7000-8000-000000000000')
  expect((await list('?limit=100')).length).toBe(before)
})
