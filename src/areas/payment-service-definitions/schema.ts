import { type Static, Type } from 'typebox'
import { type Feature, features } from '../../connectors/payment.ts'
import { methods, modes } from '../../methods.ts'
import { Collection, Constant, Enum, Nullable, PageQuery } from '../../schema.ts'

const DefinitionField = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 50, example: 'merchant_id' }),
    display_name: Type.String({ minLength: 1, maxLength: 200, example: 'Merchant ID' }),
    required: Type.Boolean(),
    format: Enum(['text', 'multiline', 'file', 'number', 'timezone', 'boolean']),
    secret: Type.Boolean({ description: 'Whether its value can be set and never read.' }),
    verifiable: Type.Boolean({ description: 'Whether it is one of those that `verify` looks at.' }),
  },
  { title: 'DefinitionField' },
)

const RequiredCheckoutFields = Type.Object(
  {
    required_fields: Type.Array(Type.String(), { uniqueItems: true }),
    conditions: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
  },
  { title: 'RequiredCheckoutFields' },
)

const Configuration = Type.Object(
  {
    approval_ui_target: Enum(['any', 'new_window']),
    approval_ui_height: Type.String({ pattern: '^\\d+(?:vh|px)$', example: '100vh' }),
    approval_ui_width: Type.String({ pattern: '^\\d+(?:vw|px)$', example: '100vw' }),
    cart_items_limit: Type.Integer(),
    cart_items_required: Type.Boolean(),
    cart_items_should_match_amount: Type.Boolean(),
  },
  { title: 'PaymentServiceConfiguration' },
)

export const PaymentServiceDefinition = Type.Object(
  {
    type: Constant('payment-service-definition'),
    id: Type.String({ minLength: 1, maxLength: 50, description: 'Provider, dash, method.', example: 'mock-card' }),
    display_name: Type.String({ minLength: 1, maxLength: 200, example: 'Sandbox card processor' }),
    method: Enum(methods, { example: 'card' }),
    mode: Enum(modes, { example: 'card' }),
    fields: Type.Array(DefinitionField, { description: 'What a payment service of this kind is set up with.' }),
    reporting_fields: Type.Array(DefinitionField, { description: 'The same for its settlement reports.' }),
    supported_currencies: Type.Array(Type.String({ pattern: '^[A-Z]{3}$' }), { example: ['EUR'] }),
    supported_countries: Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), { example: ['DE'] }),
    icon_url: Nullable(Type.String({ format: 'uri' })),
    supported_features: Type.Object(
      Object.fromEntries(features.map((feature) => [feature, Type.Boolean()])) as Record<
        Feature,
        ReturnType<typeof Type.Boolean>
      >,
    ),
    required_checkout_fields: Type.Array(RequiredCheckoutFields),
    configuration: Configuration,
    supported_integration_clients: Nullable(Type.Array(Enum(['redirect', 'web', 'android', 'ios']))),
  },
  { title: 'PaymentServiceDefinition' },
)
export type PaymentServiceDefinition = Static<typeof PaymentServiceDefinition>

export const PaymentServiceDefinitions = Collection(PaymentServiceDefinition, { title: 'PaymentServiceDefinitions' })

export const PaymentServiceDefinitionPath = Type.Object({
  payment_service_definition_id: Type.String({
    description: 'Id of the payment service definition.',
    example: 'mock-card',
  }),
})

export const ListPaymentServiceDefinitionsQuery = Type.Object(PageQuery)
