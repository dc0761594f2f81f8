import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { balanceOf, differences, giftCard, makeGiftCardService, resolveLater } from '../../../../test/gift-cards.ts'
import { usePayments } from '../../../../test/payments.ts'
import { createConnectors } from '../../../connectors/registry.ts'
import { onFailpoint } from '../../../platform/failpoint.ts'
import { connect } from '../../../platform/postgres.ts'

/* What else happens between two steps of a payment with gift cards. */

const { api, pay, get, act, paid } = usePayments()

beforeAll(() => makeGiftCardService(api))
afterEach(async () => {
  onFailpoint(() => Promise.resolve())
  expect(await differences(api)).toEqual([])
})

/** Once, when a request comes there. */
function atPoint(point: string, work: () => Promise<void>): void {
  let isDone = false
  onFailpoint(async (name) => {
    if (isDone || name !== point) return
    isDone = true
    await work()
  })
}

/** Asks the card processor about the call that is open; one that has not come can come no more. */
async function askAboutOpenCall(): Promise<void> {
  const [open] = await api.database.query<{ id: string }>("select id from attempts where state <> 'done'")
  const url = api.database.url('florin_api')
  const db = connect({ url, applicationName: 'test', poolSize: 1, onError: () => undefined })
  const connector = createConnectors({ environment: 'sandbox', db, now: () => new Date() }).get('mock-card')
  const service = {
    merchantAccountId: 'default',
    serviceId: '',
    fields: {},
    notificationUrl: null,
    secrets: () => Promise.resolve({}),
  }
  const { signal } = new AbortController()
  expect(await connector?.sync({ service, reference: open?.id ?? '', signal })).toEqual({ result: 'never_arrived' })
  await db.close()
}

test('a reservation is let go although somebody asked about it before the call came', async () => {
  const gift = giftCard(100)
  atPoint('reverse: begun', askAboutOpenCall)
  const { body } = await pay({ amount: 2000, gift_cards: [{ ...gift, amount: 500 }] })
  expect(body).toMatchObject({ status: 'authorization_failed', error_code: 'insufficient_funds' })
  expect(await balanceOf(api, gift)).toBe(100)
  expect(await kept()).toMatchObject({ state: 'voided', captured: 0 })
})

/** What the card processor has of the latest payment. */
async function kept() {
  const [payment] = await api.database.query<{ state: string; authorized: number; captured: number }>(
    'select state, authorized, captured from sandbox_card_payments order by id desc limit 1',
  )
  return payment
}

/** The janitor of a later time comes while the request is at work. */
const janitorComes = () => resolveLater(api, 2)

describe('a request that is slower than the janitor, at the point', () => {
  test.each([
    ['authorize: intent recorded', 'authorization_failed'],
    ['authorize: provider answered', 'authorization_failed'],
    ['redeem: begun', 'authorization_failed'],
    ['redeem: one provider answered', 'authorization_failed'],
    ['redeem: providers answered', 'authorization_failed'],
    ['redeem: outcome recorded', 'authorization_failed'],
    ['capture the rest: begun', 'authorization_failed'],
    ['capture the rest: provider answered', 'capture_succeeded'],
    ['capture the rest: outcome recorded', 'capture_succeeded'],
  ])('%s, has paid everything or nothing: %s', async (point, status) => {
    const gift = giftCard(500)
    atPoint(point, janitorComes)
    const { body } = await pay({ amount: 2000, intent: 'capture', gift_cards: [{ ...gift, amount: 500 }] })
    expect(body.status).toBe(status)
    expect(await get(`/transactions/${body.id}`)).toEqual(body)
    const isPaid = status === 'capture_succeeded'
    expect((await balanceOf(api, gift)) ?? 500).toBe(isPaid ? 0 : 500)
    const payment = await kept()
    if (isPaid) expect(payment).toEqual({ state: 'completed', authorized: 1500, captured: 1500 })
    else expect(payment?.state === 'authorized' || payment?.state === 'completed').toBe(false)
  })

  test.each(['reverse: begun', 'reverse: one provider answered', 'reverse: providers answered'])(
    '%s, has given everything back once',
    async (point) => {
      const [rich, poor] = [giftCard(500), giftCard(100)]
      atPoint(point, janitorComes)
      const { body } = await pay({
        amount: 2000,
        gift_cards: [
          { ...rich, amount: 500 },
          { ...poor, amount: 300 },
        ],
      })
      expect(body).toMatchObject({ status: 'authorization_failed', error_code: 'insufficient_funds' })
      expect([await balanceOf(api, rich), await balanceOf(api, poor)]).toEqual([500, 100])
      expect(await kept()).toMatchObject({ state: 'voided' })
    },
  )

  test.each(['void: provider answered', 'reverse: begun', 'reverse: providers answered'])(
    '%s, has voided everything once',
    async (point) => {
      const gift = giftCard(500)
      const path = await paid({ amount: 2000, gift_cards: [{ ...gift, amount: 500 }] })
      atPoint(point, janitorComes)
      expect((await act(`${path}/void`)).body).toMatchObject({ status: 'authorization_voided' })
      expect(await balanceOf(api, gift)).toBe(500)
      expect(await kept()).toMatchObject({ state: 'voided' })
    },
  )

  test.each(['refund: intent recorded', 'refund: provider answered'])('%s, has refunded once', async (point) => {
    const gift = giftCard(500)
    const path = await paid({ amount: 2000, intent: 'capture', gift_cards: [{ ...gift, amount: 500 }] })
    const { gift_card_redemptions: redemptions } = await get<{ gift_card_redemptions: { id: string }[] }>(path)
    atPoint(point, janitorComes)
    const target = { target_type: 'gift-card-redemption', target_id: redemptions[0]?.id, amount: 200 }
    expect((await act(`${path}/refunds`, target)).body).toMatchObject({ status: 'succeeded', amount: 200 })
    expect(await balanceOf(api, gift)).toBe(200)
    expect(await get(path)).toMatchObject({ refunded_amount: 200 })
  })
})

test('a repeated key ends what a request began that has died, also after a janitor that died over it', async () => {
  const gift = giftCard(500)
  const body = { amount: 2000, intent: 'capture', gift_cards: [{ ...gift, amount: 500 }] }
  const key = { 'Idempotency-Key': `died-${gift.number}` }
  let repeated: Awaited<ReturnType<typeof pay>> | undefined
  atPoint('redeem: providers answered', async () => {
    // It took the call, which puts the next time off, and asked nobody.
    await api.database.query(
      "update attempts set checks = 1, next_check_at = now() + interval '5 minutes' where state <> 'done'",
    )
    await api.database.query("update idempotency_keys set lease_until = now() - interval '1 second' where key = $1", [
      key['Idempotency-Key'],
    ])
    repeated = await pay(body, key)
  })
  await pay(body, key)
  expect(repeated?.body).toMatchObject({ status: 'authorization_failed', error_code: 'service_network_error' })
  expect((await pay(body, key)).text).toBe(repeated?.text)
  expect(await balanceOf(api, gift)).toBe(500)
  expect(await kept()).toMatchObject({ state: 'voided' })
})
