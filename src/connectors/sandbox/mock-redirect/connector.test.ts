import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { approved, authorization, signal, useCardProcessor } from '../../../../test/card-processor.ts'
import type { AuthorizeCall, Outcome, PaymentConnector } from '../../payment.ts'
import { answerApproval } from '../approvals/decide.ts'
import type { Decision } from '../approvals/rules.ts'
import { createMockRedirect } from './connector.ts'

const processor = useCardProcessor()
const { paymentRow, service, wait } = processor
const minute = 60_000
let connector: PaymentConnector

beforeAll(() => {
  const pageUrl = (id: string) => `https://sandbox.example/approvals/${id}`
  connector = createMockRedirect({ db: processor.db(), now: processor.now, pageUrl })
})

const approval = () => ({
  returnUrl: 'https://florin.example/approvals/back',
  expiresAt: new Date(processor.now().getTime() + 30 * minute),
  threeDSecure: false,
})
const pay = (chosen: Partial<Omit<AuthorizeCall, 'card' | 'buyer'>> = {}) =>
  connector.authorize({ ...authorization(service, { approval: approval(), ...chosen }), card: null })
const sync = (reference: string) => connector.sync({ service, reference, signal })
const about = (paymentReference: string) => ({
  service,
  reference: randomUUID(),
  paymentReference,
  currency: 'USD',
  signal,
})
const referenceOf = (outcome: Outcome) => ('providerReference' in outcome ? (outcome.providerReference ?? '') : '')

function press(outcome: Outcome, decision: Decision) {
  if (outcome.result !== 'redirect') throw new Error(`not asked: ${outcome.result}`)
  return answerApproval({ db: processor.db(), now: processor.now }, outcome.url.split('/').at(-1) ?? '', decision)
}

/** What `enrol` answers in the end. */
async function enrol(decision: Decision, access = service) {
  const reference = randomUUID()
  const asked = await connector.enrol?.({
    service: access,
    reference,
    signal,
    currency: 'USD',
    country: 'US',
    approval: approval(),
  })
  if (!asked) throw new Error('it cannot enrol')
  expect(await sync(reference)).toEqual(asked)
  expect(await press(asked, decision)).toMatchObject({ kind: 'enrolment', amount: null })
  const outcome = await sync(reference)
  expect(await sync(reference)).toEqual(outcome)
  return outcome
}

test('every payment is approved by its buyer first, and nothing is reserved before', async () => {
  const reference = randomUUID()
  const asked = await pay({ reference })
  expect(asked).toMatchObject({ result: 'redirect', url: expect.stringContaining('/approvals/') })
  expect(asked).not.toHaveProperty('threeDSecure')
  for (const again of [await pay({ reference }), await sync(reference)]) expect(again).toEqual(asked)
  const payment = referenceOf(asked)
  expect(await paymentRow(payment)).toEqual({ state: 'pending', authorized: 0, captured: 0, refunded: 0 })
  await press(asked, 'approved')
  expect(await sync(reference)).toMatchObject({ result: 'approved', amount: 1299, avs: null, cvv: null })
  expect(await paymentRow(payment)).toMatchObject({ state: 'authorized', authorized: 1299 })
  expect(await connector.capture({ ...about(payment), amount: 1299, final: true })).toMatchObject({
    result: 'approved',
  })
  expect(await connector.refund({ ...about(payment), amount: 99, reason: null })).toMatchObject({ result: 'approved' })
  expect(await paymentRow(payment)).toEqual({ state: 'completed', authorized: 1299, captured: 1299, refunded: 99 })
})

test('a sale is charged when it is approved, also one that was to be charged later', async () => {
  const reference = randomUUID()
  const asked = await pay({ reference, intent: 'capture', asyncCapture: true })
  await press(asked, 'approved')
  expect(await sync(reference)).toMatchObject({ result: 'approved' })
  expect(await paymentRow(referenceOf(asked))).toMatchObject({ state: 'completed', captured: 1299 })
})

test.each([
  ['rejected', 'declined', 'failed_buyer_approval'],
  ['cancelled', 'failed', 'cancelled_buyer_approval'],
  ['expired', 'failed', 'incomplete_buyer_approval'],
] as const)('%s: %s with %s', async (decision, result, errorCode) => {
  const reference = randomUUID()
  const asked = await pay({ reference })
  await press(asked, decision)
  expect(await sync(reference)).toMatchObject({ result, errorCode })
  expect(await paymentRow(referenceOf(asked))).toMatchObject({ state: 'refused', authorized: 0 })
})

test('amounts choose what an approved payment comes to, as for cards', async () => {
  for (const [amount, intent, errorCode] of [
    [200011, 'authorize', 'insufficient_funds'],
    [300013, 'capture', 'service_error'],
    [500002, 'capture', 'refused_transaction'],
  ] as const) {
    const reference = randomUUID()
    const asked = await pay({ reference, amount, intent })
    await press(asked, 'approved')
    expect(await sync(reference)).toMatchObject({ errorCode })
  }
})

test('a payment can be canceled until it is decided, and voided after', async () => {
  const reference = randomUUID()
  const asked = await pay({ reference })
  expect(await connector.cancel(about(referenceOf(asked)))).toMatchObject({ result: 'approved' })
  expect(await sync(reference)).toMatchObject({ result: 'failed', errorCode: 'canceled' })
  const other = randomUUID()
  const approvedLater = await pay({ reference: other })
  await press(approvedLater, 'approved')
  await sync(other)
  expect(await connector.cancel(about(referenceOf(approvedLater)))).toMatchObject({ errorCode: 'invalid_operation' })
  expect(await connector.void(about(referenceOf(approvedLater)))).toMatchObject({ result: 'approved' })
})

test('without a way back it fails', async () => {
  expect(await pay({ approval: null })).toMatchObject({ result: 'failed', errorCode: 'missing_redirect_url' })
})

test('a buyer who has enrolled is charged without being asked, by the service that they enrolled with', async () => {
  const enrolment = approved(await enrol('approved')).providerReference
  const charge = { enrolment, approval: null, merchantInitiated: true }
  expect(approved(await pay(charge)).amount).toBe(1299)
  expect(await pay({ ...charge, amount: 200012 })).toMatchObject({ errorCode: 'issuer_decline' })
  const unknown = { result: 'failed', errorCode: 'unknown_payment_method' }
  expect(await pay({ ...charge, service: { ...service, serviceId: randomUUID() } })).toMatchObject(unknown)
  expect(await pay({ ...charge, service: { ...service, merchantAccountId: 'other' } })).toMatchObject(unknown)
  for (const forged of [randomUUID(), '', 'x', "' or true --"]) {
    expect(await pay({ ...charge, enrolment: forged })).toMatchObject(unknown)
  }
})

test.each([
  ['rejected', 'declined', 'failed_buyer_approval'],
  ['cancelled', 'failed', 'cancelled_buyer_approval'],
  ['expired', 'failed', 'incomplete_buyer_approval'],
] as const)('an enrolment that is %s: %s with %s, and nobody is charged by it', async (decision, result, errorCode) => {
  const outcome = await enrol(decision)
  expect(outcome).toMatchObject({ result, errorCode })
  const enrolment = 'providerReference' in outcome ? outcome.providerReference : null
  expect(await pay({ enrolment, approval: null })).toMatchObject({ errorCode: 'unknown_payment_method' })
})

test('an enrolment that nobody answers runs out', async () => {
  const reference = randomUUID()
  const call = { service, reference, signal, currency: 'USD', country: 'US', approval: approval() }
  expect(await connector.enrol?.(call)).toMatchObject({ result: 'redirect' })
  wait(30 * minute)
  expect(await sync(reference)).toMatchObject({ result: 'failed', errorCode: 'incomplete_buyer_approval' })
})

test('the same enrolment fifty times at once asks once', async () => {
  const call = { service, reference: randomUUID(), signal, currency: 'USD', country: 'US', approval: approval() }
  const outcomes = await Promise.all(Array.from({ length: 50 }, async () => await connector.enrol?.(call)))
  for (const outcome of outcomes) expect(outcome).toEqual({ ...outcomes[0], result: 'redirect' })
})

test('it verifies its credentials and reads its messages like the card processor', async () => {
  expect(await connector.verify({ ...service, fields: { merchant_id: 'invalid' } })).toMatchObject({ valid: false })
  expect(await connector.verify(service)).toEqual({ valid: true })
  expect(connector.definition).toMatchObject({ id: 'mock-redirect', method: 'custom_redirect', mode: 'redirect' })
  expect(connector.definition.supported_features).toMatchObject({ three_d_secure_hosted: false, refunds: true })
})
