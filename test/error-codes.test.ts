import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue, type CatalogueEntry } from '../src/connectors/sandbox/mock-card/catalogue.ts'
import { card, type Payment, preferring, usePayments } from './payments.ts'

/* Everything the sandbox can be made to answer is sent through the API, and seen there with its own code. */

const { paid, get, act, settled } = usePayments()

/** Status and code of what was asked for, at once and after asking again later. */
interface Seen {
  status: unknown
  code: unknown
}
type Action = CatalogueEntry['applies_to'][number]

const plain = 600_000
const of = (body: Record<string, unknown>): Seen => ({
  status: body['status'],
  code: body['error_code'] ?? body['code'] ?? null,
})

/** How each call is made so that an amount or a number decides about it, and how to look at it afterwards. */
const calls: Record<
  Action,
  (amount: number, number: string | undefined) => Promise<[first: Seen, path: string, look: () => Promise<Seen>]>
> = {
  authorize: (amount, number) => payment({ amount, payment_method: card(number) }),
  sale: (amount, number) => payment({ amount, payment_method: card(number), intent: 'capture' }),
  async capture(amount, number) {
    const path = await paid({ amount: plain, payment_method: card(number) })
    const { body } = await act(`${path}/capture`, { amount }, preferring('transaction-capture'))
    return [of(body), path, async () => of(await get(`${path}/captures/${String(body['capture_id'])}`))]
  },
  async void(amount, number) {
    const path = await paid({ amount, payment_method: card(number) })
    const { body } = await act(`${path}/void`, undefined, preferring('transaction-void'))
    return [of(body), path, async () => of(await get(path))]
  },
  async refund(amount, number) {
    const path = await paid({ amount: plain, payment_method: card(number), intent: 'capture' })
    const { body } = await act(`${path}/refunds`, { amount })
    return [of(body), path, async () => of(await get(`/refunds/${body.id}`))]
  },
}

async function payment(change: object): Promise<[Seen, string, () => Promise<Seen>]> {
  const path = await paid(change)
  return [of(await get(path)), path, async () => of(await get<Payment>(path))]
}

const isPayment = (action: Action) => action === 'authorize' || action === 'sale'
const approvedStatus: Record<Action, string> = {
  authorize: 'authorization_succeeded',
  sale: 'capture_succeeded',
  capture: 'succeeded',
  void: 'authorization_voided',
  refund: 'succeeded',
}

function expectedFirst(action: Action, { outcome, error_code }: CatalogueEntry): Seen {
  if (outcome === 'declined' || outcome === 'failed') {
    return { status: isPayment(action) ? `authorization_${outcome}` : outcome, code: error_code }
  }
  if (outcome === 'approved') return { status: approvedStatus[action], code: null }
  return { status: isPayment(action) || action === 'refund' ? 'processing' : 'pending', code: null }
}

const expectedLater = (action: Action, { later }: CatalogueEntry): Seen =>
  later === 'never_arrived'
    ? { status: 'authorization_failed', code: 'service_network_error' }
    : { status: approvedStatus[action], code: null }

const entries = catalogue
  .filter(({ trigger }) => trigger === 'amount' || trigger === 'card_number')
  .flatMap((entry) =>
    entry.applies_to.map((action) => [`${entry.trigger} ${entry.value}, ${action}`, action, entry] as const),
  )

test.each(entries)('%s', async (_name, action, entry) => {
  const number = entry.trigger === 'card_number' ? String(entry.value) : undefined
  const amount = entry.trigger === 'amount' ? Number(entry.value) : 1299
  const [first, path, look] = await calls[action](amount, number)
  expect(first).toEqual(expectedFirst(action, entry))
  if (!entry.later) return
  await settled(path)
  expect(await look()).toEqual(expectedLater(action, entry))
})

describe('docs/sandbox.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../docs/sandbox.md'), 'utf8')

  /** The contract's own list, but for payouts, which are a later issue. */
  const contract = `
    200001 declined canceled_payment_method; 200004 declined expired_authorization; 200005 declined expired_payment_method;
    200006 declined incorrect_billing_address; 200007 declined incorrect_country R; 200008 declined incorrect_currency R;
    200009 declined incorrect_cvv; 200010 declined incorrect_expiry_date; 200011 declined insufficient_funds;
    200012 declined issuer_decline R; 200013 declined other_decline R; 200015 declined refused_transaction;
    200016 declined service_decline R; 200017 declined suspected_fraud;
    200002 failed disputed_transaction; 200003 failed duplicate_transaction; 200014 failed requires_buyer_authentication;
    200018 failed unavailable_payment_method; 200019 failed unknown_payment_method R; 200020 failed unsupported_transaction;
    200021 failed unsupported_payment_method; 200022 failed cancelled_buyer_approval;
    300001 failed insufficient_service_permissions R; 300002 failed invalid_amount R; 300003 failed invalid_payment_method R;
    300004 failed invalid_service_configuration; 300005 failed invalid_service_credentials R;
    300006 failed invalid_service_response R; 300007 failed invalid_tax_identifier; 300008 failed missing_billing_address R;
    300009 failed missing_cvv R; 300010 failed missing_shipping_address R; 300011 failed missing_tax_identifier R;
    300012 failed refund_period_expired; 300013 failed service_error R; 300014 failed service_network_error R;
    300015 failed service_rate_limit R;
    400001 failed internal_error; 400002 failed invalid_billing_address; 400003 failed invalid_operation R;
    400004 failed invalid_request_parameters; 400005 failed invalid_service_request R; 400006 failed invalid_shipping_address;
    400007 failed service_resource_conflict R; 400008 failed unexpected_state; 400009 failed unknown_error;
    400010 failed unknown_service_resource R; 400011 failed unsupported_country R; 400012 failed unsupported_currency R;
    400013 failed unrecognised_country; 400014 failed unrecognised_currency; 400015 failed unrecognised_payment_method;
    400016 failed unrecognised_scheme; 400017 failed unsupported_scheme;
    500001 failed service_network_error; 500002 declined refused_transaction;
    510001 failed service_network_error; 510002 declined issuer_decline;
    520001 failed disputed_transaction; 520002 declined issuer_decline; 520003 failed service_error;
    520004 failed refund_already_satisfied`
    .split(';')
    .map((line) => line.trim().split(' '))

  test.each(contract)('has the line of %s', (amount, outcome, code, retriable) => {
    expect(text).toContain(`| \`${amount}\` | ${outcome} | \`${code}\` | ${retriable === 'R' ? 'yes' : ''} |`)
  })

  test('names each of these codes in the list of all codes too', () => {
    const list = text.slice(text.indexOf('## Every error code'))
    expect(contract.filter(([, , code]) => !list.includes(`| \`${code}\` |`))).toEqual([])
  })

  test('the sandbox has no amount that the contract does not know', () => {
    const known = new Set(contract.map(([amount]) => Number(amount)))
    const amounts = catalogue.filter(({ trigger }) => trigger === 'amount').map(({ value }) => Number(value))
    expect(amounts.filter((amount) => !known.has(amount))).toEqual([])
  })
})
