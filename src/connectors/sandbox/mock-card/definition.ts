import { countries } from '../../../countries.ts'
import { currencies } from '../../../currencies.ts'
import { features, type Feature, type PaymentServiceDefinition } from '../../payment.ts'

const supported = new Set<Feature>([
  'delayed_capture',
  'multi_capture',
  'over_capture',
  'partial_capture',
  'partial_refunds',
  'refunds',
  'settlement_reporting',
  'three_d_secure_hosted',
  'transaction_cancel',
  'transaction_sync',
  'verify_credentials',
  'void',
])

export const mockCardDefinition: PaymentServiceDefinition = {
  id: 'mock-card',
  display_name: 'Sandbox card processor',
  method: 'card',
  mode: 'card',
  fields: [
    {
      key: 'merchant_id',
      display_name: 'Merchant ID',
      required: true,
      format: 'text',
      secret: false,
      verifiable: true,
    },
    {
      key: 'webhook_secret',
      display_name: 'Webhook secret',
      required: false,
      format: 'text',
      secret: true,
      verifiable: false,
    },
  ],
  reporting_fields: [],
  supported_currencies: currencies,
  supported_countries: countries,
  icon_url: null,
  supported_features: Object.fromEntries(features.map((feature) => [feature, supported.has(feature)])) as Record<
    Feature,
    boolean
  >,
  required_checkout_fields: [],
  configuration: {
    approval_ui_target: 'any',
    approval_ui_height: '100vh',
    approval_ui_width: '100vw',
    cart_items_limit: 249,
    cart_items_required: false,
    cart_items_should_match_amount: false,
  },
  supported_integration_clients: ['redirect'],
}
