import { beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { checkoutOn, places } from '../../../test/checkout.ts'
import { makeService, testCards } from '../../../test/every-state.ts'
import { connect } from '../../platform/postgres.ts'
import { type Difference, verifyTransactions } from '../transactions/operations/verify.ts'

const api = useApi()
const checkout = checkoutOn(api)
let serviceId: string
beforeAll(async () => {
  serviceId = await makeService(api.request)
})

const paymentsWith = (sessionId: string) =>
  api.database.query<{ status: string; cvv: string | null }>(
    'select status, cvv_response_code as cvv from transactions where checkout_session_id = $1 order by id',
    [sessionId],
  )

test('a payment with a session pays with the card that was sent: number, date, code and postal code', async () => {
  const id = await checkout.ready({}, { security_code: '123' }, { postal_code: '88000' })
  const paid = await checkout.pay(id)
  expect([paid.status, paid.text]).toEqual([201, expect.any(String)])
  expect(paid.body).toMatchObject({
    status: 'authorization_succeeded',
    checkout_session_id: id,
    cvv_response_code: 'match',
    avs_response_code: 'partial_match_postcode',
    payment_method: { method: 'card', mode: 'card', label: '1111', expiration_date: '12/40', id: null },
  })
  const read = await api.request('GET', `/transactions/${String(paid.body['id'])}`)
  expect(read.text).toBe(paid.text)
  const list = await api.request<{ items: object[] }>('GET', '/transactions?limit=1')
  expect(list.body.items[0]).toMatchObject({ checkout_session_id: id })
})

test('an approved payment uses the session up: card and code are gone, a second payment and new fields are refused', async () => {
  const id = await checkout.ready()
  expect((await checkout.pay(id)).status).toBe(201)
  expect(await checkout.inVault(id)).toEqual([])
  const second = await checkout.pay(id)
  expect([second.status, places(second)]).toEqual([400, ['body /payment_method/id value_error.conflict']])
  expect(second.text).toContain('was used already')
  const fields = await checkout.sendCard(id)
  expect([fields.status, places(fields)]).toEqual([400, ['path session_id value_error.conflict']])
  expect(await checkout.inVault(id)).toEqual([])
  expect(await paymentsWith(id)).toHaveLength(1)
})

test.each(['pending', 'lost'] as const)('a payment that is %s uses it up as well', async (name) => {
  const id = await checkout.ready({}, { number: testCards[name] })
  expect((await checkout.pay(id)).body).toMatchObject({ status: 'processing' })
  expect(await checkout.inVault(id)).toEqual([])
  expect((await checkout.pay(id)).text).toContain('was used already')
})

test('after a decline the session can be paid with again, without the code, and with other card data', async () => {
  const id = await checkout.ready({}, { number: testCards.declined })
  const declined = { status: 'authorization_declined', checkout_session_id: id }
  expect((await checkout.pay(id)).body).toMatchObject({ ...declined, cvv_response_code: 'match' })
  expect(await checkout.inVault(id)).toEqual(['number'])
  expect((await checkout.pay(id)).body).toMatchObject({ ...declined, cvv_response_code: 'not_provided' })
  expect((await checkout.sendCard(id)).status).toBe(204)
  expect((await checkout.pay(id)).body).toMatchObject({
    status: 'authorization_succeeded',
    cvv_response_code: 'match',
  })
  expect((await checkout.pay(id)).text).toContain('was used already')
})

test('a payment that nobody takes leaves the session as it was', async () => {
  const id = await checkout.ready()
  expect((await checkout.pay(id, { currency: 'GBP' })).body).toMatchObject({
    status: 'authorization_failed',
    error_code: 'all_attempts_skipped',
    checkout_session_id: id,
  })
  expect(await checkout.inVault(id)).toEqual(['number', 'waiting security_code'])
  expect((await checkout.pay(id)).body).toMatchObject({ status: 'authorization_succeeded', cvv_response_code: 'match' })
})

test('a payment that was lost and turns out to have failed frees the session; its fields must be sent again', async () => {
  const id = await checkout.ready({}, { number: testCards.neverArrives })
  const paid = await checkout.pay(id)
  expect(paid.body).toMatchObject({ status: 'processing' })
  const synced = await api.request('POST', `/transactions/${String(paid.body['id'])}/sync`)
  expect(synced.body).toMatchObject({ status: 'authorization_failed' })
  const refused = await checkout.pay(id)
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('send its fields again')])
  await checkout.sendCard(id)
  expect((await checkout.pay(id)).body).toMatchObject({ status: 'authorization_succeeded' })
})

test('a session without card data is refused, and its fields are named', async () => {
  const { id } = await checkout.create()
  const refused = await checkout.pay(id)
  expect([refused.status, places(refused)]).toEqual([400, ['body /payment_method/id value_error.conflict']])
  expect(refused.body).toMatchObject({ code: 'bad_request', message: 'Request failed validation' })
  expect(refused.text).toContain('have not been sent yet')
})

test('when the code is gone the payment goes on without it', async () => {
  const id = await checkout.ready()
  await api.database.query('delete from vault.waiting')
  expect((await checkout.pay(id)).body).toMatchObject({
    status: 'authorization_succeeded',
    cvv_response_code: 'not_provided',
  })
})

test('a request that is refused costs the session nothing, not even its code', async () => {
  const id = await checkout.ready()
  const refused = await checkout.pay(id, { buyer_id: '01900000-0000-7000-8000-000000000000' })
  expect([refused.status, places(refused)]).toEqual([400, ['body /buyer_id value_error.unknown']])
  expect((await checkout.pay(id)).body).toMatchObject({ cvv_response_code: 'match' })
})

test('amount and currency must be those of the session, if it has any; both are named at once', async () => {
  const id = await checkout.ready({ amount: 1299, currency: 'EUR' })
  const refused = await checkout.pay(id, { amount: 1298, currency: 'USD' })
  expect([refused.status, places(refused)]).toEqual([
    400,
    ['body /amount value_error.conflict', 'body /currency value_error.conflict'],
  ])
  expect((await checkout.pay(id)).status).toBe(201)
})

const said = {
  country: 'US',
  intent: 'capture',
  payment_source: 'card_on_file',
  merchant_initiated: false,
  is_subsequent_payment: true,
  metadata: { order: '4711' },
  cart_items: [{ name: 'Boots', quantity: 1, unit_amount: 1299 }],
  airline: { booking_code: 'X1' },
  buyer: { external_identifier: 'guest-1', billing_details: { address: { postal_code: '99000' } } },
}

test('what the request leaves out, the session says', async () => {
  const id = await checkout.ready({ ...said, payment_service_id: serviceId }, {}, { postal_code: '77000' })
  const paid = await checkout.pay(id, { country: undefined })
  const { buyer: _buyer, ...shown } = said
  expect(paid.body).toMatchObject({
    ...shown,
    status: 'capture_succeeded',
    payment_service: { id: serviceId },
    buyer: { external_identifier: 'guest-1', billing_details: { address: { postal_code: '99000' } } },
    // The buyer's own postal code counts before that of the fields.
    avs_response_code: 'partial_match_address',
  })
})

test('what the request says counts before the session', async () => {
  const id = await checkout.ready(said)
  const own = {
    country: 'DE',
    intent: 'authorize',
    payment_source: 'ecommerce',
    is_subsequent_payment: false,
    metadata: { other: 'x' },
    cart_items: [],
    buyer: { external_identifier: 'guest-2' },
  }
  expect((await checkout.pay(id, own)).body).toMatchObject({ ...own, status: 'authorization_succeeded' })
})

test('a payment with an unknown service of the session says so', async () => {
  const id = await checkout.ready({ payment_service_id: '01900000-0000-7000-8000-000000000000' })
  expect(places(await checkout.pay(id))).toEqual(['body /payment_service_id value_error.unknown'])
})

test('a buyer named in the payment is the buyer, in place of the guest of the session', async () => {
  const made = await api.request('POST', '/buyers', { body: { external_identifier: 'buyer-of-session' } })
  const buyer_id = String(made.body['id'])
  for (const [change, method] of [
    [{ buyer_id }, {}],
    [{ buyer_external_identifier: 'buyer-of-session' }, {}],
    [{}, { buyer_id }],
    [{}, { buyer_external_identifier: 'buyer-of-session' }],
  ]) {
    const id = await checkout.ready({ buyer: { display_name: 'Guest' } })
    expect((await checkout.pay(id, change, { method: method ?? {} })).body).toMatchObject({ buyer: { id: buyer_id } })
  }
  const id = await checkout.ready()
  const twice = await checkout.pay(id, { buyer_id }, { method: { buyer_id } })
  expect(places(twice)).toEqual([
    'body /buyer_id value_error.conflict',
    'body /payment_method/buyer_id value_error.conflict',
  ])
})

test('with `store` the card of the session becomes a payment method, which pays again', async () => {
  const id = await checkout.ready()
  const paid = await checkout.pay(id, { store: true }, { method: { external_identifier: 'from-session' } })
  const { payment_method: method } = paid.body as { payment_method: { id: string } }
  const stored = await api.request('GET', `/payment-methods/${method.id}`)
  expect(stored.body).toMatchObject({ status: 'succeeded', label: '1111', external_identifier: 'from-session' })
  expect(await checkout.inVault(id)).toEqual([])
  const again = { payment_method: { method: 'id', id: method.id } }
  expect((await checkout.pay(id, again)).body).toMatchObject({ status: 'authorization_succeeded' })
})

test('the books hold: `florin verify` finds nothing, and a session that was written over', async () => {
  const id = await checkout.ready()
  const paid = await checkout.pay(id)
  const url = api.database.url('florin_worker')
  const db = connect({ url, applicationName: 'test', poolSize: 1, onError: () => undefined })
  const verify = async () => {
    const found: Difference[] = []
    await verifyTransactions({ db, accounts: 'all' }, { onDifference: (one) => void found.push(one), batch: 100 })
    return found.map(({ what }) => what)
  }
  expect(await verify()).toEqual([])
  await api.database.query('update transactions set checkout_session_id = null where id = $1', [paid.body['id']])
  expect(await verify()).toEqual(['summary.checkout_session_id', 'found by checkout_session_id'])
  await db.close()
})
