import { type Static, Type } from 'typebox'
import { Body, Collection, Constant, DateTime, Enum, Nullable, optional, Uuid } from '../../../schema.ts'
import { Amount } from '../../../purchase.ts'

export const refundStatuses = ['processing', 'succeeded', 'failed', 'declined', 'voided'] as const
export type RefundStatus = (typeof refundStatuses)[number]

const Creator = Type.Object(
  {
    id: Uuid(),
    name: Type.String(),
    email_address: Nullable(Type.String()),
    thumbprint: Nullable(Type.String()),
  },
  { title: 'RefundCreator' },
)

export const Refund = Type.Object(
  {
    type: Constant('refund'),
    id: Uuid(),
    transaction_id: Uuid(),
    payment_service_refund_id: Nullable(Type.String({ description: "The provider's own id." })),
    status: Enum(refundStatuses, { example: 'succeeded' }),
    currency: Type.String({ example: 'EUR' }),
    amount: Amount({ example: 1299 }),
    reason: Nullable(Type.String()),
    target_type: Enum(['payment-method', 'gift-card-redemption']),
    target_id: Nullable(Uuid()),
    reconciliation_id: Type.String(),
    external_identifier: Nullable(Type.String()),
    transaction_reconciliation_id: Type.String(),
    transaction_external_identifier: Nullable(Type.String()),
    created_at: DateTime(),
    updated_at: DateTime(),
    creator: Nullable(Creator),
    error_code: Nullable(Type.String()),
    raw_response_code: Nullable(Type.String()),
    raw_response_description: Nullable(Type.String()),
    settled_currency: Nullable(Type.String()),
    settled_amount: Type.Integer(),
    settled: Type.Boolean(),
  },
  { title: 'Refund' },
)
export type Refund = Static<typeof Refund>

export const Refunds = Collection(Refund, { title: 'Refunds' })

const common = {
  reason: Nullable(Type.String({ maxLength: 100, example: 'Returned goods' })),
  external_identifier: Nullable(Type.String({ minLength: 1, maxLength: 300 })),
}

export const NewRefund = Body(
  optional({
    amount: Nullable(Amount({ minimum: 1, description: 'Default: everything that is left.' })),
    target_type: Enum(['payment-method', 'gift-card-redemption'], { default: 'payment-method' }),
    target_id: Nullable(Uuid({ description: 'The redemption, with `gift-card-redemption`.' })),
    ...common,
  }),
  { title: 'TransactionRefundCreate' },
)
export type NewRefund = Static<typeof NewRefund>

export const RefundAll = Body(optional(common), { title: 'TransactionRefundAllCreate' })
export type RefundAll = Static<typeof RefundAll>

export const RefundPath = Type.Object({ refund_id: Uuid({ description: 'Id of the refund.' }) })
export const TransactionRefundPath = Type.Object({
  transaction_id: Uuid({ description: 'Id of the transaction.' }),
  refund_id: Uuid({ description: 'Id of the refund.' }),
})
