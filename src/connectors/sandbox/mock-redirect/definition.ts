import type { PaymentServiceDefinition } from '../../payment.ts'
import { mockCardDefinition } from '../mock-card/definition.ts'

export const mockRedirectDefinition: PaymentServiceDefinition = {
  ...mockCardDefinition,
  id: 'mock-redirect',
  display_name: 'Sandbox redirect method',
  method: 'custom_redirect',
  mode: 'redirect',
  supported_features: { ...mockCardDefinition.supported_features, three_d_secure_hosted: false },
}
