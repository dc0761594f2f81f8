import { beforeAll, expect, test } from 'vitest'
import { type Answer, useApi } from '../../../test/api.ts'
import { sandboxAccountUpdater } from '../../connectors/sandbox/account-updater.ts'
import { createLog } from '../../platform/log.ts'
import { connect, type Database } from '../../platform/postgres.ts'
import { replaceExpired, sweepVault, triggerReplacement } from '../payment-methods/operations/replace.ts'
import type { PaymentMethod } from '../payment-methods/schema.ts'
import { runInquiry } from './operations.ts'
import type { AccountUpdaterJob } from './schema.ts'

const api = useApi()
let db: Database
beforeAll(() => {
  db = connect({
    url: api.database.url('florin_worker'),
    applicationName: 'test',
    poolSize: 2,
    onError: () => undefined,
  })
  return () => db.close()
})

const log = createLog({ level: 'silent', process: 'test' })
const system = (now = new Date()) => ({ db, vault: api.vault.client(), log, now: () => now, accounts: 'all' as const })
const signal = new AbortController().signal

/** The sandbox's updater answers by the month. */
const store = async (expiration_date: string, number = '4111111111111111', headers: Record<string, string> = {}) =>
  (
    await api.request<PaymentMethod>('POST', '/payment-methods', {
      body: { method: 'card', number, expiration_date },
      headers,
    })
  ).body
const ask = (...ids: string[]) =>
  api.request<AccountUpdaterJob>('POST', '/account-updater/jobs', { body: { payment_method_ids: ids } })
const get = async (id: string) => (await api.request<PaymentMethod>('GET', `/payment-methods/${id}`)).body

/** What the worker does with the jobs that wait. */
async function work(): Promise<void> {
  const jobs = await api.database.query<{ id: string; payload: { merchantAccountId: string; inquiryId: string } }>(
    "select id, payload from jobs where kind = 'account-updater-inquiry'",
  )
  for (const { id, payload } of jobs) {
    await runInquiry(system(), sandboxAccountUpdater, payload)
    await api.database.query('delete from jobs where id = $1', [id])
  }
}

async function cardWithReplacement(): Promise<PaymentMethod> {
  const card = await store('01/30')
  expect((await ask(card.id)).status).toBe(201)
  await work()
  const waiting = await get(card.id)
  expect(waiting).toMatchObject({
    has_replacement: true,
    label: '1111',
    expiration_date: '01/30',
    last_replaced_at: null,
  })
  return card
}

test('a job has an inquiry for each card that can be asked about', async () => {
  const [visa, mastercard, jcb] = [
    await store('12/30'),
    await store('12/30', '5555555555554444'),
    await store('12/30', '3566002020360505'),
  ]
  const elsewhere = await store('12/30', '4111111111111111', { 'X-Service-Merchant-Account-ID': 'other' })
  const { status, body } = await ask(
    visa.id,
    mastercard.id,
    jcb.id,
    elsewhere.id,
    '01900000-0000-7000-8000-000000000000',
  )
  expect(status).toBe(201)
  expect(body).toMatchObject({ type: 'account-updater-job', merchant_account_id: 'default' })
  expect(body.inquiries.map(({ payment_method_id }) => payment_method_id).sort()).toEqual(
    [visa.id, mastercard.id].sort(),
  )
  await work()
})

test('nothing to ask about answers 204: unknown, of a scheme that is not asked, or asked about already', async () => {
  const [jcb, visa] = [await store('12/30', '3566002020360505'), await store('12/30')]
  expect((await ask(jcb.id)).status).toBe(204)
  const asked = await Promise.all(Array.from({ length: 10 }, () => ask(visa.id)))
  expect(asked.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([
    201,
    ...Array<number>(9).fill(204),
  ])
  await work()
  expect((await ask(visa.id)).status).toBe(201)
  await work()
})

test('an account that has not enabled the updater is told so', async () => {
  await api.request('PUT', '/merchant-accounts/other', { body: { account_updater_enabled: false } })
  const headers = { 'X-Service-Merchant-Account-ID': 'other' }
  const refused = (await api.request('POST', '/account-updater/jobs', {
    body: { payment_method_ids: [(await store('12/30')).id] },
    headers,
  })) as Answer
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('account_updater_enabled')
})

test('one to a hundred different ids', async () => {
  const id = '01900000-0000-7000-8000-000000000000'
  for (const ids of [[], [id, id], Array.from({ length: 101 }, (_, index) => id.slice(0, -3) + String(100 + index))]) {
    expect((await ask(...ids)).status).toBe(400)
  }
})

test('found details wait: the card is as it was until they apply', async () => {
  await cardWithReplacement()
})

test('only the date changed: it applies at once', async () => {
  const card = await store('02/30')
  await ask(card.id)
  await work()
  expect(await get(card.id)).toMatchObject({
    has_replacement: false,
    expiration_date: '02/34',
    label: '1111',
    fingerprint: card.fingerprint,
    last_replaced_at: expect.any(String),
  })
})

test('the card expires: its replacement applies, in the vault too', async () => {
  const card = await cardWithReplacement()
  expect(await replaceExpired(system(new Date('2030-01-31T23:59:59Z')), signal)).toBe(0)
  expect(await get(card.id)).toMatchObject({ has_replacement: true })
  expect(await replaceExpired(system(new Date('2030-02-01T00:00:00Z')), signal)).toBeGreaterThan(0)
  const replaced = await get(card.id)
  expect(replaced).toMatchObject({
    has_replacement: false,
    label: '4242',
    expiration_date: '01/34',
    last_replaced_at: '2030-02-01T00:00:00.000Z',
  })
  expect(replaced.fingerprint).not.toBe(card.fingerprint)
  expect(await api.vault.client().readCard({ merchantAccountId: 'default', id: card.id })).toBe('4242424242424242')
})

test('a card that has expired already gets its new details at once', async () => {
  const card = await store('01/20')
  await ask(card.id)
  await work()
  expect(await get(card.id)).toMatchObject({ has_replacement: false, label: '4242', expiration_date: '01/24' })
})

test.each([
  'canceled_payment_method',
  'expired_payment_method',
  'unavailable_payment_method',
  'unknown_payment_method',
])('a decline with %s applies the replacement', async (code) => {
  const card = await cardWithReplacement()
  await triggerReplacement(system(), 'default', card.id, `declined:${code}`)
  expect(await get(card.id)).toMatchObject({
    has_replacement: false,
    label: '4242',
    last_replaced_at: expect.any(String),
  })
})

test('any other decline, and a card without a replacement, change nothing', async () => {
  const card = await cardWithReplacement()
  expect(await triggerReplacement(system(), 'default', card.id, 'declined:insufficient_funds')).toBeUndefined()
  expect(await get(card.id)).toMatchObject({ has_replacement: true, label: '1111' })
  const plain = await store('12/30')
  expect(await triggerReplacement(system(), 'default', plain.id, 'declined:expired_payment_method')).toBeUndefined()
  expect(await get(plain.id)).toEqual(plain)
})

test('ten triggers at once apply the replacement once', async () => {
  const card = await cardWithReplacement()
  const applied = await Promise.all(
    Array.from({ length: 10 }, () =>
      triggerReplacement(system(), 'default', card.id, 'declined:expired_payment_method'),
    ),
  )
  expect(applied.filter(Boolean)).toHaveLength(1)
})

test('a crash between the vault and our own commit is finished by the next trigger', async () => {
  const card = await cardWithReplacement()
  await api.vault.client().applyReplacement({ merchantAccountId: 'default', id: card.id })
  await triggerReplacement(system(), 'default', card.id, 'expired')
  expect(await get(card.id)).toMatchObject({ has_replacement: false, label: '4242' })
  expect(await api.vault.client().readCard({ merchantAccountId: 'default', id: card.id })).toBe('4242424242424242')
})

test('an account that is closed, or a scheme that fails, leaves the card as it is', async () => {
  const [closed, failed] = [await store('03/30'), await store('04/30')]
  await ask(closed.id, failed.id)
  await work()
  expect([await get(closed.id), await get(failed.id)]).toEqual([closed, failed])
  const outcomes = await api.database.query<{ status: string; error_code: string | null }>(
    'select status, error_code from account_updater_inquiries where payment_method_id = any($1) order by status',
    [[closed.id, failed.id]],
  )
  expect(outcomes).toEqual([
    { status: 'closed', error_code: null },
    { status: 'failed', error_code: 'service_error' },
  ])
})

test('the sweep removes numbers that no card owns, and only those', async () => {
  const card = await store('12/30')
  const orphan = { merchantAccountId: 'default', id: '01900000-0000-7000-8000-00000000beef' }
  await api.vault.client().storeCard(orphan, '4242424242424242')
  const service = { merchantAccountId: 'default', id: '01900000-0000-7000-8000-00000000cafe' }
  await api.vault.client().storeSecrets(service, { api_key: 'kept' })
  expect(await sweepVault(system(), signal)).toBe(0)
  expect(await sweepVault(system(new Date(Date.now() + 3_600_000)), signal)).toBe(1)
  expect(await api.vault.client().readCard(orphan)).toBeUndefined()
  expect(await api.vault.client().readSecrets(service, ['api_key'])).toEqual({ api_key: 'kept' })
  expect(await api.vault.client().readCard({ merchantAccountId: 'default', id: card.id })).toBe('4111111111111111')
})
