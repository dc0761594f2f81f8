import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { checkoutOn, places } from '../../../test/checkout.ts'
import { makeService, testCards } from '../../../test/every-state.ts'

const api = useApi()
const checkout = checkoutOn(api)
beforeAll(async () => {
  await makeService(api.request)
})

const paymentsWith = (sessionId: string) =>
  api.database.query<{ id: string; status: string; cvv: string | null }>(
    'select id, status, cvv_response_code as cvv from transactions where checkout_session_id = $1 order by id',
    [sessionId],
  )
/** The processor's own books. */
const charges = async () =>
  Number((await api.database.query<{ count: string }>('select count(*) from sandbox_card_payments'))[0]?.count)
const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } })

test('of 50 payments at once with one session, one is made: one charge, one code, no trace of the others', async () => {
  const id = await checkout.ready()
  const before = await charges()
  const answers = await Promise.all(Array.from({ length: 50 }, () => checkout.pay(id, { intent: 'capture' })))
  const paid = answers.filter(({ status }) => status === 201)
  expect(paid).toHaveLength(1)
  for (const { status, text } of answers.filter((answer) => !paid.includes(answer))) {
    expect([status, text]).toEqual([400, expect.stringMatching(/was used already/)])
  }
  expect(await paymentsWith(id)).toMatchObject([{ status: 'capture_succeeded', cvv: 'match' }])
  expect(await charges()).toBe(before + 1)
  expect(await checkout.inVault(id)).toEqual([])
  const [audited] = await api.database.query<{ count: string }>(
    `select count(*) from audit_logs where resource_type = 'transaction' and resource_id = any($1)`,
    [(await paymentsWith(id)).map((row) => row.id)],
  )
  expect(Number(audited?.count)).toBe(1)
})

test('of 50 at once that are declined, as many as there is time for are made, and at most one has the code', async () => {
  const id = await checkout.ready({}, { number: testCards.declined })
  const answers = await Promise.all(Array.from({ length: 50 }, () => checkout.pay(id)))
  const made = await paymentsWith(id)
  expect(made.length).toBe(answers.filter(({ status }) => status === 201).length)
  expect(made.length).toBeGreaterThan(0)
  expect(made.filter(({ cvv }) => cvv === 'match').length).toBe(1)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(made.length < 50 ? [201, 400] : [201]))
})

test('50 at once that would store the card store it once', async () => {
  const id = await checkout.ready()
  const count = async () =>
    Number((await api.database.query<{ count: string }>('select count(*) from payment_methods'))[0]?.count)
  const before = await count()
  await Promise.all(Array.from({ length: 50 }, () => checkout.pay(id, { store: true })))
  expect(await paymentsWith(id)).toHaveLength(1)
  expect(await count()).toBe(before + 1)
  const [left] = await api.database.query<{ count: string }>(
    `select count(*) from vault.secrets where id not in (select id from payment_methods) and field = 'number'
       and id not in (select id from checkout_sessions)`,
  )
  expect(Number(left?.count)).toBe(0)
})

test('the same key gets the same answer, though the session is used up, changed or gone by then', async () => {
  const id = await checkout.ready()
  const key = randomUUID()
  const first = await checkout.pay(id, {}, keyed(key))
  expect(first.status).toBe(201)
  const again = async () => {
    const repeated = await checkout.pay(id, {}, keyed(key))
    expect([repeated.status, repeated.text]).toEqual([201, first.text])
    expect(repeated.headers.get('idempotency-replayed')).toBe('true')
  }
  await again()
  await api.request('PUT', `/checkout/sessions/${id}`, { body: { amount: 5 } })
  await again()
  await checkout.expire(id)
  await again()
  const other = await checkout.pay(await checkout.ready(), {}, keyed(key))
  expect([other.status, places(other)]).toEqual([400, ['header Idempotency-Key value_error.conflict']])
  expect(await paymentsWith(id)).toHaveLength(1)
})

test('20 at once with one key and one session: one payment, and nobody is told that the session was used', async () => {
  const id = await checkout.ready()
  const key = randomUUID()
  const answers = await Promise.all(Array.from({ length: 20 }, () => checkout.pay(id, {}, keyed(key))))
  expect(await paymentsWith(id)).toHaveLength(1)
  for (const { status, text } of answers) {
    expect([201, 409]).toContain(status)
    expect(text).not.toContain('was used already')
  }
})

test('a refused request leaves its key free: it can be used once the fields were sent', async () => {
  const { id } = await checkout.create()
  const key = randomUUID()
  expect((await checkout.pay(id, {}, keyed(key))).status).toBe(400)
  await checkout.sendCard(id)
  const paid = await checkout.pay(id, {}, keyed(key))
  expect([paid.status, paid.headers.has('idempotency-replayed')]).toEqual([201, false])
})

test('fields sent by two browsers at once never pay with the number of one and the date of the other', async () => {
  const dates: Record<string, string> = { '1111': '12/40', '4444': '01/41' }
  for (let round = 0; round < 10; round += 1) {
    const { id } = await checkout.create()
    await Promise.all([
      checkout.sendCard(id),
      checkout.sendCard(id, { number: '5555555555554444', expiration_date: '01/41' }),
      checkout.sendCard(id),
    ])
    const paid = await checkout.pay(id)
    if (paid.status === 400) {
      expect(paid.text).toContain('send its fields again')
      continue
    }
    const { payment_method: method } = paid.body as { payment_method: { label: string; expiration_date: string } }
    expect(method.expiration_date).toBe(dates[method.label])
  }
})

test('card data that comes while a payment is made is not left behind', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = await checkout.ready()
    const [paid, sent] = await Promise.all([checkout.pay(id), checkout.sendCard(id)])
    if (paid.status === 201) {
      expect((await checkout.pay(id)).text).toContain('was used already')
      expect([400, 204]).toContain(sent.status)
      expect(await checkout.inVault(id)).toEqual([])
    } else expect(sent.status).toBe(204)
  }
})

test('a session with a stored method pays with it, with its code, and is used up', async () => {
  const buyer = await api.request('POST', '/buyers', { body: { display_name: 'Ada' } })
  const buyer_id = buyer.body['id']
  const stored = await api.request('POST', '/payment-methods', {
    body: { method: 'card', number: '5555555555554444', expiration_date: '11/40', buyer_id },
  })
  const methodId = String(stored.body['id'])
  const { id } = await checkout.create()
  await checkout.fields(id, { payment_method: { method: 'id', id: methodId, security_code: '123' } })
  const wanted = await checkout.pay(id, { store: true })
  expect(places(wanted)).toEqual(['body /store value_error.conflict'])
  const paid = await checkout.pay(id, { payment_source: 'card_on_file', is_subsequent_payment: true })
  expect(paid.body).toMatchObject({
    status: 'authorization_succeeded',
    cvv_response_code: 'match',
    checkout_session_id: id,
    payment_method: { id: methodId, label: '4444' },
    buyer: { id: buyer_id },
  })
  expect((await checkout.pay(id)).text).toContain('was used already')
  expect((await api.request('GET', `/payment-methods/${methodId}`)).body).toMatchObject({ usage_count: 1 })
  expect(await api.vault.client().readCard({ merchantAccountId: 'default', id: methodId })).toBe('5555555555554444')
})

test('a stored method that is deleted after it was chosen is refused', async () => {
  const body = { method: 'card', number: '5555555555554444', expiration_date: '11/40' }
  const methodId = String((await api.request('POST', '/payment-methods', { body })).body['id'])
  const { id } = await checkout.create()
  await checkout.fields(id, { payment_method: { method: 'id', id: methodId } })
  await api.request('DELETE', `/payment-methods/${methodId}`)
  const refused = await checkout.pay(id)
  expect([refused.status, places(refused)]).toEqual([400, ['body /payment_method/id value_error.unknown']])
})
