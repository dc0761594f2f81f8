import { createAntiFraudService } from '../../areas/anti-fraud-services/operations/services.ts'
import { createGiftCardService } from '../../areas/gift-card-services/operations/services.ts'
import { createMerchantAccount } from '../../areas/merchant-accounts/operations.ts'
import { createPaymentMethod } from '../../areas/payment-methods/operations/create.ts'
import { createPaymentService } from '../../areas/payment-services/operations/change.ts'
import { mockAntiFraud } from '../../connectors/sandbox/mock-anti-fraud.ts'
import { mockGiftCardDefinition } from '../../connectors/sandbox/mock-gift-card/definition.ts'
import type { Context } from '../../context.ts'
import { shopName } from './catalogue.ts'

/** The merchant account with all that the sandbox has to offer: providers of cards, of redirects and of gift cards, and a fraud check. */
export async function openShop(ctx: Context, account: string): Promise<void> {
  await createMerchantAccount({ ...ctx, accounts: 'all' }, { id: account, display_name: shopName })
  for (const { definition } of ctx.connectors.values()) {
    await createPaymentService(ctx, {
      display_name: definition.display_name,
      payment_service_definition_id: definition.id,
      fields: [{ key: 'merchant_id', value: account }],
      accepted_currencies: [...definition.supported_currencies],
      accepted_countries: [...definition.supported_countries],
      three_d_secure_enabled: definition.supported_features.three_d_secure_hosted,
      settlement_reporting_enabled: definition.supported_features.settlement_reporting,
    })
  }
  await createGiftCardService(ctx, {
    display_name: mockGiftCardDefinition.display_name,
    gift_card_service_definition_id: mockGiftCardDefinition.id,
    fields: [{ key: 'api_key', value: account }],
  })
  await createAntiFraudService(ctx, {
    display_name: 'Fraud checks',
    anti_fraud_service_definition_id: mockAntiFraud.id,
  })
}

/** A payment method that waits for its buyer, beside those that payments leave. */
export const beginEnrolment = (ctx: Context) =>
  createPaymentMethod(ctx, {
    method: 'custom_redirect',
    country: 'DE',
    currency: 'EUR',
    redirect_url: 'https://shop.example.com/account',
  })
