import { beforeAll, describe, expect, test } from 'vitest'
import { follow, press, walk } from '../../../test/buyer.ts'
import { card, idOf, type Payment, refusal, usePayments } from '../../../test/payments.ts'
import { realTime } from '../../clocks.ts'
import { createConnectors, createGiftCards } from '../../connectors/registry.ts'
import { createLog } from '../../platform/log.ts'
import { connect } from '../../platform/postgres.ts'
import { resolveDue } from './operations/resolve.ts'

/* Payments whose buyer is asked: sent away, and back again, or not. */

const payments = usePayments()
const { api, pay, get, act, timeline, events } = payments
const shop = 'https://shop.example.com/return?order=7'

beforeAll(async () => {
  await api.request('PUT', `/payment-services/${payments.service()}`, { body: { three_d_secure_enabled: true } })
})

type Asked = Payment & { payment_method: { approval_url: string }; approval_expires_at: string }

const asked = async (change: object = {}, url = shop): Promise<Asked> => {
  const { status, text, body } = await pay({ payment_method: card(undefined, { redirect_url: url }), ...change })
  expect([status, body.status], text).toEqual([201, 'buyer_approval_pending'])
  return body as Asked
}
const pathOf = ({ id }: Payment) => `/transactions/${id}`

/** The janitor, at a time of its own. */
async function janitor(now: Date): Promise<void> {
  const db = connect({
    url: api.database.url('florin_worker'),
    applicationName: 'test',
    poolSize: 2,
    onError: () => undefined,
  })
  const connectors = createConnectors({ environment: 'sandbox', db, now: () => now })
  const giftCards = createGiftCards({ environment: 'sandbox', db, now: () => now })
  const log = createLog({ level: 'error', process: 'test', write: () => undefined })
  const time = { newId: realTime.newId, now: () => now }
  await resolveDue(
    { db, vault: api.vault.client(), connectors, giftCards, log, accounts: 'all', ...time },
    new AbortController().signal,
  )
  await db.close()
}
const later = (ms: number) => new Date(Date.now() + ms)
const hour = 3_600_000

describe('3-D Secure', () => {
  test('asks the buyer, takes nothing before the answer, and charges after it', async () => {
    const payment = await asked({ intent: 'capture' })
    expect(payment).toMatchObject({
      authorized_amount: 0,
      captured_amount: 0,
      intent_outcome: 'pending',
      payment_method: { approval_target: 'any' },
      buyer_approval_timedout_at: null,
    })
    const { statuses, shop } = await walk(payment.payment_method.approval_url, 'approved')
    expect(statuses).toEqual([303, 303])
    expect(shop.href).toBe(
      `https://shop.example.com/return?order=7&transaction_id=${payment.id}&transaction_status=capture_succeeded`,
    )
    expect(await get(pathOf(payment))).toMatchObject({
      status: 'capture_succeeded',
      captured_amount: 1299,
      cvv_response_code: 'match',
      payment_method: { approval_url: null, approval_target: null },
      three_d_secure: { status: 'complete', method: 'challenge', response_data: { authentication_response: 'Y' } },
    })
    expect(await events(payment.id)).toEqual(['transaction.authentication-pending 2', 'transaction.captured 3'])
    expect(await timeline(pathOf(payment))).toEqual([
      'three-d-secure-authentication-request',
      'transaction-updated-status',
      'three-d-secure-success',
      'payment-connector-response-transaction-capture-succeeded',
      'transaction-updated-status',
    ])
  })

  test.each([
    ['rejected', 'authorization_declined', 'failed_buyer_approval'],
    ['cancelled', 'authorization_failed', 'cancelled_buyer_approval'],
    ['expired', 'authorization_failed', 'incomplete_buyer_approval'],
  ] as const)('that is %s ends the payment: %s, %s', async (decision, status, error_code) => {
    const payment = await asked()
    const { shop } = await walk(payment.payment_method.approval_url, decision)
    expect(shop.searchParams.get('transaction_status')).toBe(status)
    const after = await get(pathOf(payment))
    expect(after).toMatchObject({ status, error_code, authorized_amount: 0, intent_outcome: 'failed' })
    expect(after['buyer_approval_timedout_at'] !== null).toBe(decision === 'expired')
  })

  test('asks nobody where there is no way back, no buyer, or the service does not want it', async () => {
    const here = card(undefined, { redirect_url: shop })
    expect((await pay()).body.status).toBe('authorization_succeeded')
    const { id } = await payments.store()
    const again = { payment_source: 'card_on_file', merchant_initiated: true, is_subsequent_payment: true }
    const byMerchant = await pay({ ...again, payment_method: { method: 'id', id, redirect_url: shop } })
    expect(byMerchant.body.status).toBe('authorization_succeeded')
    const without = await payments.makeService()
    expect((await pay({ payment_method: here, payment_service_id: without })).body.status).toBe(
      'authorization_succeeded',
    )
  })

  test('of a stored card and of a checkout session asks too, and the session is used up', async () => {
    const { id } = await payments.store()
    await asked({ payment_method: { method: 'id', id, redirect_url: shop } })
    const session = await api.request<{ id: string }>('POST', '/checkout/sessions', { body: {} })
    await api.request('PUT', `/checkout/sessions/${session.body.id}/fields`, { body: { payment_method: card() } })
    const method = { method: 'checkout-session', id: session.body.id, redirect_url: shop }
    const payment = await asked({ payment_method: method })
    await walk(payment.payment_method.approval_url, 'approved')
    expect(await get(pathOf(payment))).toMatchObject({ status: 'authorization_succeeded', cvv_response_code: 'match' })
    expect((await pay({ payment_method: method })).status).toBe(400)
  })

  test('with `store` keeps the card when the buyer has approved, and not when not', async () => {
    for (const [decision, status] of [
      ['approved', 'succeeded'],
      ['rejected', 'failed'],
    ] as const) {
      const payment = await asked({ store: true })
      const method = (payment.payment_method as unknown as { id: string }).id
      expect(await get(`/payment-methods/${method}`)).toMatchObject({ status: 'processing' })
      await walk(payment.payment_method.approval_url, decision)
      expect(await get(`/payment-methods/${method}`)).toMatchObject({ status })
    }
  })
})

describe('an approval', () => {
  test('that is given without coming back is found out by the janitor', async () => {
    const payment = await asked()
    expect((await press(payment.payment_method.approval_url, 'approved')).status).toBe(303)
    expect(await get(pathOf(payment))).toMatchObject({ status: 'buyer_approval_pending' })
    await janitor(later(2 * 60_000))
    expect(await get(pathOf(payment))).toMatchObject({ status: 'authorization_succeeded', authorized_amount: 1299 })
  })

  test('that nobody gives runs out at its time and not before', async () => {
    const approval_expires_at = later(2 * hour).toISOString()
    const [usual, longer] = [await asked(), await asked({ approval_expires_at })]
    expect(longer.approval_expires_at).toBe(approval_expires_at)
    await janitor(later(20 * 60_000))
    expect(await get(pathOf(usual))).toMatchObject({ status: 'buyer_approval_pending' })
    await janitor(later(31 * 60_000))
    expect(await get(pathOf(usual))).toMatchObject({
      status: 'authorization_failed',
      error_code: 'incomplete_buyer_approval',
      payment_method: { approval_url: null },
    })
    expect((await get(pathOf(usual)))['buyer_approval_timedout_at']).not.toBeNull()
    expect(await get(pathOf(longer))).toMatchObject({ status: 'buyer_approval_pending' })
    await janitor(later(2 * hour + 60_000))
    expect(await get(pathOf(longer))).toMatchObject({ error_code: 'incomplete_buyer_approval' })
  })

  test('of a payment that died before its answer was on record is asked for all the same', async () => {
    const payment = await asked()
    await api.database.query("update transactions set status = 'processing', payment_method = $2 where id = $1", [
      payment.id,
      JSON.stringify({ ...payment.payment_method, approval_url: null }),
    ])
    await api.database.query("update attempts set state = 'open' where transaction_id = $1", [payment.id])
    expect((await act(`${pathOf(payment)}/sync`)).body).toMatchObject({
      status: 'buyer_approval_pending',
      payment_method: { approval_url: payment.payment_method.approval_url },
    })
  })

  test('may be canceled: the page says so, and an answer that comes later changes nothing', async () => {
    const payment = await asked()
    expect((await act(`${pathOf(payment)}/cancel`)).body).toMatchObject({ status: 'succeeded' })
    expect(await get(pathOf(payment))).toMatchObject({ status: 'authorization_failed', error_code: 'canceled' })
    const returned = await follow(await press(payment.payment_method.approval_url, 'approved'))
    expect(returned.headers.get('location')).toContain('transaction_status=authorization_failed')
    expect(await get(pathOf(payment))).toMatchObject({ authorized_amount: 0 })
  })

  test('is answered to the same key again as it was first', async () => {
    const body = { payment_method: card(undefined, { redirect_url: shop }) }
    const key = { 'Idempotency-Key': 'approval-1' }
    const first = await pay(body, key)
    await walk((first.body as Asked).payment_method.approval_url, 'approved')
    const again = await pay(body, key)
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
  })

  test('and its opposite, cancels, returns and syncs at once come to one end, and the books say the same', async () => {
    for (let round = 0; round < 5; round += 1) {
      const payment = await asked({ intent: 'capture' })
      const url = payment.payment_method.approval_url
      const crowd = Array.from({ length: 40 }, (_, index) => [
        () => press(url, index % 2 === 0 ? 'approved' : 'rejected').then(follow),
        () => act(`${pathOf(payment)}/sync`),
        () => (index % 4 === 0 ? act(`${pathOf(payment)}/cancel`) : follow(new Response(null))),
      ])
      // Whoever has no address to follow just fails.
      await Promise.allSettled(crowd.flat().map((one) => one()))
      await act(`${pathOf(payment)}/sync`)
      const after = await get(pathOf(payment))
      const isPaid = after.status === 'capture_succeeded'
      expect(['capture_succeeded', 'authorization_declined', 'authorization_failed']).toContain(after.status)
      const [books] = await api.database.query<{ captured: number; state: string }>(
        'select captured::int, state from sandbox_card_payments where id::text = $1',
        [after['payment_service_transaction_id']],
      )
      expect([after['captured_amount'], books?.captured]).toEqual(isPaid ? [1299, 1299] : [0, 0])
      const names = (await events(payment.id)).map((event) => event.split(' ')[0])
      expect(names).toHaveLength(2)
      const captures = await get<{ items: unknown[] }>(`${pathOf(payment)}/captures`)
      expect(captures.items).toHaveLength(isPaid ? 1 : 0)
    }
  })
})

describe('the way back', () => {
  test.each(['javascript:alert(1)', 'data:text/html,x', 'JavaScript:alert(1)', 'file:///etc/passwd', 'about:blank'])(
    'may not be %s',
    async (redirect_url) => {
      const refused = await pay({ payment_method: card(undefined, { redirect_url }) })
      expect(refusal(refused)).toEqual([400, '/payment_method/redirect_url value_error.unsupported'])
    },
  )

  test('may be an app', async () => {
    const payment = await asked({}, 'shop-app://paid')
    const returned = await follow(await press(payment.payment_method.approval_url, 'approved'))
    expect(returned.headers.get('location')).toMatch(/^shop-app:\/\/paid\?transaction_id=/)
  })

  test('is believed nothing: who comes back without having decided is still awaited', async () => {
    const payment = await asked()
    const [row] = await api.database.query<{ id: string }>(
      'select id from transaction_approvals where transaction_id = $1',
      [payment.id],
    )
    const returned = await fetch(`${api.url()}/approvals/${row?.id}?transaction_status=capture_succeeded`, {
      redirect: 'manual',
    })
    expect(returned.headers.get('location')).toContain('transaction_status=buyer_approval_pending')
    expect(await get(pathOf(payment))).toMatchObject({ status: 'buyer_approval_pending' })
  })

  test.each(['/approvals/', '/enrolments/'])('from nowhere is a page that says so: %s', async (path) => {
    for (const id of [idOf(pathOf(await asked())), 'x', '00000000-0000-4000-8000-000000000000']) {
      const answer = await fetch(api.url() + path + id, { redirect: 'manual' })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    }
  })

  test('is not in the transaction, whose id is no key to it', async () => {
    const payment = await asked()
    expect(JSON.stringify(payment)).not.toContain('shop.example.com')
  })
})

test.each([
  ['now', new Date(), '/approval_expires_at value_error.range'],
  ['more than a day away', later(25 * hour), '/approval_expires_at value_error.range'],
])('an approval may not end %s', async (_when, at, problem) => {
  const body = { payment_method: card(undefined, { redirect_url: shop }), approval_expires_at: at.toISOString() }
  expect(refusal(await pay(body))).toEqual([400, problem])
})
