import { accountUpdaterRoutes } from '../areas/account-updater/routes.ts'
import { antiFraudServiceRoutes } from '../areas/anti-fraud-services/routes.ts'
import { apiKeyPairRoutes } from '../areas/api-key-pairs/routes.ts'
import { auditLogRoutes } from '../areas/audit-logs/routes.ts'
import { buyerRoutes } from '../areas/buyers/routes.ts'
import { shippingDetailsRoutes } from '../areas/buyers/shipping-details/routes.ts'
import { cardSchemeDefinitionRoutes } from '../areas/card-scheme-definitions/routes.ts'
import { checkoutRoutes } from '../areas/checkout/routes.ts'
import { feedRoutes } from '../areas/events/feed/routes.ts'
import { eventRoutes } from '../areas/events/routes.ts'
import { giftCardServiceDefinitionRoutes } from '../areas/gift-card-service-definitions/routes.ts'
import { giftCardServiceRoutes } from '../areas/gift-card-services/routes.ts'
import { giftCardRoutes } from '../areas/gift-cards/routes.ts'
import { clockRoutes } from '../areas/merchant-accounts/clock/routes.ts'
import { merchantAccountRoutes } from '../areas/merchant-accounts/routes.ts'
import { paymentMethodRoutes } from '../areas/payment-methods/routes.ts'
import { paymentServiceDefinitionRoutes } from '../areas/payment-service-definitions/routes.ts'
import { paymentServiceRoutes } from '../areas/payment-services/routes.ts'
import { roleRoutes } from '../areas/roles/routes.ts'
import { simulatorRuleRoutes } from '../areas/simulator-rules/routes.ts'
import { threeDSScenarioRoutes } from '../areas/three-ds-scenarios/routes.ts'
import { captureRoutes } from '../areas/transactions/captures/routes.ts'
import { transactionEventRoutes } from '../areas/transactions/events/routes.ts'
import { notificationRoutes } from '../areas/transactions/notifications/routes.ts'
import { refundRoutes } from '../areas/transactions/refunds/routes.ts'
import { reviewRoutes } from '../areas/transactions/reviews/routes.ts'
import { statementRoutes } from '../areas/transactions/statements/routes.ts'
import { transactionRoutes } from '../areas/transactions/routes.ts'
import { webhookDeliveryRoutes } from '../areas/webhook-deliveries/routes.ts'
import { webhookReplayRoutes } from '../areas/webhook-subscriptions/replays/routes.ts'
import { webhookTestRoutes } from '../areas/webhook-subscriptions/test-events/routes.ts'
import { webhookSubscriptionRoutes } from '../areas/webhook-subscriptions/routes.ts'
import type { Route } from './route.ts'

/** Every operation there is, one line an area. Validation, openapi.json, the reference and the every-route tests read this. */
export const routes: readonly Route[] = [
  ...accountUpdaterRoutes,
  ...antiFraudServiceRoutes,
  ...apiKeyPairRoutes,
  ...auditLogRoutes,
  ...buyerRoutes,
  ...shippingDetailsRoutes,
  ...cardSchemeDefinitionRoutes,
  ...checkoutRoutes,
  ...eventRoutes,
  ...feedRoutes,
  ...giftCardRoutes,
  ...giftCardServiceDefinitionRoutes,
  ...giftCardServiceRoutes,
  ...merchantAccountRoutes,
  ...clockRoutes,
  ...paymentMethodRoutes,
  ...paymentServiceDefinitionRoutes,
  ...paymentServiceRoutes,
  ...notificationRoutes,
  ...roleRoutes,
  ...simulatorRuleRoutes,
  ...threeDSScenarioRoutes,
  ...transactionRoutes,
  ...captureRoutes,
  ...transactionEventRoutes,
  ...refundRoutes,
  ...reviewRoutes,
  ...statementRoutes,
  ...webhookDeliveryRoutes,
  ...webhookReplayRoutes,
  ...webhookTestRoutes,
  ...webhookSubscriptionRoutes,
]
