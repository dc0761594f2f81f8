import { type Static, Type } from 'typebox'
import { Airline, Amount, CartItems, Metadata } from '../../../purchase.ts'
import { methods } from '../../../methods.ts'
import { Collection, Constant, DateTime, Enum, Nullable, Uuid } from '../../../schema.ts'
import { Buyer } from '../../buyers/schema.ts'
import { ShippingDetails } from '../../buyers/shipping-details/schema.ts'
import { PaymentMethodSummary } from '../../payment-methods/schema.ts'
import {
  antiFraudDecisions,
  avsCodes,
  cvvCodes,
  instrumentTypes,
  intents,
  paymentSources,
  transactionStatuses,
} from '../rules.ts'
import { GiftCardRedemption } from '../redemptions/schema.ts'
import { Recipient, StatementDescriptor } from './parts.ts'

const Text = (description?: string) => Nullable(Type.String(description === undefined ? {} : { description }))
const Code = (description: string) => Nullable(Type.String({ description }))

/** `anyOf` and not a list of types, because the same shape is elsewhere never null. */
const orNull = <Schema extends Parameters<typeof Type.Array>[0]>(schema: Schema) =>
  Type.Unsafe<Static<Schema> | null>({ anyOf: [schema, { type: 'null' }] })

const { properties: method } = PaymentMethodSummary

export const TransactionPaymentMethod = Type.Object(
  {
    type: Constant('payment-method'),
    id: Nullable(Uuid({ description: 'Of a stored method; null for a card that was not stored.' })),
    method: method.method,
    mode: method.mode,
    label: method.label,
    scheme: method.scheme,
    details: method.details,
    expiration_date: method.expiration_date,
    fingerprint: method.fingerprint,
    country: method.country,
    currency: method.currency,
    approval_url: method.approval_url,
    approval_target: method.approval_target,
    external_identifier: method.external_identifier,
    last_replaced_at: method.last_replaced_at,
    payment_account_reference: Text(),
  },
  { title: 'TransactionPaymentMethod' },
)
export type TransactionPaymentMethod = Static<typeof TransactionPaymentMethod>

export const TransactionPaymentService = Type.Object(
  {
    type: Constant('payment-service'),
    id: Uuid(),
    display_name: Type.String({ example: 'Sandbox' }),
    method: Enum(methods, { example: 'card' }),
    payment_service_definition_id: Type.String({ example: 'mock-card' }),
  },
  { title: 'TransactionPaymentService' },
)
export type TransactionPaymentService = Static<typeof TransactionPaymentService>

const ThreeDSecureResponse = Type.Object(
  {
    version: Type.String({ example: '2.2.0' }),
    authentication_response: Text('`Y` authenticated, `A` attempted.'),
    directory_response: Text(),
    directory_transaction_id: Text(),
    transaction_reason: Text(),
    cavv: Text('Proof of the authentication, for the issuer.'),
    eci: Text('How far the issuer answers for the payment.'),
    cardholder_info: Text(),
  },
  { title: 'ThreeDSecureV2' },
)

export const ThreeDSecureSummary = Type.Object(
  {
    version: Text(),
    status: Nullable(Enum(['setup_error', 'error', 'declined', 'cancelled', 'complete'])),
    method: Nullable(Enum(['challenge', 'frictionless'])),
    response_data: orNull(ThreeDSecureResponse),
    error_data: Type.Unsafe<null>({ type: 'null' }),
    amount: Nullable(Type.Integer()),
  },
  { title: 'TransactionThreeDSecureSummary' },
)
export type ThreeDSecureSummary = Static<typeof ThreeDSecureSummary>

const { properties: buyer } = Buyer
export const TransactionBuyer = Type.Object(
  {
    type: Constant('buyer'),
    id: Nullable(Uuid({ description: 'Null for a guest.' })),
    reconciliation_id: Nullable(buyer.reconciliation_id),
    display_name: buyer.display_name,
    external_identifier: buyer.external_identifier,
    billing_details: buyer.billing_details,
    account_number: buyer.account_number,
  },
  { title: 'TransactionBuyer' },
)
export type TransactionBuyer = Static<typeof TransactionBuyer>

const { properties: shipping } = ShippingDetails
export const TransactionShippingDetails = Type.Object(
  { ...shipping, id: Nullable(Uuid()), buyer_id: Nullable(Uuid()) },
  { title: 'TransactionShippingDetails' },
)
export type TransactionShippingDetails = Static<typeof TransactionShippingDetails>

const GiftCardService = Type.Object(
  {
    type: Constant('gift-card-service'),
    id: Uuid(),
    gift_card_service_definition_id: Type.String({ example: 'mock-gift-card' }),
    display_name: Type.String({ example: 'Gift cards' }),
  },
  { title: 'TransactionGiftCardService' },
)

/** Rendered when the transaction is made, and never again. */
export const summaryFixed = {
  currency: Type.String({ pattern: '^[A-Z]{3}$', example: 'EUR' }),
  amount: Amount({ example: 1299 }),
  country: Nullable(Type.String({ pattern: '^[A-Z]{2}$', example: 'DE' })),
  intent: Enum(intents, { example: 'authorize' }),
  method: Nullable(Enum(methods, { example: 'card' })),
  instrument_type: Nullable(Enum(instrumentTypes, { example: 'pan' })),
  buyer: orNull(TransactionBuyer),
  shipping_details: orNull(TransactionShippingDetails),
  checkout_session_id: Nullable(Uuid()),
  gift_card_service: orNull(GiftCardService),
  reauthorized_from_transaction_id: Nullable(Uuid()),
  reconciliation_id: Type.String({ description: 'The id in base 62.', example: '2y9NQ19jxqPKBR8o57XEk' }),
}
export const SummaryFixed = Type.Object(summaryFixed)

export const detailsFixed = {
  payment_source: Enum(paymentSources, { example: 'ecommerce' }),
  merchant_initiated: Type.Boolean(),
  is_subsequent_payment: Type.Boolean(),
  airline: Airline,
  cart_items: CartItems,
  statement_descriptor: StatementDescriptor,
  recipient: Recipient,
  account_funding_transaction: Type.Boolean(),
  installment_count: Nullable(Type.Integer()),
  tax_amount: Nullable(Amount()),
  merchant_tax_id: Text(),
  purchase_order_number: Text(),
  customer_reference_number: Text(),
  amount_includes_tax: Nullable(Type.Boolean()),
  supplier_order_number: Text(),
  duty_amount: Nullable(Amount()),
  shipping_amount: Nullable(Amount()),
}
export const DetailsFixed = Type.Object(detailsFixed)

const summaryChanging = {
  type: Constant('transaction'),
  id: Uuid(),
  merchant_account_id: Type.String({ example: 'default' }),
  status: Enum(transactionStatuses, { example: 'authorization_succeeded' }),
  authorized_amount: Amount({ example: 1299 }),
  captured_amount: Amount({ example: 0, maximum: 2 * 99_999_999 }),
  refunded_amount: Amount({ example: 0, maximum: 2 * 99_999_999 }),
  settled_currency: Nullable(Type.String({ pattern: '^[A-Z]{3}$' })),
  settled_amount: Type.Integer(),
  settled: Type.Boolean(),
  external_identifier: Nullable(Type.String({ minLength: 1, maxLength: 200, example: 'order-4711' })),
  error_code: Code('Why it was declined or failed; see the sandbox for the list.'),
  raw_response_code: Code('As the provider gave it.'),
  raw_response_description: Code('As the provider gave it.'),
  payment_method: orNull(TransactionPaymentMethod),
  payment_service: orNull(TransactionPaymentService),
  gift_card_redemptions: Type.Array(GiftCardRedemption),
  pending_review: Type.Boolean(),
  disputed: Type.Boolean(),
  created_at: DateTime(),
  updated_at: DateTime(),
}

const detailsChanging = {
  auth_response_code: Code("The issuer's authorization code."),
  avs_response_code: Nullable(Enum(avsCodes)),
  cvv_response_code: Nullable(Enum(cvvCodes)),
  anti_fraud_decision: Nullable(Enum(antiFraudDecisions)),
  scheme_transaction_id: Text('Id that the card scheme gave.'),
  transaction_link_id: Text(),
  three_d_secure: orNull(ThreeDSecureSummary),
  payment_service_transaction_id: Text("The provider's own id."),
  additional_identifiers: Type.Object({}),
  metadata: Metadata,
  authorized_at: Nullable(DateTime()),
  captured_at: Nullable(DateTime()),
  voided_at: Nullable(DateTime()),
  canceled_at: Nullable(DateTime()),
  approval_expires_at: Nullable(DateTime()),
  buyer_approval_timedout_at: Nullable(DateTime()),
  intent_outcome: Enum(['pending', 'succeeded', 'failed'], { example: 'succeeded' }),
  multi_tender: Type.Boolean({ description: 'Whether several instruments pay.' }),
  merchant_advice_code: Text(),
  session_token: Text(),
  iso_response_code: Text(),
}

export const TransactionSummary = Type.Object(
  { ...summaryChanging, ...summaryFixed },
  { title: 'TransactionSummary', additionalProperties: false },
)
export const Transaction = Type.Object(
  { ...summaryChanging, ...summaryFixed, ...detailsChanging, ...detailsFixed },
  { title: 'Transaction', additionalProperties: false },
)
export type Transaction = Static<typeof Transaction>

export const Transactions = Collection(TransactionSummary, { title: 'TransactionSummaries', maximum: 500 })

export const TransactionPath = Type.Object({ transaction_id: Uuid({ description: 'Id of the transaction.' }) })

const outcome = (type: string, statuses: readonly string[], title: string, more: object = {}) =>
  Type.Object(
    {
      type: Constant(type),
      status: Enum(statuses),
      code: Code('Why it did not succeed.'),
      raw_response_code: Code('As the provider gave it.'),
      raw_response_description: Code('As the provider gave it.'),
      transaction: Transaction,
      ...more,
    },
    { title },
  )

export const TransactionCapture = outcome(
  'transaction-capture',
  ['succeeded', 'pending', 'declined', 'failed'],
  'TransactionCapture',
  {
    capture_id: Nullable(Uuid()),
    payment_service_capture_id: Text(),
    external_identifier: Text(),
  },
)
export const TransactionVoid = outcome(
  'transaction-void',
  ['succeeded', 'pending', 'declined', 'failed'],
  'TransactionVoid',
)
export const TransactionCancel = outcome('transaction-cancel', ['succeeded', 'pending', 'failed'], 'TransactionCancel')

export const TransactionOrCapture = Type.Unsafe<never>({ anyOf: [Transaction, TransactionCapture] })
export const TransactionOrVoid = Type.Unsafe<never>({ anyOf: [Transaction, TransactionVoid] })
