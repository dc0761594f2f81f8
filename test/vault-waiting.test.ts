import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createLog } from '../src/platform/log.ts'
import { connect } from '../src/platform/postgres.ts'
import { VaultError } from '../src/vault/client.ts'
import { startWaitingSweep } from '../src/vault/waiting-sweep.ts'
import { useDatabase } from './database.ts'
import { makeCardNumber, useVault } from './vault.ts'

const database = useDatabase()
const vault = useVault(database)
const owner = (merchantAccountId = 'default') => ({ merchantAccountId, id: randomUUID() })
const inAnHour = () => new Date(Date.now() + 3_600_000)
const anHourAgo = () => new Date(Date.now() - 3_600_000)

const rowsOf = (id: string) =>
  database.query<{ field: string; key_version: number; sealed: Buffer; hours: number }>(
    `select field, key_version, sealed, extract(epoch from expires_at - now())::float / 3600 as hours from vault.waiting where id = $1`,
    [id],
  )

test('what waits is handed to the first who asks for it, and to nobody after', async () => {
  const reference = owner()
  await vault.client().storeWaiting(reference, { security_code: '123' }, inAnHour())
  expect(await vault.client().takeWaiting({ ...reference, merchantAccountId: 'other' }, ['security_code'])).toEqual({})
  expect(await vault.client().takeWaiting(reference, ['other'])).toEqual({})
  expect(await vault.client().takeWaiting(reference, ['security_code', 'other'])).toEqual({ security_code: '123' })
  expect(await vault.client().takeWaiting(reference, ['security_code'])).toEqual({})
})

test('of 50 who ask at once, one gets it', async () => {
  const reference = owner()
  await vault.client().storeWaiting(reference, { security_code: '123' }, inAnHour())
  const taken = await Promise.all(
    Array.from({ length: 50 }, () => vault.client().takeWaiting(reference, ['security_code'])),
  )
  expect(taken.filter(({ security_code }) => security_code === '123')).toHaveLength(1)
  expect(await rowsOf(reference.id)).toEqual([])
})

test('storing again replaces', async () => {
  const reference = owner()
  for (const code of ['123', '456', '789']) {
    await vault.client().storeWaiting(reference, { security_code: code }, inAnHour())
  }
  expect(await rowsOf(reference.id)).toHaveLength(1)
  expect(await vault.client().takeWaiting(reference, ['security_code'])).toEqual({ security_code: '789' })
})

test('what has expired is handed to nobody, and asking removes it', async () => {
  const reference = owner()
  await vault.client().storeWaiting(reference, { security_code: '123' }, anHourAgo())
  expect(await rowsOf(reference.id)).toHaveLength(1)
  expect(await vault.client().takeWaiting(reference, ['security_code'])).toEqual({})
  expect(await rowsOf(reference.id)).toEqual([])
})

test('nothing waits longer than a day, whatever is asked for', async () => {
  const reference = owner()
  await vault.client().storeWaiting(reference, { security_code: '123' }, new Date(Date.now() + 10 * 86_400_000))
  const [row] = await rowsOf(reference.id)
  expect(row?.hours).toBeGreaterThan(23.9)
  expect(row?.hours).toBeLessThanOrEqual(24)
})

test('the vault removes what has expired by itself, and leaves the rest', async () => {
  const [expired, fresh] = [owner(), owner()]
  await vault.client().storeWaiting(expired, { security_code: '123' }, anHourAgo())
  await vault.client().storeWaiting(fresh, { security_code: '123' }, inAnHour())
  const url = database.url('florin_vault')
  const db = connect({ url, applicationName: 'test', poolSize: 1, onError: () => undefined })
  const sweep = startWaitingSweep({ db, log: createLog({ level: 'silent', process: 'test' }), everyMs: 50 })
  await expect.poll(() => rowsOf(expired.id)).toEqual([])
  await vault.client().storeWaiting(expired, { security_code: '123' }, anHourAgo())
  await expect.poll(() => rowsOf(expired.id)).toEqual([])
  await sweep.close()
  await db.close()
  expect(await rowsOf(fresh.id)).toHaveLength(1)
})

test('removing an owner removes what waits too; removing a field leaves the others', async () => {
  const reference = owner()
  const store = async () => {
    await vault.client().storeCard(reference, makeCardNumber())
    await vault.client().storeWaiting(reference, { security_code: '123', pin: '4567' }, inAnHour())
  }
  await store()
  await vault.client().remove([reference], ['security_code'])
  expect((await rowsOf(reference.id)).map(({ field }) => field)).toEqual(['pin'])
  expect(await vault.client().readCard(reference)).toBeDefined()
  await store()
  await vault.client().remove([reference])
  expect(await rowsOf(reference.id)).toEqual([])
  expect(await vault.client().readCard(reference)).toBeUndefined()
})

test('a ciphertext that waits opens nowhere else: not among the secrets, not for another owner', async () => {
  const [reference, other] = [owner(), owner()]
  await vault.client().storeWaiting(reference, { pin: '4567' }, inAnHour())
  await database.query(
    `insert into vault.secrets (created_at, key_version, id, merchant_account_id, field, sealed)
     select now(), key_version, id, merchant_account_id, field, sealed from vault.waiting where id = $1`,
    [reference.id],
  )
  await expect(vault.client().readSecrets(reference, ['pin'])).rejects.toThrow(VaultError)
  await database.query('update vault.waiting set id = $2 where id = $1', [reference.id, other.id])
  await expect(vault.client().takeWaiting(other, ['pin'])).rejects.toThrow(VaultError)
})

test('card numbers do not wait: they have calls of their own', async () => {
  const number = makeCardNumber()
  await expect(vault.client().storeWaiting(owner(), { number }, inAnHour())).rejects.toThrow(/calls of their own/)
})

test('only an unlogged table holds what waits: PostgreSQL writes none of it to its log', async () => {
  const found = await database.query(`select relpersistence from pg_class where oid = 'vault.waiting'::regclass`)
  expect(found).toEqual([{ relpersistence: 'u' }])
})

test('a key is kept as long as something waits on it; a retired one still opens it', async () => {
  const reference = owner()
  await vault.client().storeWaiting(reference, { security_code: '123' }, inAnHour())
  const [row] = await rowsOf(reference.id)
  const version = row?.key_version ?? 0
  await vault.keys().rotate()
  await database.query('delete from vault.secrets')
  await vault.keys().rewrap(() => undefined)
  expect((await vault.keys().list()).find((key) => key.version === version)?.state).toBe('retired')
  await expect(vault.keys().destroy(version)).rejects.toThrow(/wait for a payment are on it/)
  expect(await vault.client().takeWaiting(reference, ['security_code'])).toEqual({ security_code: '123' })
  await database.query('delete from vault.waiting')
  await vault.keys().destroy(version)
  expect((await vault.keys().list()).find((key) => key.version === version)?.state).toBe('destroyed')
})
