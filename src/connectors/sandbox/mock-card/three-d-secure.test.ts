import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { approved, type Chosen, useCardProcessor } from '../../../../test/card-processor.ts'
import { authenticationNumbers, type Authentication } from '../../../cards/test-numbers.ts'
import type { Outcome } from '../../payment.ts'
import { answerApproval, openApproval } from '../approvals/decide.ts'
import { type Decision, decisions } from '../approvals/rules.ts'
import { decideApproval } from '../approvals/store.ts'
import { pendingMs } from './catalogue.ts'
import type { Scenario } from './three-d-secure.ts'

const processor = useCardProcessor()
const { cancel, capture, paymentRow, refund, scenarios, sync, wait } = processor
afterEach(() => scenarios.splice(0))

const minute = 60_000
const returnUrl = 'https://florin.example/approvals/back'
const numberThat = (authentication: Authentication) =>
  authenticationNumbers.find((entry) => entry.authentication === authentication)?.number ?? ''
const options = () => ({ db: processor.db(), now: processor.now })

/** A payment that 3-D Secure is wanted for. */
function pay(chosen: Chosen = {}, threeDSecure = true): Promise<Outcome> {
  const expiresAt = new Date(processor.now().getTime() + 30 * minute)
  return processor.authorize({ approval: { returnUrl, expiresAt, threeDSecure }, ...chosen })
}

function urlOf(outcome: Outcome | { result: 'never_arrived' }): string {
  if (outcome.result !== 'redirect') throw new Error(`not asked: ${outcome.result}`)
  return outcome.url
}

/** A challenge, its page, and how to answer it. */
async function challenged(chosen: Chosen = {}) {
  const reference = randomUUID()
  const outcome = await pay({ ...chosen, reference })
  const url = urlOf(outcome)
  const id = url.slice(url.lastIndexOf('/') + 1)
  const payment = 'providerReference' in outcome ? (outcome.providerReference ?? '') : ''
  const press = (decision: Decision) => answerApproval(options(), id, decision)
  const statusNow = async () => (await openApproval(options(), id))?.status
  return { reference, outcome, url, id, payment, press, statusNow }
}

const succeeded = (method: string, said: string) => ({
  version: '2.2.0',
  status: 'complete',
  method,
  response_data: {
    version: '2.2.0',
    authentication_response: said === 'A' ? 'A' : 'Y',
    directory_response: said,
    directory_transaction_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    cavv: expect.stringMatching(/^[A-Za-z0-9+/]{27}=$/),
    eci: said === 'A' ? '06' : '05',
  },
})
const failed = (status: string, method: string | null) => ({ version: '2.2.0', status, method, response_data: null })

test('without a challenge: authenticated or attempted cards are charged, and the proof depends on the reference alone', async () => {
  for (const said of ['Y', 'A'] as const) {
    const reference = randomUUID()
    const first = await pay({ number: numberThat(said), reference })
    expect(first).toMatchObject({ result: 'approved', threeDSecure: succeeded('frictionless', said) })
    expect(await pay({ number: numberThat(said), reference })).toEqual(first)
    expect(await sync(reference)).toEqual(first)
  }
})

test('a card of another scheme has the indicators of its scheme', async () => {
  const mastercard = { number: numberThat('Y'), scheme: 'mastercard' }
  expect(await pay(mastercard)).toMatchObject({ threeDSecure: { response_data: { eci: '02' } } })
  expect(await pay({ ...mastercard, number: numberThat('A') })).toMatchObject({
    threeDSecure: { response_data: { eci: '01' } },
  })
})

test('not authenticated or rejected: declined before the issuer is asked for money', async () => {
  for (const said of ['N', 'R'] as const) {
    for (const intent of ['authorize', 'capture'] as const) {
      const outcome = await pay({ number: numberThat(said), intent, asyncCapture: intent === 'capture' })
      expect(outcome).toMatchObject({
        result: 'declined',
        errorCode: 'failed_buyer_approval',
        retriable: false,
        threeDSecure: failed('declined', 'frictionless'),
      })
      const payment = 'providerReference' in outcome ? (outcome.providerReference ?? '') : ''
      expect(await paymentRow(payment)).toEqual({ state: 'refused', authorized: 0, captured: 0, refunded: 0 })
    }
  }
})

test('unavailable: the payment goes on without authentication', async () => {
  expect(await pay({ number: numberThat('U') })).toMatchObject({
    result: 'approved',
    threeDSecure: failed('error', null),
  })
  expect(await pay({ number: numberThat('U'), amount: 200011 })).toMatchObject({
    result: 'declined',
    errorCode: 'insufficient_funds',
    threeDSecure: failed('error', null),
  })
})

test('what refuses a payment refuses it after a successful authentication too', async () => {
  expect(await pay({ number: numberThat('Y'), amount: 200011 })).toMatchObject({
    errorCode: 'insufficient_funds',
    threeDSecure: { status: 'complete' },
  })
})

test('a sale that is charged later is so with an authenticated card', async () => {
  const reference = randomUUID()
  const sale = { number: numberThat('Y'), intent: 'capture', asyncCapture: true, reference } as const
  expect(await pay(sale)).toMatchObject({ result: 'pending', isAuthorized: true })
  wait(pendingMs)
  expect(await sync(reference)).toMatchObject({ result: 'approved', threeDSecure: { status: 'complete' } })
})

test('any other card is challenged: nothing is reserved and the same page is named until somebody decides', async () => {
  for (const number of [numberThat('C'), '4111111111111111', '4000000000000002']) {
    const { reference, outcome, url, payment, statusNow } = await challenged({ number })
    expect(url).toMatch(/^https:\/\/sandbox\.example\/approvals\/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$/)
    expect(outcome).toMatchObject({ threeDSecure: failed(null as never, 'challenge') })
    for (const again of [await sync(reference), await pay({ number, reference })]) expect(again).toEqual(outcome)
    expect(await paymentRow(payment)).toEqual({ state: 'pending', authorized: 0, captured: 0, refunded: 0 })
    expect(await capture(payment, 1)).toMatchObject({ errorCode: 'invalid_operation' })
    expect(await statusNow()).toBe('open')
  }
})

test('approved: what the payment would have been without the question, with its answers about address and code', async () => {
  const asked = { postalCode: '88001', securityCode: '333', amount: 1000 }
  const authorized = await challenged(asked)
  await authorized.press('approved')
  expect(await authorized.statusNow()).toBe('approved')
  const outcome = await sync(authorized.reference)
  expect(outcome).toMatchObject({
    result: 'approved',
    amount: 1000,
    avs: 'partial_match_postcode',
    cvv: 'no_match',
    authorizationCode: expect.stringMatching(/^\d{6}$/),
    threeDSecure: succeeded('challenge', 'C'),
  })
  expect(await sync(authorized.reference)).toEqual(outcome)
  expect(await pay({ ...asked, reference: authorized.reference })).toEqual(outcome)
  expect(await paymentRow(authorized.payment)).toMatchObject({ state: 'authorized', authorized: 1000, captured: 0 })
  expect(await capture(authorized.payment, 1000, { final: true })).toMatchObject({ result: 'approved' })

  const sold = await challenged({ intent: 'capture', asyncCapture: true })
  await sold.press('approved')
  expect(await sync(sold.reference)).toMatchObject({ result: 'approved', amount: 1299 })
  expect(await paymentRow(sold.payment)).toMatchObject({ state: 'completed', authorized: 1299, captured: 1299 })
  expect(await refund(sold.payment, 1299)).toMatchObject({ result: 'approved' })
})

test('approved, and then refused: by the amount or by the card', async () => {
  for (const chosen of [{ amount: 200011 }, { number: '4000000000009995' }]) {
    const { reference, press, payment } = await challenged(chosen)
    await press('approved')
    expect(await sync(reference)).toMatchObject({
      result: 'declined',
      errorCode: 'insufficient_funds',
      threeDSecure: { status: 'complete', method: 'challenge' },
    })
    expect(await paymentRow(payment)).toMatchObject({ state: 'refused', authorized: 0 })
  }
})

test('approved, with a card whose answers are late or lost', async () => {
  const late = await challenged({ number: '4000000000002008' })
  await late.press('approved')
  expect(await sync(late.reference)).toMatchObject({ result: 'pending', threeDSecure: { method: 'challenge' } })
  wait(pendingMs)
  expect(await sync(late.reference)).toMatchObject({ result: 'approved', threeDSecure: { status: 'complete' } })
  const reference = randomUUID()
  expect(await pay({ number: '4000000000003014', reference })).toEqual({ result: 'unknown' })
  expect(await sync(reference)).toMatchObject({ result: 'redirect' })
  const never = randomUUID()
  expect(await pay({ number: '4000000000003006', reference: never })).toEqual({ result: 'unknown' })
  expect(await sync(never)).toEqual({ result: 'never_arrived' })
})

test.each([
  ['rejected', 'declined', 'failed_buyer_approval', 'declined'],
  ['cancelled', 'failed', 'cancelled_buyer_approval', 'cancelled'],
  ['expired', 'failed', 'incomplete_buyer_approval', 'error'],
] as const)('%s: %s with %s, and nothing is reserved', async (decision, result, errorCode, status) => {
  const { reference, press, payment, statusNow } = await challenged()
  await press(decision)
  expect(await statusNow()).toBe(decision)
  const outcome = await sync(reference)
  expect(outcome).toMatchObject({ result, errorCode, retriable: false, threeDSecure: failed(status, 'challenge') })
  for (const other of ['approved', 'rejected'] as const) await press(other)
  expect(await sync(reference)).toEqual(outcome)
  expect(await statusNow()).toBe(decision)
  expect(await paymentRow(payment)).toEqual({ state: 'refused', authorized: 0, captured: 0, refunded: 0 })
})

test('nobody decides: it runs out at its time and not before, and an answer after that changes nothing', async () => {
  const { reference, press, statusNow } = await challenged()
  wait(30 * minute - 1)
  expect(await sync(reference)).toMatchObject({ result: 'redirect' })
  expect(await statusNow()).toBe('open')
  wait(1)
  expect(await statusNow()).toBe('expired')
  await press('approved')
  expect(await sync(reference)).toMatchObject({ result: 'failed', errorCode: 'incomplete_buyer_approval' })
  await press('approved')
  expect(await sync(reference)).toMatchObject({ result: 'failed', errorCode: 'incomplete_buyer_approval' })
})

test('approved in time and asked about after it: approved', async () => {
  const { reference, press } = await challenged()
  wait(30 * minute - 1)
  await press('approved')
  wait(30 * minute)
  expect(approved(await sync(reference)).amount).toBe(1299)
})

test('a payment that waits for its buyer can be canceled: the page says so and takes no answer', async () => {
  const { reference, press, payment, statusNow } = await challenged()
  expect(await cancel(payment)).toMatchObject({ result: 'approved' })
  expect(await statusNow()).toBe('withdrawn')
  await press('approved')
  expect(await sync(reference)).toMatchObject({ result: 'failed', errorCode: 'canceled' })
  expect(await statusNow()).toBe('withdrawn')
  expect(await paymentRow(payment)).toMatchObject({ state: 'canceled', authorized: 0 })
})

test('canceled after the approval and before anybody asked: canceled, and the books say the same', async () => {
  const { reference, press, payment } = await challenged()
  await press('approved')
  expect(await cancel(payment)).toMatchObject({ result: 'approved' })
  expect(await sync(reference)).toMatchObject({ result: 'failed', errorCode: 'canceled' })
  expect(await paymentRow(payment)).toMatchObject({ state: 'canceled', authorized: 0 })
})

test('a hundred answers at once: exactly one decides, and the payment is what it says', async () => {
  const codes = {
    rejected: 'failed_buyer_approval',
    cancelled: 'cancelled_buyer_approval',
    expired: 'incomplete_buyer_approval',
  }
  for (let round = 0; round < 5; round += 1) {
    const { reference, id, payment, statusNow } = await challenged()
    const hundred = Array.from(
      { length: 100 },
      (_, index) => decisions[(index + round) % decisions.length] ?? 'approved',
    )
    const row = { merchant_account_id: 'default', id }
    const took = await Promise.all(hundred.map((one) => decideApproval(processor.db(), row, one, processor.now())))
    const deciding = hundred.filter((_, index) => took[index])
    expect(deciding).toHaveLength(1)
    const status = await statusNow()
    expect(status).toBe(deciding[0])
    const outcome = await sync(reference)
    if (status === 'approved') expect(outcome).toMatchObject({ result: 'approved' })
    else expect(outcome).toMatchObject({ errorCode: codes[status as keyof typeof codes] })
    expect((await paymentRow(payment))?.state).toBe(status === 'approved' ? 'authorized' : 'refused')
  }
})

test('an answer, a cancel and the question what became of it at the same moment: all say the same in the end', async () => {
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { reference, press, payment, statusNow } = await challenged()
      const [canceled] = await Promise.all([cancel(payment), press('approved'), sync(reference)])
      const outcome = await sync(reference)
      const isCanceled = canceled.result === 'approved'
      expect(outcome).toMatchObject(isCanceled ? { errorCode: 'canceled' } : { result: 'approved' })
      expect((await paymentRow(payment))?.state).toBe(isCanceled ? 'canceled' : 'authorized')
      expect(await statusNow()).toBe(isCanceled ? 'withdrawn' : 'approved')
    }),
  )
})

test('the same call fifty times at once asks once', async () => {
  const reference = randomUUID()
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => pay({ reference })))
  expect(new Set(outcomes.map(urlOf)).size).toBe(1)
  const rows = await processor.database.query('select id from sandbox_approvals where reference = $1', [reference])
  expect(rows).toHaveLength(1)
})

test('a buyer who cannot be asked: the card that must be challenged fails, the others are not authenticated', async () => {
  expect(await processor.authorize({ number: numberThat('C') })).toMatchObject({
    result: 'failed',
    errorCode: 'missing_redirect_url',
    retriable: false,
  })
  for (const said of ['Y', 'A', 'N', 'R', 'U'] as const) {
    const outcome = await processor.authorize({ number: numberThat(said) })
    expect(approved(outcome)).not.toHaveProperty('threeDSecure')
  }
  expect(approved(await pay({ number: numberThat('N') }, false))).not.toHaveProperty('threeDSecure')
  expect(await pay({ number: numberThat('C') }, false)).toMatchObject({ result: 'redirect' })
})

test('a payment that the merchant makes alone is never authenticated', async () => {
  for (const said of ['Y', 'N', 'C'] as const) {
    const outcome = await pay({ number: numberThat(said), merchantInitiated: true })
    expect(approved(outcome)).not.toHaveProperty('threeDSecure')
  }
})

test('a card that is expired, or no test card, is refused before anybody is asked', async () => {
  expect(await pay({ expirationDate: '04/30' })).toMatchObject({ errorCode: 'expired_payment_method' })
  expect(await pay({ number: '4111111111111129' })).toMatchObject({ errorCode: 'invalid_payment_method' })
})

const scenario = (
  conditions: Scenario['conditions'],
  status: Scenario['outcome']['authentication']['transaction_status'],
  result?: 'Y' | 'N' | 'timeout',
): Scenario => ({
  conditions,
  outcome: {
    authentication: { transaction_status: status },
    ...(result && { result: { transaction_status: result } }),
  },
})

test('a scenario decides before the card does, whose conditions all hold, and the first of them', async () => {
  const buyer = { firstName: 'Ada', lastName: 'Lovelace', emailAddress: 'ada@example.com' }
  const conditions = {
    first_name: 'Ada',
    last_name: 'Lovelace',
    email_address: 'ada@example.com',
    amount: 1299,
    external_identifier: 'order-1',
    card_number: numberThat('N'),
  }
  const fitting = { buyer, externalIdentifier: 'order-1', number: numberThat('N') }
  scenarios.push(scenario(conditions, 'Y'), scenario({ amount: 1299 }, 'R'), scenario({ amount: null }, 'A'))
  expect(await pay(fitting)).toMatchObject({ threeDSecure: succeeded('frictionless', 'Y') })
  const others = [
    { buyer: { ...buyer, firstName: 'ada' } },
    { buyer: { ...buyer, lastName: null } },
    { buyer: { ...buyer, emailAddress: 'ada@example.org' } },
    { externalIdentifier: null },
    { number: numberThat('Y') },
  ]
  for (const other of others) {
    expect(await pay({ ...fitting, ...other })).toMatchObject({ errorCode: 'failed_buyer_approval' })
  }
  expect(await pay({ ...fitting, amount: 1300 })).toMatchObject({ threeDSecure: succeeded('frictionless', 'A') })
})

test('a scenario says the version, and that the server does not answer: then the payment fails', async () => {
  scenarios.push({ conditions: {}, outcome: { version: '2.1.0', authentication: { transaction_status: 'Y' } } })
  expect(await pay()).toMatchObject({ threeDSecure: { version: '2.1.0', response_data: { version: '2.1.0' } } })
  scenarios.unshift(scenario({}, 'timeout'))
  expect(await pay()).toMatchObject({
    result: 'failed',
    errorCode: 'failed_buyer_approval',
    threeDSecure: failed('error', null),
  })
})

test.each([
  ['Y', 'approved', { result: 'approved', threeDSecure: { status: 'complete' } }],
  ['N', 'rejected', { result: 'declined', errorCode: 'failed_buyer_approval' }],
  ['timeout', 'expired', { result: 'failed', errorCode: 'incomplete_buyer_approval' }],
] as const)('a challenge that a scenario ends with %s is %s, whatever is pressed', async (result, status, expected) => {
  scenarios.push(scenario({}, 'C', result))
  for (const pressed of ['approved', 'rejected', 'cancelled', 'expired'] as const) {
    const { reference, press, statusNow } = await challenged({ number: numberThat('Y') })
    await press(pressed)
    expect(await statusNow()).toBe(status)
    expect(await sync(reference)).toMatchObject(expected)
  }
})

test('a forged or foreign id finds nothing', async () => {
  for (const id of [randomUUID(), '', 'x', "' or true --", '../approvals']) {
    expect(await openApproval(options(), id)).toBeUndefined()
    expect(await answerApproval(options(), id, 'approved')).toBeUndefined()
  }
})

test('of a card the question keeps four digits, and no security code', async () => {
  const { id } = await challenged({ number: '5555555555554444', securityCode: '987' })
  const [row] = await processor.database.query<{ text: string }>(
    'select entry::text as text from sandbox_approvals as entry where id = $1',
    [id],
  )
  expect(row?.text).toContain('4444')
  expect(row?.text).not.toContain('55554444')
  expect(row?.text).not.toContain('987"')
})
