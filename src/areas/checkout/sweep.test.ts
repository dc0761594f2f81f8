import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { checkoutOn, places } from '../../../test/checkout.ts'
import { createLog } from '../../platform/log.ts'
import { connect, type Database } from '../../platform/postgres.ts'
import { sweepVault } from '../payment-methods/operations/replace.ts'
import { sweepCheckoutSessions } from './jobs.ts'
import { realTime } from '../../clocks.ts'

const api = useApi()
const checkout = checkoutOn(api)
const log = createLog({ level: 'silent', process: 'test' })
const { signal } = new AbortController()
let worker: Database
beforeAll(() => {
  const url = api.database.url('florin_worker')
  worker = connect({ url, applicationName: 'test', poolSize: 2, onError: () => undefined })
})
afterAll(() => worker.close())

const time = () => ({ ...realTime, db: worker, accounts: 'all' as const, log, signal })
const sweep = () => sweepCheckoutSessions(api.vault.client()).run(time())
const later = () => new Date(Date.now() + 3_600_000)
const sweepNumbers = () => sweepVault({ db: worker, vault: api.vault.client(), now: later, log }, signal)
const rows = async (id: string) =>
  (await api.database.query('select from checkout_sessions where id = $1', [id])).length

test('expired sessions are removed with their card and code; others stay', async () => {
  const [expired, fresh] = [await checkout.ready(), await checkout.ready()]
  await checkout.expire(expired)
  await sweep()
  expect([await rows(expired), await checkout.inVault(expired)]).toEqual([0, []])
  expect([await rows(fresh), await checkout.inVault(fresh)]).toEqual([1, ['number', 'waiting security_code']])
  await sweep()
  expect(await rows(fresh)).toBe(1)
})

test('more than a batch of expired sessions goes in one run', async () => {
  await api.database.query(
    `insert into checkout_sessions (merchant_account_id, id, expires_at, created_at, updated_at)
     select 'other', gen_random_uuid(), now() - interval '1 hour', now(), now() from generate_series(1, 1200)`,
  )
  await sweep()
  expect(await api.database.query(`select from checkout_sessions where merchant_account_id = 'other'`)).toEqual([])
})

test('while the vault is away nothing is lost: the row stays, and the next run finishes', async () => {
  const id = await checkout.ready()
  await checkout.expire(id)
  const away = { ...api.vault.client(), remove: () => Promise.reject(new Error('away')) }
  const job = sweepCheckoutSessions(away)
  await expect(job.run(time())).rejects.toThrow('away')
  expect(await rows(id)).toBe(1)
  await sweep()
  expect([await rows(id), await checkout.inVault(id)]).toEqual([0, []])
})

test('the sweep for numbers without an owner leaves those of sessions, and takes those of sessions that are gone', async () => {
  const [kept, orphaned] = [await checkout.ready(), await checkout.ready()]
  await api.database.query('delete from checkout_sessions where id = $1', [orphaned])
  expect(await sweepNumbers()).toBe(1)
  expect(await checkout.inVault(kept)).toEqual(['number', 'waiting security_code'])
  expect(await checkout.inVault(orphaned)).toEqual([])
})

test('a number whose session the row knows nothing of, after a crash between the two, goes with the session', async () => {
  const { id } = await checkout.create()
  await api.vault.client().storeCard({ merchantAccountId: 'default', id }, '4111111111111111')
  expect((await checkout.pay(id)).text).toContain('have not been sent yet')
  expect(await sweepNumbers()).toBe(0)
  await checkout.expire(id)
  await sweep()
  expect(await checkout.inVault(id)).toEqual([])
})

test('a number that is not the one the row tells of is not paid with', async () => {
  const id = await checkout.ready()
  await api.vault.client().storeCard({ merchantAccountId: 'default', id }, '5555555555554444')
  const refused = await checkout.pay(id)
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('send its fields again')])
})

const store = (body: object) => api.request('POST', '/payment-methods', { body })

test('the card of a session can be stored; the session keeps card and code for a payment', async () => {
  const buyer = await api.request('POST', '/buyers', { body: { external_identifier: 'keeps-cards' } })
  const id = await checkout.ready()
  const body = { method: 'checkout-session', id, external_identifier: 'mine', buyer_external_identifier: 'keeps-cards' }
  const stored = await store(body)
  expect([stored.status, stored.body]).toEqual([
    201,
    expect.objectContaining({
      method: 'card',
      mode: 'card',
      status: 'succeeded',
      label: '1111',
      expiration_date: '12/40',
      external_identifier: 'mine',
      buyer: expect.objectContaining({ id: buyer.body['id'] }),
    }),
  ])
  const reference = { merchantAccountId: 'default', id: String(stored.body['id']) }
  expect(await api.vault.client().readCard(reference)).toBe('4111111111111111')
  expect(await checkout.inVault(id)).toEqual(['number', 'waiting security_code'])
  const taken = await store(body)
  expect([taken.status, taken.body['resource_id']]).toEqual([409, stored.body['id']])
})

test('storing needs a session with a card of its own', async () => {
  const { id } = await checkout.create()
  const empty = await store({ method: 'checkout-session', id })
  expect([empty.status, places(empty)]).toEqual([400, ['body /id value_error.conflict']])
  expect(empty.text).toContain('have not been sent yet')
  const stored = await store({ method: 'card', number: '4111111111111111', expiration_date: '12/40' })
  await checkout.fields(id, { payment_method: { method: 'id', id: stored.body['id'] } })
  const again = await store({ method: 'checkout-session', id })
  expect([again.status, places(again)]).toEqual([400, ['body /id value_error.conflict']])
  expect(again.text).toContain('is stored already')
})

test.each([
  [{ method: 'checkout-session' }, ['body /id value_error.missing']],
  [{ method: 'checkout-session', id: 'x' }, ['body /id type_error.uuid']],
  [{ method: 'network-token' }, ['body /method type_error.enum']],
  [{}, ['body /method value_error.missing']],
])('a method of %o is refused', async (body, wanted) => {
  const refused = await store(body)
  expect([refused.status, places(refused)]).toEqual([400, wanted])
})
