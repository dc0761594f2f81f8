import { type Static, Type } from 'typebox'
import { Airline, Amount, CartItems, Metadata } from '../../../purchase.ts'
import { Body, Constant, DateTime, Enum, Nullable, optional, Uuid } from '../../../schema.ts'
import { GuestBuyer } from '../../buyers/shipping-details/schema.ts'
import { NewCard, NewRedirect } from '../../payment-methods/schema.ts'
import { GiftCardToPay } from '../redemptions/schema.ts'
import { intents, paymentSources } from '../rules.ts'
import { BrowserInfo, ConnectionOptions, Recipient, StatementDescriptor } from './parts.ts'

const { properties: card } = NewCard

const CardToPay = Body(
  {
    method: Constant('card'),
    number: card.number,
    expiration_date: card.expiration_date,
    security_code: Type.Optional(
      Nullable(
        Type.String({ pattern: '^\\d{3,4}$', description: 'Handed to the provider and forgotten.', example: '123' }),
      ),
    ),
    card_type: card.card_type,
    external_identifier: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 200, description: 'Of the method, with `store`; unique.' })),
    ),
    buyer_id: card.buyer_id,
    buyer_external_identifier: card.buyer_external_identifier,
    redirect_url: card.redirect_url,
  },
  { title: 'CardWithUrlPaymentMethodCreate' },
)
export type CardToPay = Static<typeof CardToPay>

const StoredToPay = Body(
  {
    method: Constant('id'),
    id: Uuid({ description: 'Id of a stored payment method.' }),
    security_code: Type.Optional(
      Nullable(Type.String({ pattern: '^\\d{3,4}$', description: 'Handed to the provider and forgotten.' })),
    ),
    redirect_url: card.redirect_url,
  },
  { title: 'TokenPaymentMethodCreate' },
)
export type StoredToPay = Static<typeof StoredToPay>

const SessionToPay = Body(
  {
    method: Constant('checkout-session'),
    id: Uuid({
      description: 'Id of a checkout session whose fields were sent. One payment uses it up, unless it is refused.',
    }),
    external_identifier: CardToPay.properties.external_identifier,
    buyer_id: card.buyer_id,
    buyer_external_identifier: card.buyer_external_identifier,
    redirect_url: card.redirect_url,
  },
  { title: 'CheckoutSessionWithUrlPaymentMethodCreate' },
)
export type SessionToPay = Static<typeof SessionToPay>

const PaymentMethodToPay = Type.Unsafe<CardToPay | StoredToPay | SessionToPay | NewRedirect>({
  type: 'object',
  discriminator: { propertyName: 'method' },
  oneOf: [CardToPay, StoredToPay, SessionToPay, NewRedirect],
})

const reference = () => Nullable(Type.String({ minLength: 1, maxLength: 100 }))

export const NewTransaction = Body(
  {
    amount: Amount({ example: 1299 }),
    currency: Type.String({ pattern: '^[A-Z]{3}$', example: 'EUR' }),
    ...optional({
      payment_method: Nullable(PaymentMethodToPay),
      gift_cards: Nullable(
        Type.Array(GiftCardToPay, {
          description:
            'What each pays is taken off the amount; the payment method pays the rest. Together they may pay all of it.',
        }),
      ),
      country: Nullable(Type.String({ pattern: '^[A-Z]{2}$', example: 'DE' })),
      intent: Enum(intents, { default: 'authorize', description: '`capture` charges at once.' }),
      store: Type.Boolean({
        default: false,
        description: 'Keep the card as a payment method if the payment succeeds.',
      }),
      async_capture: Type.Boolean({
        default: false,
        description: 'With `capture`: do not wait for the money to move.',
      }),
      buyer: GuestBuyer,
      buyer_id: Nullable(Uuid()),
      buyer_external_identifier: Nullable(Type.String({ minLength: 1, maxLength: 200 })),
      shipping_details_id: Nullable(Uuid({ description: "One of the buyer's; the transaction keeps a copy." })),
      external_identifier: Nullable(
        Type.String({ minLength: 1, maxLength: 200, description: 'Your own reference.', example: 'order-4711' }),
      ),
      payment_service_id: Nullable(Uuid({ description: 'Use this payment service instead of the first that fits.' })),
      payment_source: Enum(paymentSources, { default: 'ecommerce' }),
      merchant_initiated: Type.Boolean({ default: false }),
      is_subsequent_payment: Type.Boolean({ default: false }),
      previous_scheme_transaction_id: reference(),
      previous_transaction_link_id: reference(),
      metadata: Metadata,
      connection_options: ConnectionOptions,
      description: Nullable(Type.String({ maxLength: 5000 })),
      cart_items: CartItems,
      statement_descriptor: StatementDescriptor,
      browser_info: BrowserInfo,
      airline: Airline,
      recipient: Recipient,
      anti_fraud_fingerprint: Nullable(Type.String({ maxLength: 5000 })),
      account_funding_transaction: Type.Boolean({ default: false }),
      allow_partial_authorization: Type.Boolean({ default: false }),
      installment_count: Nullable(Type.Integer({ minimum: 1, maximum: 100 })),
      tax_amount: Nullable(Amount()),
      merchant_tax_id: reference(),
      purchase_order_number: reference(),
      customer_reference_number: reference(),
      amount_includes_tax: Nullable(Type.Boolean()),
      supplier_order_number: reference(),
      duty_amount: Nullable(Amount()),
      shipping_amount: Nullable(Amount()),
      integration_client: Nullable(Enum(['redirect', 'web', 'android', 'ios'])),
      approval_expires_at: Nullable(
        DateTime({ description: 'How long the buyer may take to approve; default half an hour, at most a day.' }),
      ),
    }),
  },
  { title: 'TransactionCreate' },
)
export type NewTransaction = Static<typeof NewTransaction>

/** The same once a checkout session was opened: what is in it pays. */
export type Payment = Omit<NewTransaction, 'payment_method'> & {
  /** Null: gift cards alone pay. */
  payment_method: MethodToPay | null
}
export type MethodToPay =
  | CardToPay
  | NewRedirect
  | (StoredToPay & Pick<SessionToPay, 'buyer_id' | 'buyer_external_identifier'>)

/** `status` and the amounts are the provider's news: a caller cannot write them. */
export const TransactionUpdate = Body(
  optional({
    external_identifier: Nullable(Type.String({ minLength: 1, maxLength: 200 })),
    metadata: Metadata,
    connection_options: ConnectionOptions,
  }),
  { title: 'TransactionUpdate' },
)
export type TransactionUpdate = Static<typeof TransactionUpdate>

export const CaptureInput = Body(
  optional({
    amount: Nullable(Amount({ minimum: 1, description: 'Default: everything that is authorized.' })),
    final: Type.Boolean({
      default: true,
      description: '`false`: more captures follow. Only where the provider allows it.',
    }),
    external_identifier: Nullable(Type.String({ minLength: 1, maxLength: 300 })),
    cart_items: CartItems,
    airline: Airline,
    reauthorize_if_authorization_expired: Type.Boolean({ default: false }),
  }),
  { title: 'TransactionCaptureCreate' },
)
export type CaptureInput = Static<typeof CaptureInput>
