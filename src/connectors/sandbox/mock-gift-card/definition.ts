import type { GiftCardServiceDefinition } from '../../gift-card.ts'

export const mockGiftCardDefinition: GiftCardServiceDefinition = {
  id: 'mock-gift-card',
  display_name: 'Sandbox gift card provider',
  fields: [{ key: 'api_key', display_name: 'API key', required: true, secret: true }],
}
