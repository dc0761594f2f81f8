import { beforeAll, expect, test } from 'vitest'
import { follow, press, walk } from '../../../../test/buyer.ts'
import { type Payment, refusal, usePayments } from '../../../../test/payments.ts'
import { createConnectors } from '../../../connectors/registry.ts'
import { createLog } from '../../../platform/log.ts'
import { connect } from '../../../platform/postgres.ts'
import { resolveDueEnrolments } from './operations.ts'

/* Redirect methods that a buyer approves once, to be charged again and again. */

const { api, makeService, pay, get, events } = usePayments()
let service = ''

beforeAll(async () => {
  service = await makeService({ payment_service_definition_id: 'mock-redirect' })
})

type Method = Payment & { approval_url: string }

const wanted = {
  method: 'custom_redirect',
  country: 'DE',
  currency: 'EUR',
  redirect_url: 'https://shop.example.com/a?b=c',
}
const enrol = (change: object = {}) =>
  api.request<Method>('POST', '/payment-methods', { body: { ...wanted, ...change } })
const enrolled = async (change: object = {}): Promise<Method> => {
  const { status, text, body } = await enrol(change)
  expect([status, body.status], text).toEqual([201, 'buyer_approval_required'])
  return body
}
const charge = (id: string, change: object = {}) => pay({ payment_method: { method: 'id', id }, ...change })
const pathOf = ({ id }: Payment) => `/payment-methods/${id}`

async function janitor(minutes: number): Promise<void> {
  const db = connect({
    url: api.database.url('florin_worker'),
    applicationName: 'test',
    poolSize: 2,
    onError: () => undefined,
  })
  const now = () => new Date(Date.now() + minutes * 60_000)
  const connectors = createConnectors({ environment: 'sandbox', db, now })
  const log = createLog({ level: 'silent', process: 'test' })
  const ctx = { db, vault: api.vault.client(), connectors, log, now, accounts: 'all' as const }
  await resolveDueEnrolments(ctx, new AbortController().signal)
  await db.close()
}

test('a method that its buyer has approved is charged without asking again', async () => {
  const method = await enrolled()
  expect(method).toMatchObject({
    mode: 'redirect',
    approval_target: 'any',
    country: 'DE',
    currency: 'EUR',
    details: null,
  })
  expect(refusal(await charge(method.id))).toEqual([400, '/payment_method/id value_error.conflict'])
  const { statuses, shop } = await walk(method.approval_url, 'approved')
  expect(statuses).toEqual([303, 303])
  expect(shop.href).toBe(
    `https://shop.example.com/a?b=c&payment_method_id=${method.id}&payment_method_status=succeeded`,
  )
  expect(await get(pathOf(method))).toMatchObject({ status: 'succeeded', approval_url: null, approval_target: null })
  for (let time = 0; time < 2; time += 1) {
    expect((await charge(method.id, { intent: 'capture' })).body).toMatchObject({
      status: 'capture_succeeded',
      captured_amount: 1299,
      method: 'custom_redirect',
      instrument_type: 'redirect_token',
      payment_method: { id: method.id, mode: 'redirect' },
      payment_service: { id: service },
    })
  }
  expect(await get(pathOf(method))).toMatchObject({ usage_count: 2 })
  expect(await events(method.id)).toEqual(['payment-method.updated 2', 'payment-method.updated 3'])
})

test.each(['rejected', 'cancelled', 'expired'] as const)(
  'one that is %s has failed, and its identifier can be used again',
  async (decision) => {
    const external_identifier = `mine ${decision}`
    const method = await enrolled({ external_identifier })
    const { status, body } = await enrol({ external_identifier })
    expect([status, body['resource_id']]).toEqual([409, method.id])
    const { shop } = await walk(method.approval_url, decision)
    expect(shop.searchParams.get('payment_method_status')).toBe('failed')
    expect(await get(pathOf(method))).toMatchObject({ status: 'failed', external_identifier: null, approval_url: null })
    expect((await charge(method.id)).status).toBe(400)
    await enrolled({ external_identifier })
  },
)

test('one that nobody answers fails at the end of its time, and not before', async () => {
  const method = await enrolled()
  await janitor(29)
  expect(await get(pathOf(method))).toMatchObject({ status: 'buyer_approval_required' })
  await janitor(40)
  expect(await get(pathOf(method))).toMatchObject({ status: 'failed' })
  const returned = await follow(await press(method.approval_url, 'approved'))
  expect(returned.headers.get('location')).toContain('payment_method_status=failed')
})

test('one that is approved without coming back is found out by the janitor', async () => {
  const method = await enrolled()
  await press(method.approval_url, 'approved')
  await janitor(2)
  expect(await get(pathOf(method))).toMatchObject({ status: 'succeeded' })
})

test('one whose request died is asked about: it goes on if the provider knows it, and has failed if not', async () => {
  const [known, unknown] = [await enrolled(), await enrolled()]
  const ids = [known.id, unknown.id]
  // As a process leaves it that dies after the call, and before it.
  await api.database.query(
    "update payment_methods set status = 'processing', approval_url = null, approval_target = null where id = any($1)",
    [ids],
  )
  await api.database.query(
    'delete from sandbox_card_operations where reference = (select id::text from enrolments where payment_method_id = $1)',
    [unknown.id],
  )
  await janitor(2)
  expect(await get(pathOf(known))).toMatchObject({
    status: 'buyer_approval_required',
    approval_url: known.approval_url,
  })
  expect(await get(pathOf(unknown))).toMatchObject({ status: 'failed' })
})

test('answers and returns at once come to one end', async () => {
  for (let round = 0; round < 5; round += 1) {
    const method = await enrolled()
    const decide = (index: number) => press(method.approval_url, index % 2 === 0 ? 'approved' : 'rejected').then(follow)
    await Promise.all(Array.from({ length: 40 }, (_, index) => decide(index)))
    expect(['succeeded', 'failed']).toContain((await get(pathOf(method))).status)
    expect(await events(method.id)).toHaveLength(2)
  }
})

test('it is charged by the service that asked, and by no other', async () => {
  const own = await makeService({ payment_service_definition_id: 'mock-redirect', accepted_currencies: ['USD'] })
  const method = await enrolled({ currency: 'USD' })
  await walk(method.approval_url, 'approved')
  const paid = await charge(method.id, { currency: 'USD' })
  const [first] = await api.database.query<{ payment_service_id: string }>(
    'select payment_service_id from payment_methods where id = $1',
    [method.id],
  )
  expect(paid.body).toMatchObject({
    status: 'authorization_succeeded',
    payment_service: { id: first?.payment_service_id },
  })
  const other = first?.payment_service_id === own ? service : own
  expect(refusal(await charge(method.id, { currency: 'USD', payment_service_id: other }))).toEqual([
    400,
    '/payment_service_id value_error.unknown',
  ])
  await api.request('PUT', `/payment-services/${first?.payment_service_id}`, { body: { active: false } })
  expect((await charge(method.id, { currency: 'USD' })).body).toMatchObject({
    status: 'authorization_failed',
    error_code: 'all_attempts_skipped',
  })
  await api.request('PUT', `/payment-services/${first?.payment_service_id}`, { body: { active: true } })
})

test('it can be deleted while its buyer is asked, and the way back then leads nowhere', async () => {
  const method = await enrolled()
  expect((await api.request('DELETE', pathOf(method))).status).toBe(204)
  const returned = await follow(await press(method.approval_url, 'approved'))
  expect(returned.status).toBe(404)
})

test.each([
  ['a country that nobody takes', { country: 'SE' }, '/method value_error.unsupported'],
  ['a method that nobody takes', { method: 'ideal' }, '/method value_error.unsupported'],
  ['an address that runs', { redirect_url: 'javascript:alert(1)' }, '/redirect_url value_error.unsupported'],
  ['no way back', { redirect_url: undefined }, '/redirect_url value_error.missing'],
  [
    'a buyer that there is not',
    { buyer_external_identifier: 'nobody' },
    '/buyer_external_identifier value_error.unknown',
  ],
])('%s is refused, and nothing is asked', async (_name, change, problem) => {
  const count = async () => (await api.database.query('select from enrolments')).length
  const before = await count()
  expect(refusal(await enrol(change))).toEqual([400, problem])
  expect(await count()).toBe(before)
})

test('a payment by redirect says in what and where it pays, as its transaction does, and cannot be stored with it', async () => {
  const method = { ...wanted, currency: 'USD', country: 'US' }
  expect(refusal(await pay({ payment_method: method, store: true }))).toEqual([
    400,
    '/payment_method/country value_error.conflict',
    '/payment_method/currency value_error.conflict',
    '/store value_error.unsupported',
  ])
  const { body } = await pay({ country: undefined, payment_method: wanted })
  expect(body).toMatchObject({ status: 'buyer_approval_pending', country: 'DE', instrument_type: 'redirect' })
})
