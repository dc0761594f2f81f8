import { type Static, Type } from 'typebox'
import { Airline, Amount, CartItems, Metadata } from '../../purchase.ts'
import { Body, Constant, DateTime, Enum, Nullable, optional, Uuid } from '../../schema.ts'
import { intents, paymentSources } from '../../sourcing.ts'
import { GuestBuyer } from '../buyers/shipping-details/schema.ts'
import { CardScheme } from '../card-scheme-definitions/schema.ts'

const CardType = Enum(['credit', 'debit', 'prepaid'])

const shown = {
  amount: Nullable(Amount({ description: 'A payment with the session must be of this amount.', example: 1299 })),
  currency: Nullable(
    Type.String({ pattern: '^[A-Z]{3}$', description: 'A payment must be in this currency.', example: 'EUR' }),
  ),
  buyer: GuestBuyer,
  cart_items: CartItems,
  metadata: Metadata,
  airline: Airline,
  payment_service_id: Nullable(Uuid({ description: 'Use this payment service instead of the first that fits.' })),
}

export const shortestLife = 3_600
const longestLife = 86_400

/** Of a payment with the session, where the payment itself does not say. */
export const CheckoutSessionInput = Body(
  optional({
    ...shown,
    expires_in: Type.Number({
      minimum: shortestLife,
      maximum: longestLife,
      default: shortestLife,
      description: 'Seconds from now. Left out of an update: the session expires when it did before.',
      example: shortestLife,
    }),
    country: Nullable(Type.String({ pattern: '^[A-Z]{2}$', example: 'DE' })),
    intent: Nullable(Enum(intents)),
    payment_source: Nullable(Enum(paymentSources)),
    merchant_initiated: Nullable(Type.Boolean()),
    is_subsequent_payment: Nullable(Type.Boolean()),
  }),
  { title: 'CheckoutSessionUpdate' },
)
export type CheckoutSessionInput = Static<typeof CheckoutSessionInput>

const PaymentMethod = Type.Object(
  {
    type: Constant('payment-method'),
    id: Nullable(Uuid({ description: 'Of the stored method that was chosen; null for a card.' })),
    method: Constant('card'),
    label: Nullable(Type.String({ description: 'The last four digits.', example: '1111' })),
    scheme: Nullable(CardScheme),
    fingerprint: Nullable(Type.String({ description: 'The same for the same card number, throughout the instance.' })),
    details: Type.Object(
      {
        bin: Nullable(Type.String({ example: '41111111' })),
        card_country: Nullable(Type.String({ pattern: '^[A-Z]{2}$' })),
        card_type: Nullable(CardType),
        card_issuer_name: Nullable(Type.String()),
      },
      { title: 'CheckoutSessionPaymentMethodDetails' },
    ),
  },
  { title: 'CheckoutSessionPaymentMethod', description: 'What the buyer gave; null until the fields were sent.' },
)

export const CheckoutSession = Type.Object(
  {
    type: Constant('checkout-session'),
    id: Uuid({
      description:
        'Whoever knows it may send card data to the session: give it to the buyer’s browser and nobody else.',
    }),
    ...shown,
    payment_method: Nullable(PaymentMethod),
    expires_at: DateTime({ description: 'From then on there is no such session.' }),
  },
  { title: 'CheckoutSession' },
)
export type CheckoutSession = Static<typeof CheckoutSession>

export const CheckoutSessionPath = Type.Object({ session_id: Uuid({ description: 'Id of the checkout session.' }) })

const SecurityCode = Type.Optional(
  Nullable(
    Type.String({
      pattern: '^\\d{3,4}$',
      description: 'Waits for the next payment with the session, and is then forgotten.',
      example: '123',
    }),
  ),
)

const CardFields = Body(
  {
    method: Constant('card'),
    number: Type.String({ pattern: '^[0-9]{13,19}$', description: 'The card number.', example: '4111111111111111' }),
    expiration_date: Type.String({
      minLength: 5,
      maxLength: 5,
      pattern: '^\\d{2}/\\d{2}$',
      description: 'Month and year, `MM/YY`.',
      example: '12/30',
    }),
    security_code: SecurityCode,
  },
  { title: 'CheckoutSessionCardPaymentMethod' },
)

const StoredFields = Body(
  { method: Constant('id'), id: Uuid({ description: 'Id of a stored payment method.' }), security_code: SecurityCode },
  { title: 'CheckoutSessionIdPaymentMethod' },
)

const ClickToPayFields = Body(
  {
    method: Constant('click-to-pay'),
    merchant_transaction_id: Type.String({ maxLength: 255 }),
    src_correlation_id: Type.String({ maxLength: 255 }),
    src_dpa_id: Type.String({ maxLength: 255 }),
    src_cx_flow_id: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  },
  { title: 'CheckoutSessionClickToPayPaymentMethod', description: 'Not supported yet.' },
)

export type CardFields = Static<typeof CardFields>
export type StoredFields = Static<typeof StoredFields>

export const SecureFields = Body(
  {
    payment_method: Type.Unsafe<CardFields | StoredFields | Static<typeof ClickToPayFields>>({
      type: 'object',
      discriminator: { propertyName: 'method' },
      oneOf: [CardFields, StoredFields, ClickToPayFields],
    }),
    postal_code: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 50,
          description: 'For the address check, if the payment names no buyer with one.',
          example: '10117',
        }),
      ),
    ),
  },
  { title: 'CheckoutSessionSecureFields' },
)
export type SecureFields = Static<typeof SecureFields>

export const CardDetailsQuestion = Body(
  { bin: Type.String({ pattern: '^[0-9]{6,8}$', description: 'First 6 to 8 digits of a card.', example: '41111111' }) },
  { title: 'CheckoutSessionCardDetailsRequest' },
)

export const CardDetails = Type.Object(
  {
    bin: Type.String({ example: '41111111' }),
    card_type: Nullable(CardType),
    scheme: Nullable(CardScheme),
    scheme_icon_url: Nullable(Type.String({ format: 'uri' })),
    additional_schemes: Type.Array(CardScheme),
  },
  { title: 'CheckoutSessionCardDetails' },
)
export type CardDetails = Static<typeof CardDetails>
