import {
  renderDetailsFixed,
  renderMethod,
  renderService,
  renderSummaryFixed,
  renderThreeDSecure,
} from '../../src/areas/transactions/operations/render.ts'
import { reconciliationIdOf } from '../../src/ids.ts'
import { hex8, mix } from './chance.ts'
import type { Drawn } from './draw.ts'

/**
 * The texts of a transaction. Each kind is rendered once, by the code that renders payments, with names in the place of what differs from row to row;
 * a row is the pieces between them, joined with its values. Ten million renderings would take an hour.
 */

type Value = string | number | boolean | null

/** JSON of one value; our texts hold nothing that has to be escaped. */
const json = (value: Value) => (typeof value === 'string' ? `"${value}"` : String(value))

const hole = (name: string) => `<<${name}>>`

/** A rendered text as a function of what stands in its holes. */
function template(rendered: string): (values: Readonly<Record<string, Value>>) => string {
  if (rendered.includes('\\')) throw new Error('COPY would take a backslash for its own')
  const pieces = rendered.split(/"<<(\w+)>>"/)
  const names = pieces.filter((_, index) => index % 2 === 1)
  const [first = '', ...rest] = pieces.filter((_, index) => index % 2 === 0)
  return (values) => rest.reduce((text, piece, index) => text + json(values[names[index] ?? ''] ?? null) + piece, first)
}

const address = {
  city: hole('city'),
  country: hole('buyer_country'),
  postal_code: hole('postal_code'),
  state: null,
  state_code: null,
  house_number_or_name: hole('house'),
  line1: hole('line1'),
  line2: null,
  organization: null,
}
const contact = {
  first_name: hole('first_name'),
  last_name: hole('last_name'),
  email_address: hole('email_address'),
  phone_number: hole('phone_number'),
}

const summary = (hasBuyer: boolean, hasShipping: boolean) =>
  template(
    renderSummaryFixed({
      currency: hole('currency'),
      amount: hole('amount'),
      country: hole('country'),
      intent: hole('intent'),
      method: hole('method'),
      instrument_type: hole('instrument_type'),
      buyer: hasBuyer
        ? {
            type: 'buyer',
            id: hole('buyer_id'),
            reconciliation_id: hole('buyer_reconciliation_id'),
            display_name: hole('display_name'),
            external_identifier: hole('buyer_external_identifier'),
            billing_details: { type: 'billing-details', ...contact, address, tax_id: null },
            account_number: null,
          }
        : null,
      shipping_details: hasShipping
        ? { type: 'shipping-details', id: hole('shipping_id'), buyer_id: hole('buyer_id'), ...contact, address }
        : null,
      checkout_session_id: hole('checkout_session_id'),
      reconciliation_id: hole('reconciliation_id'),
      gift_card_service: null,
      reauthorized_from_transaction_id: null,
    }),
  )
const summaries = {
  nobody: summary(false, false),
  buyer: summary(true, false),
  shipping: summary(true, true),
}

const nothingTold = {
  airline: null,
  statement_descriptor: null,
  recipient: null,
  account_funding_transaction: false,
  installment_count: null,
  tax_amount: null,
  merchant_tax_id: null,
  purchase_order_number: null,
  customer_reference_number: null,
  amount_includes_tax: null,
  supplier_order_number: null,
  duty_amount: null,
  shipping_amount: null,
}
const item = { name: 'Walking boots, brown', quantity: 1, unit_amount: hole('amount'), sku: hole('sku') }
const details = (items: readonly object[] | null) =>
  template(
    renderDetailsFixed({
      ...nothingTold,
      payment_source: hole('payment_source'),
      merchant_initiated: hole('merchant_initiated'),
      is_subsequent_payment: hole('is_subsequent_payment'),
      cart_items: items,
    }),
  )
const [emptyCart, smallCart, fullCart] = [details(null), details([item]), details([item, item])]

// Names stand where enumerated values belong, so the types are the schema's business and not ours.
const asMethod = (value: object) => value as Parameters<typeof renderMethod>[0]
const noMethod = {
  type: 'payment-method',
  id: hole('payment_method_id'),
  method: hole('method'),
  mode: hole('mode'),
  label: null,
  scheme: null,
  details: null,
  expiration_date: null,
  fingerprint: null,
  country: hole('payment_method_country'),
  currency: null,
  approval_url: null,
  approval_target: null,
  external_identifier: null,
  last_replaced_at: null,
  payment_account_reference: null,
}
const redirectMethod = template(renderMethod(asMethod(noMethod)))
const cardMethod = template(
  renderMethod(
    asMethod({
      ...noMethod,
      label: hole('label'),
      scheme: hole('scheme'),
      details: { bin: hole('bin'), card_type: 'credit', card_issuer_name: 'Sandbox Bank' },
      expiration_date: hole('expiration_date'),
      fingerprint: hole('fingerprint'),
    }),
  ),
)

const service = template(
  renderService({
    type: 'payment-service',
    id: hole('payment_service_id'),
    display_name: 'Cards, main contract',
    method: hole('method'),
    payment_service_definition_id: 'mock-card',
  } as Parameters<typeof renderService>[0]),
)

export const threeDSecureText = renderThreeDSecure({
  version: '2.2.0',
  status: 'complete',
  method: 'frictionless',
  response_data: {
    version: '2.2.0',
    authentication_response: 'Y',
    directory_response: 'Y',
    directory_transaction_id: 'c4e59ceb-a382-4d6a-bc87-385d591fa09d',
    cavv: 'AAABBEg0VhI0VniQEjRWAAAAAAA=',
    eci: '05',
  },
})

const firstNames = ['Ada', 'Grace', 'Emmy', 'Alan', 'Kurt', 'Sofia', 'Carl', 'Maryam', 'Srinivasa', 'Hedy']
const lastNames = ['Lovelace', 'Hopper', 'Noether', 'Turing', 'Goedel', 'Kowalewska', 'Gauss', 'Mirzakhani', 'Lamarr']
const cities = ['Berlin', 'Hamburg', 'London', 'Paris', 'Amsterdam', 'Warsaw', 'Stockholm', 'Vienna', 'Zurich']
const streets = ['High Street', 'Station Road', 'Lindenallee', 'Rue de la Paix', 'Market Square', 'Long Lane']
const oneOf = (list: readonly string[], number: number) => list[number % list.length] ?? ''

export function summaryText(drawn: Drawn): string {
  const { buyer } = drawn
  const number = mix(buyer?.number ?? 0, 500)
  const [first, last] = [oneOf(firstNames, number), oneOf(lastNames, number >>> 5)]
  const render = buyer ? (drawn.hasShipping ? summaries.shipping : summaries.buyer) : summaries.nobody
  return render({
    currency: drawn.currency,
    amount: drawn.amount,
    country: drawn.country,
    intent: 'capture',
    method: drawn.method,
    instrument_type: instrumentTypeOf(drawn),
    buyer_id: buyer?.id ?? null,
    // Of the length and the alphabet of one.
    buyer_reconciliation_id: buyer?.id ? `2y9NQ${hex8(number)}${hex8(mix(number, 501))}` : null,
    display_name: `${first} ${last}`,
    buyer_external_identifier: buyer?.reference ?? null,
    first_name: first,
    last_name: last,
    email_address: buyer?.email ?? null,
    phone_number: `+49301${number}`,
    city: oneOf(cities, number >>> 9),
    buyer_country: drawn.country ?? 'DE',
    postal_code: String(10_000 + (number % 80_000)),
    house: String(1 + (number % 180)),
    line1: oneOf(streets, number >>> 13),
    shipping_id: buyer?.id ?? null,
    checkout_session_id: drawn.sessionId,
    reconciliation_id: reconciliationIdOf(drawn.id),
  })
}

export const detailsText = (drawn: Drawn): string =>
  (drawn.items === 0 ? emptyCart : drawn.items === 1 ? smallCart : fullCart)({
    payment_source: drawn.source,
    merchant_initiated: drawn.isMerchantInitiated,
    is_subsequent_payment: drawn.isSubsequent,
    amount: drawn.amount,
    sku: `SKU-${drawn.amount}`,
  })

export const instrumentTypeOf = ({ method }: Drawn): string =>
  method === 'card' ? 'pan' : /^(apple|google)pay$/.test(method) ? method : 'redirect'

export const methodText = (drawn: Drawn): string =>
  (drawn.card ? cardMethod : redirectMethod)({
    payment_method_id: drawn.card?.id ?? null,
    method: drawn.method,
    mode: drawn.card === null ? 'redirect' : drawn.method,
    label: drawn.card?.label ?? null,
    scheme: drawn.card?.scheme ?? null,
    bin: drawn.card?.bin ?? null,
    expiration_date: '12/30',
    fingerprint: drawn.card?.fingerprint ?? null,
    payment_method_country: drawn.card?.country ?? drawn.country,
  })

export const serviceText = (drawn: Drawn): string =>
  service({ payment_service_id: drawn.serviceId, method: drawn.method })
