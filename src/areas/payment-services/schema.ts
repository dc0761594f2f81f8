import { type Static, type TSchema, Type } from 'typebox'
import { type CardScheme, cardSchemeIds } from '../../card-schemes.ts'
import { methods } from '../../methods.ts'
import { Body, Collection, Constant, DateTime, Enum, Nullable, optional, PageQuery, Uuid } from '../../schema.ts'
import { paymentServiceStatuses } from './rules.ts'

const Key = Type.String({ minLength: 1, maxLength: 50, description: 'As in the definition.', example: 'merchant_id' })
const fieldList = <Field extends TSchema>(field: Field, description: string) =>
  Type.Array(field, { maxItems: 100, description })

const Field = Body(
  { key: Key, value: Type.String({ minLength: 1, maxLength: 10_000, example: 'shop-4711' }) },
  { title: 'Field' },
)
const VoidableField = Body(
  { key: Key, value: Type.String({ maxLength: 10_000, description: 'Empty: clears it.', example: 'shop-4711' }) },
  { title: 'VoidableField' },
)

const profileFields = {
  merchant_acquirer_bin: Type.String({ maxLength: 11, example: '516327' }),
  merchant_acquirer_id: Type.String({ maxLength: 35, example: '123456789012345' }),
  merchant_name: Type.String({ maxLength: 40, example: 'Analytical Engines' }),
  merchant_country_code: Type.String({ maxLength: 50, example: '826' }),
  merchant_category_code: Type.String({ minLength: 4, maxLength: 4, example: '5045' }),
  merchant_url: Type.String({ maxLength: 2_048, example: 'https://example.com' }),
}
const perScheme = <Schema extends TSchema>(schema: Schema) =>
  optional(Object.fromEntries(cardSchemeIds.map((scheme) => [scheme, schema])) as Record<CardScheme, Schema>)

const MerchantProfileScheme = Body(profileFields, { title: 'MerchantProfileScheme' })
const MerchantProfileInput = Nullable(
  Body(perScheme(Nullable(MerchantProfileScheme)), {
    title: 'MerchantProfileInput',
    description: 'How the merchant is known to a card scheme, for 3-D Secure; by scheme. Null clears a scheme, or all.',
  }),
)
export type MerchantProfileInput = Static<typeof MerchantProfileInput>

const MerchantProfile = Type.Object(
  perScheme(Type.Object({ ...profileFields, created_at: DateTime() }, { title: 'MerchantProfileSchemeSummary' })),
  { title: 'MerchantProfile' },
)
export type MerchantProfile = Static<typeof MerchantProfile>

const DisplayName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'A name to show to people.',
  example: 'Cards in Europe',
})
const DefinitionId = Type.String({
  minLength: 1,
  maxLength: 50,
  description: 'Id of the payment service definition.',
  example: 'mock-card',
})
const Position = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  description: 'The order in which services are tried. Default: after the last one.',
  example: 1,
})
const codes = (pattern: string, description: string, example: string[]) =>
  Type.Array(Type.String({ pattern }), { minItems: 1, maxItems: 300, description, example })
const Currencies = codes('^[A-Z]{3}$', 'Currencies it is used for, of those the definition supports.', ['EUR', 'GBP'])
const Countries = codes('^[A-Z]{2}$', 'Countries it is used for, of those the definition supports.', ['DE', 'GB'])

const flag = (description: string) => Type.Boolean({ default: false, description })
const Active = Type.Boolean({ default: true, description: 'Whether payments may go to it.' })
const Tokenization = flag("Whether cards become the provider's own tokens; not together with `open_loop`.")
const NetworkTokens = flag('Whether network tokens are used; needs `open_loop`.')
const OpenLoop = flag('Whether the card number itself is sent.')
const SettlementReporting = flag('Whether its settlement reports are fetched, with `reporting_fields`.')
const ThreeDSecure = flag('Whether the provider does 3-D Secure; the definition must support it.')

export const PaymentService = Type.Object(
  {
    type: Constant('payment-service'),
    id: Uuid(),
    merchant_account_id: Type.String({ example: 'default' }),
    payment_service_definition_id: DefinitionId,
    active: Active,
    method: Enum(methods, { example: 'card' }),
    display_name: DisplayName,
    position: Position,
    status: Enum(paymentServiceStatuses, { example: 'created' }),
    accepted_currencies: Currencies,
    accepted_countries: Countries,
    payment_method_tokenization_enabled: Tokenization,
    network_tokens_enabled: NetworkTokens,
    open_loop: OpenLoop,
    settlement_reporting_enabled: SettlementReporting,
    three_d_secure_enabled: Nullable(ThreeDSecure),
    merchant_profile: Nullable(MerchantProfile),
    webhook_url: Nullable(Type.String({ format: 'uri', description: 'Where the provider sends its messages.' })),
    fields: fieldList(Field, 'What is set and is no secret.'),
    reporting_fields: fieldList(Field, 'What is set and is no secret.'),
    is_deleted: Type.Boolean({ default: false }),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'PaymentService' },
)
export type PaymentService = Static<typeof PaymentService>

export const PaymentServices = Collection(PaymentService, { title: 'PaymentServices' })

export const NewPaymentService = Body(
  {
    display_name: DisplayName,
    payment_service_definition_id: DefinitionId,
    fields: fieldList(Field, 'Values of the fields that the definition names. Secret ones are never shown again.'),
    reporting_fields: Type.Optional(Nullable(fieldList(Field, 'The same for settlement reports.'))),
    accepted_currencies: Currencies,
    accepted_countries: Countries,
    ...optional({
      position: Nullable(Position),
      active: Nullable(Active),
      three_d_secure_enabled: ThreeDSecure,
      merchant_profile: MerchantProfileInput,
      payment_method_tokenization_enabled: Nullable(Tokenization),
      network_tokens_enabled: Nullable(NetworkTokens),
      open_loop: Nullable(OpenLoop),
      settlement_reporting_enabled: SettlementReporting,
    }),
  },
  { title: 'PaymentServiceCreate' },
)
export type NewPaymentService = Static<typeof NewPaymentService>

export const PaymentServiceUpdate = Body(
  optional({
    display_name: Nullable(DisplayName),
    fields: Nullable(fieldList(VoidableField, 'Fields to set or clear; the others keep their value.')),
    reporting_fields: Nullable(fieldList(VoidableField, 'The same for settlement reports.')),
    position: Nullable(Position),
    accepted_currencies: Nullable(Currencies),
    accepted_countries: Nullable(Countries),
    active: Nullable(Active),
    three_d_secure_enabled: Nullable(ThreeDSecure),
    merchant_profile: MerchantProfileInput,
    payment_method_tokenization_enabled: Nullable(Tokenization),
    network_tokens_enabled: Nullable(NetworkTokens),
    open_loop: Nullable(OpenLoop),
    settlement_reporting_enabled: SettlementReporting,
  }),
  { title: 'PaymentServiceUpdate' },
)
export type PaymentServiceUpdate = Static<typeof PaymentServiceUpdate>

export const VerifyCredentials = Body(
  {
    payment_service_definition_id: DefinitionId,
    payment_service_id: Type.Optional(
      Nullable(Uuid({ description: 'A payment service whose fields stand in for those that are left out.' })),
    ),
    fields: fieldList(Field, 'The credentials to try.'),
  },
  { title: 'VerifyCredentials' },
)
export type VerifyCredentials = Static<typeof VerifyCredentials>

export const PaymentServicePath = Type.Object({
  payment_service_id: Uuid({ description: 'Id of the payment service.' }),
})

export const ListPaymentServicesQuery = Type.Object({
  ...PageQuery,
  method: Type.Optional(Enum(methods, { description: 'Only services of this method.' })),
  deleted: Type.Optional(
    Type.Boolean({ default: false, description: 'True: only those that are deleted. False: only those that are not.' }),
  ),
})
export type ListPaymentServicesQuery = Static<typeof ListPaymentServicesQuery>
