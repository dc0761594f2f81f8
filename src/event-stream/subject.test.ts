import { expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { partitionOf, partitions, subjectOf } from './subject.ts'

const database = useDatabase()

test('an account is in the partition that readers compute: the first byte of its SHA-256, modulo 16', () => {
  // printf default | sha256sum: 37a8ee…
  expect(partitionOf('default')).toBe(0x37 % 16)
  expect(subjectOf({ merchant_account_id: 'default', name: 'buyer.created' })).toBe(
    'florin.events.7.default.buyer.created',
  )
})

test('accounts are spread over all partitions', () => {
  const used = new Set(Array.from({ length: 500 }, (_, index) => partitionOf(`merchant-${index}`)))
  expect(used.size).toBe(partitions)
})

test('an event of the whole instance has a place that no account can have', () => {
  expect(subjectOf({ merchant_account_id: null, name: 'api-key-pair.created' })).toMatch(
    /^florin\.events\.\d+\._\.api-key-pair\.created$/,
  )
})

test('no account has an id with a character that NATS forbids or reads as more than a character', async () => {
  const add = (id: string) =>
    database.query(
      `insert into merchant_accounts (id, list_id, display_name, account_updater_enabled, async_network_tokens_enabled, created_at, updated_at)
       values ($1, gen_random_uuid(), 'test', false, false, now(), now())`,
      [id],
    )
  for (const id of ['.', '*', '>', '_', 'a.b', 'a b', 'a\tb', 'a\n', '', '$JS', 'é', 'a/b']) {
    await expect(add(id), JSON.stringify(id)).rejects.toThrow(/merchant_accounts_id_check/)
  }
  await add('-A-9')
})
