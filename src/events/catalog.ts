import { type Static, type TSchema, Type } from 'typebox'
import { Buyer } from '../areas/buyers/schema.ts'
import { ShippingDetails } from '../areas/buyers/shipping-details/schema.ts'
import { GiftCard } from '../areas/gift-cards/schema.ts'
import { PaymentMethodSummary } from '../areas/payment-methods/schema.ts'
import { Capture } from '../areas/transactions/captures/schema.ts'
import { Refund } from '../areas/transactions/refunds/schema.ts'
import { DateTime, Enum, Nullable, Uuid } from '../schema.ts'

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

const TransactionTarget = Type.Object(
  {
    type: Type.Literal('transaction'),
    id: Uuid(),
    status: Type.String(),
    amount: Type.Integer(),
    currency: Type.String(),
    authorized_amount: Type.Integer(),
    captured_amount: Type.Integer(),
    refunded_amount: Type.Integer(),
    external_identifier: Nullable(Type.String()),
    payment_method: Nullable(Type.Object({ id: Nullable(Uuid()), method: Type.String() })),
    payment_service_transaction_id: Nullable(Type.String()),
    payment_link_id: Nullable(Uuid()),
    pending_review: Type.Boolean(),
    error_code: Nullable(Type.String()),
    metadata: Nullable(
      Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
    ),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'TransactionEventTarget', additionalProperties: false },
)

const TestTarget = Type.Object(
  { type: Type.Literal('webhook-subscription'), id: Uuid(), merchant_account_id: Nullable(Type.String()) },
  { title: 'WebhookTestEventTarget', additionalProperties: false },
)

export const eventCatalog = {
  'api-key-pair.created': KeyPairTarget,
  'api-key-pair.updated': KeyPairTarget,
  'api-key-pair.deleted': KeyPairTarget,
  'buyer.created': Buyer,
  'buyer.updated': Buyer,
  'buyer.deleted': Buyer,
  'capture.pending': Capture,
  'capture.succeeded': Capture,
  'capture.declined': Capture,
  'capture.failed': Capture,
  'gift-card.created': GiftCard,
  'gift-card.deleted': GiftCard,
  'payment-method.updated': PaymentMethodSummary,
  'payment-method.deleted': PaymentMethodSummary,
  'refund.pending': Refund,
  'refund.succeeded': Refund,
  'refund.declined': Refund,
  'refund.failed': Refund,
  'shipping-details.created': ShippingDetails,
  'shipping-details.updated': ShippingDetails,
  'shipping-details.deleted': ShippingDetails,
  'transaction.authentication-pending': TransactionTarget,
  'transaction.authorized': TransactionTarget,
  'transaction.declined': TransactionTarget,
  'transaction.failed': TransactionTarget,
  'transaction.capture-pending': TransactionTarget,
  'transaction.captured': TransactionTarget,
  'transaction.capture-failed': TransactionTarget,
  'transaction.void-pending': TransactionTarget,
  'transaction.voided': TransactionTarget,
  'transaction.void-declined': TransactionTarget,
  'transaction.void-failed': TransactionTarget,
  'transaction.review-accepted': TransactionTarget,
  'transaction.settled': TransactionTarget,
  'transaction.modified': TransactionTarget,
  'webhook-subscription.test': TestTarget,
} as const satisfies Record<string, TSchema>

export type EventName = keyof typeof eventCatalog
export const eventNames = Object.keys(eventCatalog) as EventName[]

/** What an event is about is the first part of its name. */
export const eventTypes = [...new Set(eventNames.map(typeOf))]

export function typeOf(name: EventName): string {
  return name.slice(0, name.indexOf('.'))
}
export type EventTarget<Name extends EventName> = Static<(typeof eventCatalog)[Name]>
