import { accountUpdaterRoutes } from '../areas/account-updater/routes.ts'
import { apiKeyPairRoutes } from '../areas/api-key-pairs/routes.ts'
import { auditLogRoutes } from '../areas/audit-logs/routes.ts'
import { buyerRoutes } from '../areas/buyers/routes.ts'
import { shippingDetailsRoutes } from '../areas/buyers/shipping-details/routes.ts'
import { cardSchemeDefinitionRoutes } from '../areas/card-scheme-definitions/routes.ts'
import { merchantAccountRoutes } from '../areas/merchant-accounts/routes.ts'
import { paymentMethodRoutes } from '../areas/payment-methods/routes.ts'
import { roleRoutes } from '../areas/roles/routes.ts'
import type { Route } from './route.ts'

/** Every operation there is, one line an area. Validation, openapi.json, the reference and the every-route tests read this. */
export const routes: readonly Route[] = [
  ...accountUpdaterRoutes,
  ...apiKeyPairRoutes,
  ...auditLogRoutes,
  ...buyerRoutes,
  ...shippingDetailsRoutes,
  ...cardSchemeDefinitionRoutes,
  ...merchantAccountRoutes,
  ...paymentMethodRoutes,
  ...roleRoutes,
]
