import { type Static, Type } from 'typebox'
import { methods, modes, redirectMethods } from '../../methods.ts'
import { Body, Collection, Constant, DateTime, Enum, Nullable, PageQuery, Uuid } from '../../schema.ts'
import { Buyer } from '../buyers/schema.ts'
import { CardScheme } from '../card-scheme-definitions/schema.ts'
import { paymentMethodStatuses } from './rules.ts'

const ExpirationDate = Type.String({
  minLength: 5,
  maxLength: 5,
  pattern: '^\\d{2}/\\d{2}$',
  description: 'Month and year, `MM/YY`.',
  example: '12/30',
})
const ExternalIdentifier = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Your own reference; unique.',
  example: 'card-4711',
})
const BuyerExternalIdentifier = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Your reference of the buyer; not together with `buyer_id`.',
})

export const RedirectUrl = (options: { description: string }) =>
  Type.String({ maxLength: 5000, format: 'uri', example: 'https://shop.example.com/return', ...options })

const CardDetails = Type.Object(
  {
    bin: Nullable(Type.String({ pattern: '^\\d{6,8}$', description: 'First 6 to 8 digits.', example: '41111111' })),
    card_type: Nullable(Enum(['credit', 'debit', 'prepaid'])),
    card_issuer_name: Nullable(Type.String({ example: 'Sandbox Bank' })),
  },
  { title: 'PaymentMethodDetailsCard' },
)

const summaryFields = {
  type: Constant('payment-method'),
  id: Uuid(),
  merchant_account_id: Type.String({ example: 'default' }),
  method: Enum(methods, { example: 'card' }),
  mode: Nullable(Enum(modes, { example: 'card' })),
  status: Enum(paymentMethodStatuses, { example: 'succeeded' }),
  label: Nullable(
    Type.String({ description: 'Last four digits of a card; e-mail address of a wallet account.', example: '1111' }),
  ),
  scheme: Nullable(CardScheme),
  additional_schemes: Nullable(Type.Array(CardScheme)),
  details: Type.Unsafe<Static<typeof CardDetails> | null>({ ...CardDetails, type: ['object', 'null'] }),
  expiration_date: Nullable(ExpirationDate),
  fingerprint: Nullable(Type.String({ description: 'The same for the same card number, throughout the instance.' })),
  country: Nullable(Type.String({ pattern: '^[A-Z]{2}$' })),
  currency: Nullable(Type.String({ pattern: '^[A-Z]{3}$' })),
  approval_url: Nullable(Type.String({ format: 'uri' })),
  approval_target: Nullable(Enum(['any', 'new_window'])),
  external_identifier: Nullable(ExternalIdentifier),
  has_replacement: Type.Boolean({ description: 'Whether newer details of the card wait to be applied.' }),
  last_replaced_at: Nullable(DateTime()),
  last_used_at: Nullable(DateTime()),
  usage_count: Type.Integer({ minimum: 0, example: 0 }),
  cit_last_used_at: Nullable(DateTime()),
  cit_usage_count: Type.Integer({ minimum: 0, example: 0 }),
  scheme_transaction_id: Nullable(Type.String()),
  scheme_transaction_id_scheme: Nullable(CardScheme),
  transaction_link_id: Nullable(Type.String()),
  created_at: DateTime(),
  updated_at: DateTime(),
}

export const PaymentMethodSummary = Type.Object(summaryFields, { title: 'PaymentMethodSummary' })
export type PaymentMethodSummary = Static<typeof PaymentMethodSummary>

export const PaymentMethod = Type.Object(
  { ...summaryFields, buyer: Type.Unsafe<Static<typeof Buyer> | null>({ anyOf: [Buyer, { type: 'null' }] }) },
  { title: 'PaymentMethod' },
)
export type PaymentMethod = Static<typeof PaymentMethod>

export const PaymentMethods = Collection(PaymentMethod, { title: 'PaymentMethods' })
export const PaymentMethodSummaries = Type.Object(
  { items: Type.Array(PaymentMethodSummary) },
  { title: 'PaymentMethodSummaries' },
)

export const NewCard = Body(
  {
    method: Constant('card'),
    number: Type.String({ pattern: '^[0-9]{13,19}$', description: 'The card number.', example: '4111111111111111' }),
    expiration_date: ExpirationDate,
    security_code: Type.Optional(
      Nullable(
        Type.String({
          pattern: '^\\d{3,4}$',
          description: 'Checked for its form and forgotten: storing a card contacts nobody.',
          example: '123',
        }),
      ),
    ),
    external_identifier: Type.Optional(Nullable(ExternalIdentifier)),
    buyer_id: Type.Optional(
      Nullable(Uuid({ description: 'The buyer it belongs to; not together with `buyer_external_identifier`.' })),
    ),
    buyer_external_identifier: Type.Optional(Nullable(BuyerExternalIdentifier)),
    redirect_url: Type.Optional(
      Nullable(
        RedirectUrl({ description: 'Where the buyer returns after approving; only for methods that need approval.' }),
      ),
    ),
    card_type: Type.Optional(
      Nullable(Enum(['credit', 'debit', 'prepaid'], { description: 'If you know better than the BIN file.' })),
    ),
  },
  { title: 'CardPaymentMethodCreate' },
)
export type NewCard = Static<typeof NewCard>

const { properties: card } = NewCard

const NewFromSession = Body(
  {
    method: Constant('checkout-session'),
    id: Uuid({
      description: 'Id of a checkout session to which a card was sent; it can still be paid with afterwards.',
    }),
    external_identifier: card.external_identifier,
    buyer_id: card.buyer_id,
    buyer_external_identifier: card.buyer_external_identifier,
  },
  { title: 'CheckoutSessionPaymentMethodCreate' },
)

export const NewRedirect = Body(
  {
    method: Enum(redirectMethods, {
      description: 'How the buyer pays, on a page of the provider.',
      example: 'custom_redirect',
    }),
    country: Type.String({ pattern: '^[A-Z]{2}$', example: 'DE' }),
    currency: Type.String({ pattern: '^[A-Z]{3}$', example: 'EUR' }),
    redirect_url: RedirectUrl({ description: 'Where the buyer returns; the id and the status are added.' }),
    external_identifier: card.external_identifier,
    buyer_id: card.buyer_id,
    buyer_external_identifier: card.buyer_external_identifier,
  },
  { title: 'RedirectPaymentMethodCreate' },
)
export type NewRedirect = Static<typeof NewRedirect>

export type NewFromSession = Static<typeof NewFromSession>

export type NewPaymentMethod = NewCard | NewRedirect | NewFromSession
export const NewPaymentMethod = Type.Unsafe<NewPaymentMethod>({
  type: 'object',
  discriminator: { propertyName: 'method' },
  oneOf: [NewCard, NewFromSession, NewRedirect],
})

export const PaymentMethodUpdate = Body(
  {
    expiration_date: Type.Optional(Nullable(ExpirationDate)),
    scheme_transaction_id: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
    scheme_transaction_id_scheme: Type.Optional(Nullable(CardScheme)),
    transaction_link_id: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
  },
  { title: 'PaymentMethodUpdate' },
)
export type PaymentMethodUpdate = Static<typeof PaymentMethodUpdate>

export const PaymentMethodPath = Type.Object({ payment_method_id: Uuid({ description: 'Id of the payment method.' }) })

const buyerFilters = {
  buyer_id: Type.Optional(Uuid({ description: 'Only methods of this buyer.' })),
  buyer_external_identifier: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only methods of the buyer with this reference.' }),
  ),
}

export const ListPaymentMethodsQuery = Type.Object({
  ...PageQuery,
  ...buyerFilters,
  status: Type.Optional(
    Type.Array(Enum(paymentMethodStatuses), { maxItems: 100, description: 'Only methods in these states.' }),
  ),
  external_identifier: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only the method with this reference.' }),
  ),
})
export type ListPaymentMethodsQuery = Static<typeof ListPaymentMethodsQuery>

export const ListBuyerPaymentMethodsQuery = Type.Object({
  ...buyerFilters,
  sort_by: Type.Optional(
    Enum(['last_used_at', 'usage_count', 'cit_last_used_at', 'cit_usage_count'], {
      description: 'Default: newest first.',
    }),
  ),
  order_by: Type.Optional(Enum(['asc', 'desc'], { default: 'desc', description: 'Direction of `sort_by`.' })),
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'Leaves out methods of another country.' })),
  currency: Type.Optional(
    Type.String({ pattern: '^[A-Z]{3}$', description: 'Leaves out methods of another currency.' }),
  ),
})
export type ListBuyerPaymentMethodsQuery = Static<typeof ListBuyerPaymentMethodsQuery>
