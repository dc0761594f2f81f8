import { expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import type { Collection } from '../../schema.ts'
import { expandScopes } from '../../scopes.ts'
import type { Role } from './schema.ts'

const api = useApi()

test('the roles of key pairs and of users are listed, newest first', async () => {
  const { body } = await api.request<Collection<Role>>('GET', '/roles')
  expect(
    body.items.filter(({ assignable_to }) => assignable_to.includes('api-key-pair')).map(({ slug }) => slug),
  ).toEqual(['full-access', 'processing', 'system-management'])
  expect(
    body.items.filter(({ is_standalone_assignable }) => !is_standalone_assignable).map(({ slug }) => slug),
  ).toEqual(['pii-viewer', 'report-manager', 'report-viewer'])
})

test('every permission of every role is a scope that exists', async () => {
  const { body } = await api.request<Collection<Role>>('GET', '/roles')
  for (const { slug, permissions } of body.items) {
    for (const permission of permissions.allow)
      expect(expandScopes([permission]).size, `${slug} ${permission}`).toBeGreaterThan(0)
  }
})
