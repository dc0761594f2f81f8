import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { card, idOf, type Payment, preferring, usePayments } from '../../../test/payments.ts'
import { useJanitor } from '../../../test/simulator-rules.ts'
import { createRuleBook } from './operations/book.ts'
import type { SimulatorRule } from './schema.ts'

/* What a rule makes of payments, without any amount or card that forces something. */

const { api, pay, paid, get, act, makeService, settled } = usePayments()
const janitor = useJanitor(api)
const account = (id: string) => ({ 'X-Service-Merchant-Account-ID': id })

async function rule(body: object, headers: Record<string, string> = {}): Promise<string> {
  const answer = await api.request<SimulatorRule>('POST', '/simulator-rules', {
    headers,
    body: { conditions: {}, ...body },
  })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body.id
}

const usesOf = async (id: string) => (await get<SimulatorRule>(`/simulator-rules/${id}`)).remaining_uses

afterEach(async () => {
  await api.database.query('update simulator_rules set active = false')
  // Past the second that they are kept.
  await api.database.query('delete from simulator_rules')
  await rule({ outcome: {}, active: false })
  await rule({ outcome: {}, active: false }, account('other'))
})

describe('a payment', () => {
  const conditions = { action: 'authorize' }

  test.each([
    ['declined', 'authorization_declined'],
    ['failed', 'authorization_failed'],
  ])('is %s with the code of the rule', async (result, status) => {
    await rule({ conditions, outcome: { result, error_code: 'suspected_fraud', raw_response_code: 'X9' } })
    expect((await pay()).body).toMatchObject({ status, error_code: 'suspected_fraud', raw_response_code: 'X9' })
  })

  test('is approved whatever its amount and card say', async () => {
    await rule({ conditions, outcome: { result: 'approved' } })
    for (const change of [{ amount: 200_011 }, { payment_method: card('4000000000000002') }]) {
      expect((await pay(change)).body).toMatchObject({ status: 'authorization_succeeded' })
    }
  })

  test('with a number that is no test number is refused, whatever a rule says', async () => {
    const id = await rule({ conditions, outcome: { result: 'approved' }, remaining_uses: 5 })
    const payment_method = card('4539148803436467')
    expect((await pay({ payment_method })).body).toMatchObject({ error_code: 'invalid_payment_method' })
    expect(await usesOf(id)).toBe(5)
  })

  test('is pending as long as the rule says, and then what it says', async () => {
    const final = { result: 'declined', error_code: 'insufficient_funds' }
    await rule({ conditions, outcome: { result: 'pending', decide_after_seconds: 3_000, final } })
    const path = await paid()
    expect((await act(`${path}/sync`)).body).toMatchObject({ status: 'processing' })
    const [row] = await api.database.query<{ seconds: number }>(
      'select extract(epoch from next_check_at - now())::int as seconds from attempts where transaction_id = $1',
      [idOf(path)],
    )
    expect(row?.seconds).toBeGreaterThan(2_900)
    expect(await settled(path)).toMatchObject({ status: 'authorization_declined', error_code: 'insufficient_funds' })
  })

  test('is pending and approved in the end if the rule does not say', async () => {
    await rule({ conditions, outcome: { result: 'pending' } })
    expect(await settled(await paid({ intent: 'capture' }))).toMatchObject({ status: 'capture_succeeded' })
  })

  test('whose answer does not come was made, or never arrived', async () => {
    await rule({ conditions: { ...conditions, amount: 1 }, outcome: { result: 'timeout_after' } })
    await rule({ conditions: { ...conditions, amount: 2 }, outcome: { result: 'timeout_before' } })
    const [made, never] = [await paid({ amount: 1 }), await paid({ amount: 2 })]
    for (const path of [made, never]) expect(await get(path)).toMatchObject({ status: 'processing' })
    expect((await act(`${made}/sync`)).body).toMatchObject({ status: 'authorization_succeeded', authorized_amount: 1 })
    expect((await act(`${never}/sync`)).body).toMatchObject({ status: 'authorization_failed' })
  })

  test('is answered later than usual', async () => {
    await rule({ conditions, outcome: { delay_ms: 400 } })
    const start = performance.now()
    expect((await pay()).body).toMatchObject({ status: 'authorization_succeeded' })
    expect(performance.now() - start).toBeGreaterThan(390)
  })

  test('charged later is so under a rule that approves it, too', async () => {
    await rule({ conditions, outcome: { result: 'approved' } })
    const path = await paid({ amount: 500_002, intent: 'capture', async_capture: true })
    expect(await get(path)).toMatchObject({ status: 'capture_pending' })
    expect(await settled(path)).toMatchObject({ status: 'capture_succeeded' })
  })
})

describe('conditions', () => {
  test.each<[name: string, conditions: object, hit: object, missed: object]>([
    ['amount', { amount: 500 }, { amount: 500 }, { amount: 501 }],
    ['bounds', { amount_gte: 100, amount_lte: 200 }, { amount: 200 }, { amount: 201 }],
    ['currency', { currency: 'USD' }, { currency: 'USD' }, {}],
    ['country', { country: 'US' }, { country: 'US' }, {}],
    ['card', { card_number: '4242424242424242' }, { payment_method: card('4242424242424242') }, {}],
    [
      'reference',
      { external_identifier: 'order-1' },
      { external_identifier: 'order-1' },
      { external_identifier: 'order-2' },
    ],
    [
      'buyer',
      { buyer_email_address: 'ada@example.com' },
      { buyer: { billing_details: { email_address: 'ada@example.com' } } },
      { buyer: { billing_details: { email_address: 'bob@example.com' } } },
    ],
  ])('on the %s hold or do not', async (_name, conditions, hit, missed) => {
    await rule({ conditions, outcome: { result: 'declined', error_code: 'insufficient_funds' } })
    expect((await pay(hit)).body).toMatchObject({ error_code: 'insufficient_funds' })
    expect((await pay(missed)).body).toMatchObject({ status: 'authorization_succeeded' })
  })

  test('on the service let another one take the payment', async () => {
    const second = await makeService({ position: 50 })
    await rule({
      conditions: { payment_service_id: second },
      outcome: { result: 'declined', error_code: 'insufficient_funds' },
    })
    expect((await pay()).body).toMatchObject({ status: 'authorization_succeeded' })
    expect((await pay({ payment_service_id: second })).body).toMatchObject({ status: 'authorization_declined' })
  })

  test('of several rules that fit, the newest applies', async () => {
    await rule({ outcome: { result: 'declined', error_code: 'insufficient_funds' } })
    await rule({ outcome: { result: 'declined', error_code: 'suspected_fraud' } })
    expect((await pay()).body).toMatchObject({ error_code: 'suspected_fraud' })
  })
})

describe('what follows a payment', () => {
  const failing = { result: 'failed', error_code: 'service_error' }

  test('fails by a rule of its action only, as often as the rule says', async () => {
    const id = await rule({ conditions: { action: 'capture' }, outcome: failing, remaining_uses: 2 })
    const path = await paid()
    for (const status of ['failed', 'failed', 'succeeded']) {
      const { body } = await act(`${path}/capture`, undefined, preferring('transaction-capture'))
      expect(body).toMatchObject({ status, code: status === 'failed' ? 'service_error' : null })
    }
    expect(await usesOf(id)).toBe(0)
  })

  test.each([
    ['capture', '/capture', {}, { status: 'capture_pending' }, { status: 'capture_succeeded' }],
    ['void', '/void', {}, { status: 'authorization_void_pending' }, { status: 'authorization_voided' }],
    ['refund', '/refunds', { intent: 'capture' }, { refunded_amount: 0 }, { refunded_amount: 1299 }],
  ])('a %s is pending, or its answer lost, and then done', async (action, suffix, change, before, after) => {
    for (const result of ['pending', 'timeout_after']) {
      await rule({ conditions: { action }, outcome: { result }, remaining_uses: 1 })
      const path = await paid(change)
      await act(`${path}${suffix}`, suffix === '/refunds' ? {} : undefined)
      expect(await get(path)).toMatchObject(before)
      expect(await settled(path)).toMatchObject(after)
    }
  })

  test.each(['capture', 'void'])('a %s that never arrived leaves the payment authorized', async (action) => {
    await rule({ conditions: { action }, outcome: { result: 'timeout_before' } })
    const path = await paid()
    await act(`${path}/${action}`)
    expect((await act(`${path}/sync`)).body).toMatchObject({ status: 'authorization_succeeded', captured_amount: 0 })
  })

  test('a cancel is refused by a rule, or made without its answer', async () => {
    await rule({ conditions: { action: 'authorize' }, outcome: { result: 'pending' } })
    await rule({ conditions: { action: 'cancel' }, outcome: { result: 'timeout_after' }, remaining_uses: 1 })
    const lost = await paid()
    expect((await act(`${lost}/cancel`)).body).toMatchObject({ status: 'pending' })
    expect((await act(`${lost}/sync`)).body).toMatchObject({ status: 'authorization_failed', error_code: 'canceled' })
    await rule({ conditions: { action: 'cancel' }, outcome: failing })
    const refused = await paid()
    await act(`${refused}/cancel`)
    expect(await settled(refused)).toMatchObject({ status: 'authorization_succeeded' })
  })
})

test('of fifty payments at once exactly as many are hit as the rule has uses', async () => {
  const id = await rule({ outcome: { result: 'declined', error_code: 'insufficient_funds' }, remaining_uses: 17 })
  const answers = await Promise.all(Array.from({ length: 50 }, () => pay()))
  const declined = answers.filter(({ body }) => body.status === 'authorization_declined')
  expect(declined).toHaveLength(17)
  expect(answers.filter(({ body }) => body.status === 'authorization_succeeded')).toHaveLength(33)
  expect(await usesOf(id)).toBe(0)
})

test('rules of one account do not touch another', async () => {
  await makeService({}, 'other')
  await rule({ outcome: { result: 'declined', error_code: 'insufficient_funds' } })
  expect((await pay()).body).toMatchObject({ status: 'authorization_declined' })
  expect((await pay({}, account('other'))).body).toMatchObject({ status: 'authorization_succeeded' })
  expect((await pay({}, account('other'))).body).toMatchObject({ merchant_account_id: 'other' })
})

test('another process goes by what it has read for a second and no longer, this one by the change at once', async () => {
  const elsewhere = createRuleBook(janitor.db())
  expect(await elsewhere.of('default')).toEqual([])
  const id = await rule({ outcome: { result: 'declined', error_code: 'insufficient_funds' } })
  expect((await pay()).body).toMatchObject({ status: 'authorization_declined' })
  await expect
    .poll(async () => (await elsewhere.of('default')).map((kept) => kept.id), { timeout: 10_000 })
    .toEqual([id])
  await api.request('DELETE', `/simulator-rules/${id}`)
  expect((await pay()).body).toMatchObject({ status: 'authorization_succeeded' })
})

/** Everything a rule can say about how a call ends, and short. */
const verdict = fc.oneof(
  fc.constant({ result: 'approved' }),
  fc.record({
    result: fc.constantFrom('declined', 'failed'),
    error_code: fc.constantFrom('insufficient_funds', 'service_error', 'canceled_payment_method', 'invalid_amount'),
  }),
)
const outcome = fc.oneof(
  fc.constant({}),
  verdict,
  fc.constant({ result: 'timeout_before' }),
  fc.record({ result: fc.constantFrom('pending', 'timeout_after'), final: verdict }),
)
const anyRule = fc.record({
  conditions: fc.record(
    { action: fc.constantFrom('authorize', 'capture', 'void', 'refund', 'cancel') },
    { requiredKeys: [] },
  ),
  outcome,
  notifications: fc.constantFrom(null, { delivery: 'lost' }, { delivery: 'duplicated' }, { delivery: 'reordered' }),
  remaining_uses: fc.constantFrom(null, 1, 2),
})
const anyCall = fc.oneof(
  fc.record({ call: fc.constant('pay'), intent: fc.constantFrom('authorize', 'capture'), async_capture: fc.boolean() }),
  fc.record({ call: fc.constantFrom('capture', 'void', 'refunds', 'cancel', 'sync', 'elapse') }),
)

test('whatever the rules, our books and the sandbox’s agree, before and after the janitor went round', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRule, { minLength: 1, maxLength: 4 }),
      fc.array(anyCall, { minLength: 3, maxLength: 12 }),
      async (rules, calls) => {
        await api.database.query('delete from simulator_rules')
        for (const one of rules) await rule(one)
        let payment: Payment | undefined
        for (const { call, ...change } of calls) {
          if (call === 'pay' || !payment) {
            const { intent = 'authorize', async_capture = false } = change as {
              intent?: string
              async_capture?: boolean
            }
            payment = (await pay({ intent, ...(intent === 'capture' && { async_capture }) })).body
          } else if (call === 'elapse') {
            await api.database.query("update sandbox_card_operations set due_at = due_at - interval '1 hour'")
          } else {
            const { status, text } = await act(
              `/transactions/${payment.id}/${call}`,
              call === 'refunds' ? { amount: 200 } : undefined,
            )
            expect(status, text).toBeLessThan(500)
          }
        }
        expect(await janitor.differences()).toEqual([])
        await janitor.settleAll()
        expect(await janitor.differences()).toEqual([])
        const open = await api.database.query("select id from attempts where state <> 'done'")
        expect(open).toEqual([])
      },
    ),
    { numRuns: Number(process.env['RULE_RUNS'] ?? 25) },
  )
})
