import { expect, test } from 'vitest'
import { apiConfig, send } from '../../../../test/api.ts'
import { accountHeader, checkoutOn } from '../../../../test/checkout.ts'
import { usePayments } from '../../../../test/payments.ts'
import { startApi } from '../../../main/api.ts'
import type { AccountClock } from './schema.ts'

const { api, pay, store, get, act, makeService } = usePayments()
const checkout = checkoutOn(api)
const day = 24 * 60 * 60 * 1000

const clockOf = (account: string, options: object = {}) =>
  api.request<AccountClock>('GET', `/merchant-accounts/${account}/clock`, options)
const advance = (account: string, by: unknown, options: object = {}) =>
  api.request<AccountClock>('POST', `/merchant-accounts/${account}/clock/advance`, { body: { by }, ...options })
let made = 0
async function makeAccount(): Promise<string> {
  const account = `clock-${(made += 1)}`
  await api.makeAccount(account)
  return account
}
const distance = (text: unknown) => Date.parse(String(text)) - Date.now()
const isAbout = (text: unknown, ms: number) => Math.abs(distance(text) - ms) < 60_000

test('a clock that was never moved shows real time', async () => {
  const { status, body } = await clockOf('other')
  expect(status).toBe(200)
  expect(body).toEqual({
    type: 'clock',
    merchant_account_id: 'other',
    now: expect.any(String),
    ahead_seconds: 0,
    is_settled: true,
    updated_at: null,
  })
  expect(isAbout(body.now, 0)).toBe(true)
})

test('a clock is moved by every unit, the moves add up, and no worker means that what fell due waits', async () => {
  const account = await makeAccount()
  let seconds = 0
  for (const [by, more] of [
    ['90s', 90],
    ['15m', 900],
    ['6h', 21_600],
    ['3d', 259_200],
    ['2w', 1_209_600],
  ] as const) {
    const { status, body } = await advance(account, by)
    seconds += more
    expect([status, body.ahead_seconds, body.is_settled]).toEqual([200, seconds, false])
    expect(isAbout(body.now, seconds * 1000)).toBe(true)
  }
  expect((await clockOf(account)).body).toMatchObject({ ahead_seconds: seconds, is_settled: false })
  expect((await clockOf('default')).body).toMatchObject({ ahead_seconds: 0, is_settled: true })
})

test('moves that come at once all count', async () => {
  const account = await makeAccount()
  await Promise.all(Array.from({ length: 20 }, () => advance(account, '1h')))
  expect((await clockOf(account)).body.ahead_seconds).toBe(20 * 3600)
})

test('at most ten years in all', async () => {
  const account = await makeAccount()
  const tooFar = { location: 'body', pointer: '/by', type: 'value_error.range', message: expect.any(String) }
  expect((await advance(account, '3651d')).body).toMatchObject({ code: 'bad_request', details: [tooFar] })
  expect((await advance(account, '3650d')).status).toBe(200)
  expect((await advance(account, '1s')).body).toMatchObject({ code: 'bad_request', details: [tooFar] })
  expect((await clockOf(account)).body.ahead_seconds).toBe(3650 * 86_400)
})

test.each(['', '3', 'd', '0d', '-3d', '+3d', '3 d', '3D', '3d ', '1.5h', '1e3s', '03d', '1000000000s', '3d4h'])(
  'by "%s" is refused',
  async (by) => {
    const { status, body } = await advance('other', by)
    expect([status, body]).toMatchObject([400, { details: [{ pointer: '/by' }] }])
    expect((await clockOf('other')).body.ahead_seconds).toBe(0)
  },
)

test('who reads may not move, and an account out of reach has no clock', async () => {
  const account = await makeAccount()
  const reading = await api.makeToken(api.owner(), { scopes: ['merchant-accounts.read'] })
  expect((await advance(account, '1d', { token: reading })).status).toBe(403)
  const token = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['other'] }))
  for (const unreachable of [account, 'nobody']) {
    expect((await clockOf(unreachable, { token })).status).toBe(404)
    expect((await advance(unreachable, '1d', { token })).status).toBe(404)
  }
  expect((await clockOf(account)).body.ahead_seconds).toBe(0)
  expect((await clockOf('other', { token })).status).toBe(200)
})

test('a move is in the audit log, in real time', async () => {
  const account = await makeAccount()
  await advance(account, '3d')
  const { body } = await api.request<{ items: Record<string, unknown>[] }>('GET', '/audit-logs', {
    headers: { [accountHeader]: account },
  })
  expect(body.items[0]).toMatchObject({
    action: 'updated',
    resource: { type: 'clock', id: account, name: `${account} + 3d` },
  })
  expect(isAbout(body.items[0]?.['timestamp'], 0)).toBe(true)
})

test('everything in the account goes by its clock, and its logs go by real time', async () => {
  const account = await makeAccount()
  const headers = { [accountHeader]: account }
  await makeService({}, account)
  const before = (await pay({}, headers)).body
  await advance(account, '40d')
  await makeService({}, account)
  const { body: payment } = await pay({ intent: 'capture' }, headers)
  const session = await checkout.create({}, account)
  const { body: buyer } = await api.request('POST', '/buyers', { headers, body: { display_name: 'Ada' } })
  const { security_code: _none, ...card } = {
    method: 'card',
    number: '4111111111111111',
    expiration_date: '12/40',
    security_code: '',
  }
  const { body: method } = await api.request('POST', '/payment-methods', { headers, body: card })
  const { body: refund } = await api.request('POST', `/transactions/${payment.id}/refunds`, { headers, body: {} })
  const { body: timeline } = await api.request<{ items: { created_at: string }[] }>(
    'GET',
    `/transactions/${payment.id}/events`,
    { headers },
  )
  const { body: services } = await api.request<{ items: { created_at: string }[] }>('GET', '/payment-services', {
    headers,
  })
  const times = [
    payment['created_at'],
    payment['updated_at'],
    payment['captured_at'],
    buyer['created_at'],
    method['created_at'],
    refund['created_at'],
    services.items[0]?.created_at,
    ...timeline.items.map(({ created_at }) => created_at),
  ]
  expect(times.filter((time) => !isAbout(time, 40 * day))).toEqual([])
  expect(timeline.items.length).toBeGreaterThan(0)
  expect(isAbout(session.expires_at, 40 * day + 3_600_000)).toBe(true)
  expect(isAbout(before['created_at'], 0)).toBe(true)
  expect(payment.id > before.id).toBe(true)

  const logs = await api.database.query<{ at: Date }>(
    `select created_at as at from events where merchant_account_id = $1
     union all select created_at from audit_logs where merchant_account_id = $1`,
    [account],
  )
  expect(logs.length).toBeGreaterThan(5)
  expect(logs.filter(({ at }) => !isAbout(at.toISOString(), 0))).toEqual([])
})

test('a browser sends card data by the clock of the account that its session belongs to', async () => {
  const account = await makeAccount()
  const { id } = await checkout.create({}, account)
  const other = await checkout.create()
  const lookUp = (session: string) =>
    send(api.url(), 'POST', `/checkout/sessions/${session}/card-details`, { body: { bin: '411111' } })
  expect([(await checkout.sendCard(id)).status, (await lookUp(id)).status]).toEqual([204, 200])
  await advance(account, '2h')
  expect([(await checkout.sendCard(id)).status, (await lookUp(id)).status]).toEqual([404, 404])
  expect([(await checkout.sendCard(other.id)).status, (await lookUp(other.id)).status]).toEqual([204, 200])
})

test('a security code that waits in the vault waits as long as its session in real time, however far the clock is ahead', async () => {
  const account = await makeAccount()
  await advance(account, '30d')
  const { id } = await checkout.create({}, account)
  expect((await checkout.sendCard(id)).status).toBe(204)
  const [row] = await api.database.query<{ at: Date }>('select expires_at as at from vault.waiting where id = $1', [id])
  expect(isAbout(row?.at.toISOString(), 3_600_000)).toBe(true)
})

test('work that is left to the worker is due in real time', async () => {
  const account = await makeAccount()
  await advance(account, '30d')
  const headers = { [accountHeader]: account }
  const { security_code: _none, ...card } = {
    method: 'card',
    number: '4111111111111111',
    expiration_date: '01/40',
    security_code: '',
  }
  const { body: method } = await api.request<{ id: string }>('POST', '/payment-methods', { headers, body: card })
  const body = { payment_method_ids: [method.id] }
  expect((await api.request('POST', '/account-updater/jobs', { headers, body })).status).toBe(201)
  const late = await api.database.query("select kind from jobs where run_at > now() + interval '1 minute'")
  expect(late).toEqual([])
})

test('an authorization expires in the account whose clock was moved, and in no other', async () => {
  const account = await makeAccount()
  const headers = { [accountHeader]: account }
  await makeService({}, account)
  const [here, there] = [(await pay({}, headers)).body, (await pay()).body]
  await advance(account, '7d')
  const prefer = { Prefer: 'resource=transaction-capture' }
  const captured = await act(`/transactions/${here.id}/capture`, {}, { ...headers, ...prefer })
  expect(captured.body).toMatchObject({ status: 'declined', code: 'expired_authorization' })
  expect((await act(`/transactions/${here.id}/void`, undefined, headers)).body.status).toBe('authorization_voided')
  expect((await act(`/transactions/${there.id}/capture`, {})).body.status).toBe('capture_succeeded')
})

test('when the answer comes, every process goes by the new time', async () => {
  const account = await makeAccount()
  const second = await startApi(apiConfig(api.database.url('florin_api')), () => undefined)
  const options = { token: api.token(), headers: { [accountHeader]: account }, body: { display_name: 'Ada' } }
  const makeBuyer = () => send(second.url, 'POST', '/buyers', options)
  try {
    // What the other process knows of clocks is as fresh as can be, and will be wrong in a moment.
    expect(isAbout((await makeBuyer()).body['created_at'], 0)).toBe(true)
    await advance(account, '30d')
    expect(isAbout((await makeBuyer()).body['created_at'], 30 * day)).toBe(true)
  } finally {
    await second.close()
  }
})

test('in production there are no clocks: 404, and no time but the real one, whatever the table says', async () => {
  await advance('other', '30d')
  const production = await startApi(
    apiConfig(api.database.url('florin_api'), { environment: 'production', vaultUrl: api.vault.url() }),
    () => undefined,
  )
  try {
    const options = { token: api.token(), headers: { [accountHeader]: 'other' } }
    const path = '/merchant-accounts/other/clock'
    expect((await send(production.url, 'GET', path, options)).status).toBe(404)
    expect((await send(production.url, 'POST', `${path}/advance`, { ...options, body: { by: '1d' } })).status).toBe(404)
    const { body } = await send(production.url, 'POST', '/buyers', { ...options, body: { display_name: 'Ada' } })
    expect(isAbout(body['created_at'], 0)).toBe(true)
  } finally {
    await production.close()
  }
  expect((await clockOf('other')).body.ahead_seconds).toBe(30 * 86_400)
})

test('a card that was valid when it was stored is declined once its month is over in the account', async () => {
  const account = await makeAccount()
  const headers = { [accountHeader]: account }
  await makeService({}, account)
  const soon = new Date(Date.now() + 60 * day)
  const expiration_date = `${String(soon.getUTCMonth() + 1).padStart(2, '0')}/${String(soon.getUTCFullYear() % 100)}`
  const { body: method } = await api.request<{ id: string }>('POST', '/payment-methods', {
    headers,
    body: { method: 'card', number: '4111111111111111', expiration_date },
  })
  const stored = { payment_method: { method: 'id', id: method.id } }
  expect((await pay(stored, headers)).body.status).toBe('authorization_succeeded')
  await advance(account, '95d')
  expect((await pay(stored, headers)).body).toMatchObject({
    status: 'authorization_declined',
    error_code: 'expired_payment_method',
  })
  const here = await store({ expiration_date })
  expect((await pay({ payment_method: { method: 'id', id: here.id } })).body.status).toBe('authorization_succeeded')
  expect((await get(`/payment-methods/${here.id}`)).status).toBe('succeeded')
})
