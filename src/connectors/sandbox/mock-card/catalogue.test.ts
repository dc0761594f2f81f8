import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { approved, type Chosen, useCardProcessor } from '../../../../test/card-processor.ts'
import type { Outcome } from '../../payment.ts'
import type { Action } from './amounts.ts'
import { type CatalogueEntry, catalogue, pendingMs } from './catalogue.ts'

const processor = useCardProcessor()

/** The contract's table once more, as it is written there: D declined, F failed, R retriable. */
const contract = `
D 200001 canceled_payment_method; 200004 expired_authorization; 200005 expired_payment_method; 200006 incorrect_billing_address; 200007 incorrect_country R; 200008 incorrect_currency R; 200009 incorrect_cvv; 200010 incorrect_expiry_date; 200011 insufficient_funds; 200012 issuer_decline R; 200013 other_decline R; 200015 refused_transaction; 200016 service_decline R; 200017 suspected_fraud
F 200002 disputed_transaction; 200003 duplicate_transaction; 200014 requires_buyer_authentication; 200018 unavailable_payment_method; 200019 unknown_payment_method R; 200020 unsupported_transaction; 200021 unsupported_payment_method; 200022 cancelled_buyer_approval
F 300001 insufficient_service_permissions R; 300002 invalid_amount R; 300003 invalid_payment_method R; 300004 invalid_service_configuration; 300005 invalid_service_credentials R; 300006 invalid_service_response R; 300007 invalid_tax_identifier; 300008 missing_billing_address R; 300009 missing_cvv R; 300010 missing_shipping_address R; 300011 missing_tax_identifier R; 300012 refund_period_expired; 300013 service_error R; 300014 service_network_error R; 300015 service_rate_limit R
F 400001 internal_error; 400002 invalid_billing_address; 400003 invalid_operation R; 400004 invalid_request_parameters; 400005 invalid_service_request R; 400006 invalid_shipping_address; 400007 service_resource_conflict R; 400008 unexpected_state; 400009 unknown_error; 400010 unknown_service_resource R; 400011 unsupported_country R; 400012 unsupported_currency R; 400013 unrecognised_country; 400014 unrecognised_currency; 400015 unrecognised_payment_method; 400016 unrecognised_scheme; 400017 unsupported_scheme
F 500001 service_network_error; 510001 service_network_error; 520001 disputed_transaction; 520003 service_error; 520004 refund_already_satisfied
D 500002 refused_transaction; 510002 issuer_decline; 520002 issuer_decline`

const wanted = contract
  .trim()
  .split('\n')
  .flatMap((line) => {
    const outcome = line.startsWith('D') ? 'declined' : 'failed'
    return line
      .slice(2)
      .split('; ')
      .map((cell) => {
        const [amount = '', error_code = '', retriable] = cell.split(' ')
        return `${amount} ${outcome} ${error_code}${retriable === 'R' ? ' R' : ''}`
      })
  })

test('the amounts are exactly those of the contract, with their codes', () => {
  const actual = catalogue
    .filter(({ trigger }) => trigger === 'amount')
    .map(({ value, outcome, error_code, retriable }) => `${value} ${outcome} ${error_code}${retriable ? ' R' : ''}`)
  expect(actual.toSorted()).toEqual(wanted.toSorted())
  expect(actual).toHaveLength(62)
})

test('each amount applies where the contract says', () => {
  const appliesTo: Record<string, string> = { 2: 'authorize sale', 3: 'authorize sale', 4: 'authorize sale' }
  const followUps: Record<string, string> = { 50: 'sale capture', 51: 'void', 52: 'refund' }
  for (const { trigger, value, applies_to } of catalogue) {
    if (trigger !== 'amount') continue
    const digits = String(value)
    expect(applies_to.join(' '), digits).toBe(appliesTo[digits.slice(0, 1)] ?? followUps[digits.slice(0, 2)])
  }
})

test('the four codes that make a card be replaced can be had by number', () => {
  const codes = catalogue.filter(({ trigger }) => trigger === 'card_number').map(({ error_code }) => error_code)
  for (const code of ['canceled', 'expired', 'unavailable', 'unknown'])
    expect(codes).toContain(`${code}_payment_method`)
})

/** Brings a payment as far as the action needs, and does it. */
async function act(action: Action, reference: string, chosen: Chosen, amount = 1299): Promise<Outcome> {
  switch (action) {
    case 'authorize':
      return processor.authorize({ ...chosen, amount, reference })
    case 'sale':
      return processor.authorize({ ...chosen, amount, reference, intent: 'capture' })
    case 'capture':
      return processor.capture(await processor.pay({ ...chosen, amount: 600_000 }), amount, { reference })
    case 'void':
      return processor.void(await processor.pay({ ...chosen, amount }), reference)
    case 'refund':
      return processor.refund(await processor.pay({ ...chosen, amount: 600_000, intent: 'capture' }), amount, reference)
  }
}

const cases = catalogue
  .filter(({ trigger }) => trigger === 'amount' || trigger === 'card_number')
  .flatMap((entry) => entry.applies_to.map((action) => ({ ...entry, action })))

test.each(cases)('$trigger $value, $action: $outcome $error_code $forces', async (entry) => {
  const { action, trigger, value, outcome, error_code, retriable, raw_code, later } = entry
  const reference = randomUUID()
  const chosen = trigger === 'card_number' ? { number: String(value) } : {}
  const answer = await act(action, reference, chosen, trigger === 'amount' ? Number(value) : 1299)
  const refusal = { errorCode: error_code, retriable, rawCode: raw_code, rawDescription: entry.description }
  expect(answer).toMatchObject({ result: outcome, ...(error_code && refusal) })
  if (outcome === 'pending') {
    expect(await processor.sync(reference)).toMatchObject({ result: 'pending' })
    processor.wait(pendingMs)
  }
  const inTheEnd = await processor.sync(reference)
  if (later) expect(inTheEnd.result).toBe(later)
  else expect(inTheEnd).toEqual(answer)
  if (later === 'approved') expect(inTheEnd).toMatchObject({ amount: 1299 })
})

const checks = catalogue.filter(({ trigger }) => trigger === 'postal_code' || trigger === 'security_code')

/** Values that are, or contain, what the row says. */
function examplesOf({ trigger, value }: CatalogueEntry): Chosen[] {
  if (trigger === 'security_code') return [{ securityCode: value === '*' ? '123' : (value as string | null) }]
  if (value === null || value === '*') return [{ postalCode: value && '10115' }]
  return [{ postalCode: String(value) }, { postalCode: `1${value}1` }, { postalCode: `SW${value} 1AA` }]
}

test.each(checks)('$trigger $value: AVS $avs, CVV $cvv, approved or declined', async (entry) => {
  for (const chosen of examplesOf(entry)) {
    const said = { ...(entry.avs && { avs: entry.avs }), ...(entry.cvv && { cvv: entry.cvv }) }
    expect(await processor.authorize(chosen)).toMatchObject({ result: 'approved', ...said })
    expect(await processor.authorize({ ...chosen, amount: 200011 })).toMatchObject({ result: 'declined', ...said })
  }
})

test('of two pairs of digits the first in the list decides', async () => {
  expect(await processor.authorize({ postalCode: '9988' })).toMatchObject({ avs: 'partial_match_postcode' })
  expect(await processor.authorize({ postalCode: '9977' })).toMatchObject({ avs: 'no_match' })
  expect(await processor.authorize({ securityCode: '3333' })).toMatchObject({ cvv: 'match' })
})

test('skip_retry: no refusal is retriable', async () => {
  const asked = { amount: 300013, options: { skip_retry: true } }
  expect(await processor.authorize(asked)).toMatchObject({ errorCode: 'service_error', retriable: false })
  const not = { amount: 300013, options: { skip_retry: false } }
  expect(await processor.authorize(not)).toMatchObject({ errorCode: 'service_error', retriable: true })
})

test('merchant_advice_code: refusals carry it, of the named card alone when one is named', async () => {
  const advise = (advice: unknown) => processor.authorize({ amount: 200012, options: { merchant_advice_code: advice } })
  expect(await advise({ result: '03' })).toMatchObject({ merchantAdviceCode: '03' })
  expect(await advise({ result: '03', account_number: '4111111111111111' })).toMatchObject({ merchantAdviceCode: '03' })
  const others = [
    { result: '03', account_number: '4242424242424242' },
    { result: '4111111111111111' },
    { result: 3 },
    '03',
    null,
  ]
  for (const other of others) expect(await advise(other)).toMatchObject({ merchantAdviceCode: null })
  const good = await processor.authorize({ options: { merchant_advice_code: { result: '03' } } })
  expect(approved(good)).not.toHaveProperty('merchantAdviceCode')
})

test('the card chooses how the answer comes and the amount what it is: a refusal can be late, or lost', async () => {
  const late = randomUUID()
  expect(await act('authorize', late, { number: '4000000000002008' }, 200011)).toMatchObject({ result: 'pending' })
  processor.wait(pendingMs)
  expect(await processor.sync(late)).toMatchObject({ result: 'declined', errorCode: 'insufficient_funds' })
  const lost = randomUUID()
  expect(await act('authorize', lost, { number: '4000000000003014' }, 200011)).toEqual({ result: 'unknown' })
  expect(await processor.sync(lost)).toMatchObject({ result: 'declined', errorCode: 'insufficient_funds' })
  const capture = randomUUID()
  expect(await act('capture', capture, { number: '4000000000002016' }, 500002)).toMatchObject({ result: 'pending' })
  processor.wait(pendingMs)
  expect(await processor.sync(capture)).toMatchObject({ result: 'declined', errorCode: 'refused_transaction' })
})
