import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { VaultError } from '../src/vault/client.ts'
import { useDatabase } from './database.ts'
import { makeCardNumber, useVault } from './vault.ts'

const database = useDatabase()
const vault = useVault(database)
const owner = (merchantAccountId = 'default') => ({ merchantAccountId, id: randomUUID() })

async function countRows(id?: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    'select count(*)::integer as count from vault.secrets where $1::uuid is null or id = $1',
    [id ?? null],
  )
  return row?.count ?? 0
}

test('a stored card can be read under its own reference and under no other', async () => {
  const reference = owner()
  const number = makeCardNumber()
  await vault.client().storeCard(reference, number)
  expect(await vault.client().readCard(reference)).toBe(number)
  expect(await vault.client().readCard({ ...reference, merchantAccountId: 'other' })).toBeUndefined()
  expect(await vault.client().readCard(owner())).toBeUndefined()
  expect(await vault.client().readCard(reference, 'replacement')).toBeUndefined()
})

test('the same number has the same fingerprint in every account, another number another', async () => {
  const number = makeCardNumber()
  const { fingerprint } = await vault.client().storeCard(owner(), number)
  expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
  expect((await vault.client().storeCard(owner('other'), number)).fingerprint).toBe(fingerprint)
  expect((await vault.client().storeCard(owner(), makeCardNumber())).fingerprint).not.toBe(fingerprint)
})

test('storing again replaces: one row, the last number', async () => {
  const reference = owner()
  for (let count = 0; count < 5; count += 1) await vault.client().storeCard(reference, makeCardNumber())
  const last = makeCardNumber()
  await vault.client().storeCard(reference, last)
  expect(await vault.client().readCard(reference)).toBe(last)
  expect(await countRows(reference.id)).toBe(1)
})

test('a replacement waits beside the number until it is applied, once, whoever asks at the same time', async () => {
  const reference = owner()
  const [old, next] = [makeCardNumber(), makeCardNumber()]
  await vault.client().storeCard(reference, old)
  expect(await vault.client().applyReplacement(reference)).toBe(false)
  await vault.client().storeCard(reference, next, 'replacement')
  expect(await vault.client().readCard(reference)).toBe(old)
  expect(await vault.client().readCard(reference, 'replacement')).toBe(next)
  const applied = await Promise.all(Array.from({ length: 10 }, () => vault.client().applyReplacement(reference)))
  expect(applied.filter(Boolean)).toHaveLength(1)
  expect(await vault.client().readCard(reference)).toBe(next)
  expect(await vault.client().readCard(reference, 'replacement')).toBeUndefined()
  expect(await countRows(reference.id)).toBe(1)
})

test('removing leaves no row of any field, and nobody else’s is touched', async () => {
  const references = Array.from({ length: 1_200 }, () => owner('removals'))
  const bystander = owner('removals')
  await Promise.all(
    [...references, bystander].map((reference) => vault.client().storeCard(reference, makeCardNumber())),
  )
  await vault.client().storeCard({ ...bystander, merchantAccountId: 'other' }, makeCardNumber())
  const [first = owner()] = references
  await vault.client().storeCard(first, makeCardNumber(), 'replacement')
  await vault.client().storeSecrets(first, { password: 'x' })
  await vault.client().remove(references)
  const left = await database.query('select id from vault.secrets where merchant_account_id = $1', ['removals'])
  expect(left).toEqual([{ id: bystander.id }])
  expect(await countRows(bystander.id)).toBe(2)
  await vault.client().remove([])
})

test('removing single fields leaves the others, and everybody else’s', async () => {
  const [reference, bystander] = [owner('removals'), owner('removals')]
  for (const one of [reference, bystander]) await vault.client().storeSecrets(one, { password: 'x', 'field.key': 'y' })
  await vault.client().remove([reference], ['field.key', 'never-there'])
  const fields = ['password', 'field.key']
  expect(await vault.client().readSecrets(reference, fields)).toEqual({ password: 'x' })
  expect(await vault.client().readSecrets(bystander, fields)).toEqual({ password: 'x', 'field.key': 'y' })
})

test('owners of old rows are listed in key order, each once, page by page', async () => {
  const references = Array.from({ length: 25 }, () => owner('sweep'))
  await Promise.all(references.map((reference) => vault.client().storeCard(reference, makeCardNumber())))
  await Promise.all(references.map((reference) => vault.client().storeCard(reference, makeCardNumber(), 'replacement')))
  await database.query("update vault.secrets set created_at = '2020-01-01' where merchant_account_id = 'sweep'")
  await vault.client().storeCard(owner('sweep'), makeCardNumber())
  const found: string[] = []
  let after: { merchantAccountId: string; id: string } | undefined
  for (;;) {
    const page = await vault
      .client()
      .listOwners({ createdBefore: new Date('2021-01-01'), limit: 10, ...(after && { after }) })
    found.push(...page.map(({ id }) => id))
    after = page.at(-1)
    if (page.length < 10) break
  }
  expect(found).toEqual(references.map(({ id }) => id).toSorted())
})

test('other secrets come back as they were, and only the fields that are there', async () => {
  const reference = owner()
  const values = { password: 'pässwörd\n', 'private-key': `-----BEGIN\n${'x'.repeat(8_000)}`, pin: '0' }
  await vault.client().storeSecrets(reference, values)
  expect(await vault.client().readSecrets(reference, ['pin', 'nothing', 'password', 'private-key'])).toEqual(values)
  expect(await vault.client().readSecrets(owner(), ['pin'])).toEqual({})
  expect(await vault.client().readSecrets(reference, [])).toEqual({})
})

test('what is no card number, no reference and no field of its kind is refused and not stored', async () => {
  const before = await countRows()
  const reference = owner()
  for (const number of [
    '',
    '4111',
    '4111-1111-1111-1111',
    '41111111111111110000',
    '411111111111111１',
    '４'.repeat(16),
    'Ĵ'.repeat(16),
  ]) {
    await expect(vault.client().storeCard(reference, number), number).rejects.toThrow(VaultError)
  }
  for (const wrong of [
    { ...reference, id: 'x' },
    { ...reference, merchantAccountId: 'a,b' },
  ]) {
    await expect(vault.client().storeCard(wrong, makeCardNumber())).rejects.toThrow(VaultError)
  }
  await expect(vault.client().storeSecrets(reference, { number: makeCardNumber() })).rejects.toThrow(
    /calls of their own/,
  )
  await expect(vault.client().readSecrets(reference, ['replacement'])).rejects.toThrow(/calls of their own/)
  await expect(vault.client().storeSecrets(reference, { 'Bad Field': 'x' })).rejects.toThrow(VaultError)
  await expect(vault.client().storeSecrets(reference, { empty: '' })).rejects.toThrow(VaultError)
  expect(await countRows()).toBe(before)
})

test('cards that are stored at the same time share commits', async () => {
  const references = Array.from({ length: 400 }, () => owner('together'))
  await Promise.all(references.map((reference) => vault.client().storeCard(reference, makeCardNumber())))
  const [row] = await database.query<{ rows: number; commits: number }>(
    `select count(*)::integer as rows, count(distinct xmin::text)::integer as commits
     from vault.secrets where merchant_account_id = 'together'`,
  )
  expect(row?.rows).toBe(400)
  expect(row?.commits).toBeLessThan(200)
})

test('a row that the database refuses fails alone: its neighbours of the same batch are stored', async () => {
  await database.query("alter table vault.secrets add constraint poison check (merchant_account_id <> 'poison')")
  const references = Array.from({ length: 100 }, (_, index) => owner(index % 10 === 7 ? 'poison' : 'neighbour'))
  const results = await Promise.allSettled(
    references.map((reference) => vault.client().storeCard(reference, makeCardNumber())),
  )
  for (const [index, { status }] of results.entries()) expect(status).toBe(index % 10 === 7 ? 'rejected' : 'fulfilled')
  const rows = await database.query("select from vault.secrets where merchant_account_id = 'neighbour'")
  expect(rows).toHaveLength(90)
  await database.query('alter table vault.secrets drop constraint poison')
})

test('the number is nowhere in the database and nowhere in the log, not even when a call fails', async () => {
  const reference = owner()
  const number = makeCardNumber()
  await vault.client().storeCard(reference, number)
  await vault.client().readCard(reference)
  await expect(vault.client().storeCard({ ...reference, id: number }, number)).rejects.toThrow()
  await expect(vault.client().storeSecrets(reference, { number })).rejects.toThrow()
  const rows = await database.query('select secrets::text as row from vault.secrets')
  const text = JSON.stringify(rows) + vault.logs.join('')
  for (const spelling of [number, Buffer.from(number).toString('hex'), Buffer.from(number).toString('base64')]) {
    expect(text).not.toContain(spelling)
  }
  expect(vault.logs.join('')).not.toContain('[number]')
})

test('a log line of a call names the call, its time and the account; a read of a card leaves an audit line', async () => {
  const reference = owner('logged')
  const missing = owner('logged')
  vault.logs.length = 0
  await vault.client().storeCard(reference, makeCardNumber())
  await vault.client().readCard(reference)
  await vault.client().readCard(missing)
  const lines = vault.logs.map((line) => JSON.parse(line) as Record<string, unknown>)
  const requests = lines.filter(({ message }) => message === 'request')
  expect(requests.map(({ operation }) => operation)).toEqual(['storeCard', 'readCard', 'readCard'])
  for (const request of requests) {
    expect(Object.keys(request).toSorted()).toEqual(
      ['duration_ms', 'level', 'merchant_account_id', 'message', 'operation', 'process', 'status', 'time'].toSorted(),
    )
  }
  expect(lines.filter(({ audit }) => audit === true)).toMatchObject([
    {
      message: 'card read',
      merchant_account_id: 'logged',
      resource_id: reference.id,
      caller: 'unix',
      reason: 'handed out',
    },
    {
      message: 'card read',
      merchant_account_id: 'logged',
      resource_id: missing.id,
      caller: 'unix',
      reason: 'not there',
    },
  ])
})

test.each(['florin_api', 'florin_worker'] as const)('%s cannot read, write or even enter the vault', async (role) => {
  const client = new pg.Client({ connectionString: database.url(role) })
  await client.connect()
  try {
    for (const statement of [
      'select * from vault.secrets',
      'select * from vault.keys',
      'delete from vault.secrets',
      "update vault.keys set state = 'destroyed', wrapped = null",
    ]) {
      await expect(client.query(statement), statement).rejects.toThrow(/permission denied for schema vault/)
    }
    await expect(client.query('set role florin_vault')).rejects.toThrow(/permission denied/)
  } finally {
    await client.end()
  }
})

test('the socket is open to its owner and group only', () => {
  const mode = statSync(vault.url().replace('unix:', '')).mode & 0o777
  expect(mode.toString(8)).toBe('660')
})

test('the private listener says ready and counts what the keys have done', async () => {
  expect((await fetch(`${vault.privateUrl()}/readyz`)).status).toBe(200)
  const metrics = await (await fetch(`${vault.privateUrl()}/metrics`)).text()
  expect(metrics).toMatch(/florin_vault_key_encryptions\{version="1",state="active"\} \d+/)
  expect(metrics).toMatch(/florin_http_request_duration_seconds_count\{operation="storeCard",status="200"\} \d+/)
})

test('many secrets are read at once, each under its own reference and in the order of the question', async () => {
  const owners = Array.from({ length: 300 }, (_none, index) => owner(index % 3 === 0 ? '*' : 'default'))
  for (const [index, reference] of owners.entries()) {
    if (index % 2 === 0) await vault.client().storeSecrets(reference, { secret: `value ${index}` })
  }
  const wanted = owners.map((reference) => ({ ...reference, field: 'secret' }))
  const expected = owners.map((_reference, index) => (index % 2 === 0 ? `value ${index}` : undefined))
  expect(await vault.client().readEach(wanted)).toEqual(expected)
  expect(await vault.client().readEach([])).toEqual([])
  const [first] = owners
  if (!first) throw new Error('there is one')
  const elsewhere = { ...first, merchantAccountId: 'default', field: 'secret' }
  expect(await vault.client().readEach([elsewhere])).toEqual([undefined])
  await expect(vault.client().readEach([{ ...first, field: 'number' }])).rejects.toThrow(/calls of their own/)
})
