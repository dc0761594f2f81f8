import { type Static, type TSchema, Type } from 'typebox'
import { Buyer } from '../areas/buyers/schema.ts'
import { ShippingDetails } from '../areas/buyers/shipping-details/schema.ts'
import { PaymentMethodSummary } from '../areas/payment-methods/schema.ts'
import { DateTime, Enum, Uuid } from '../schema.ts'

/** What an event says of the resource it is about, by the event's name. The public contract: one line a name. */

const KeyPairTarget = Type.Object(
  {
    type: Type.Literal('api-key-pair'),
    id: Uuid(),
    thumbprint: Type.String(),
    display_name: Type.String(),
    algorithm: Enum(['ECDSA', 'RSA']),
    enabled: Type.Boolean(),
    roles: Type.Array(Type.Object({ id: Uuid(), name: Type.String() })),
    merchant_accounts: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'APIKeyPairEventTarget', additionalProperties: false },
)

export const eventCatalog = {
  'api-key-pair.created': KeyPairTarget,
  'api-key-pair.updated': KeyPairTarget,
  'api-key-pair.deleted': KeyPairTarget,
  'buyer.created': Buyer,
  'buyer.updated': Buyer,
  'buyer.deleted': Buyer,
  'payment-method.updated': PaymentMethodSummary,
  'payment-method.deleted': PaymentMethodSummary,
  'shipping-details.created': ShippingDetails,
  'shipping-details.updated': ShippingDetails,
  'shipping-details.deleted': ShippingDetails,
} as const satisfies Record<string, TSchema>

export type EventName = keyof typeof eventCatalog
export type EventTarget<Name extends EventName> = Static<(typeof eventCatalog)[Name]>
