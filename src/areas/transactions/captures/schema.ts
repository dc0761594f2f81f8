import { type Static, Type } from 'typebox'
import { Collection, Constant, DateTime, Enum, Nullable, Uuid } from '../../../schema.ts'
import { Amount, CartItems } from '../../../purchase.ts'

export const captureStatuses = ['succeeded', 'pending', 'declined', 'failed'] as const
export type CaptureStatus = (typeof captureStatuses)[number]

export const Capture = Type.Object(
  {
    type: Constant('capture'),
    id: Uuid(),
    merchant_account_id: Type.String({ example: 'default' }),
    transaction_id: Uuid(),
    xid: Nullable(Type.String({ description: "The provider's own id." })),
    currency: Type.String({ example: 'EUR' }),
    amount: Amount({ example: 1299 }),
    status: Enum(captureStatuses, { example: 'succeeded' }),
    final: Type.Boolean({ description: 'Whether the rest of the authorization was released.' }),
    external_identifier: Nullable(Type.String()),
    error_code: Nullable(Type.String()),
    iso_response_code: Nullable(Type.String()),
    raw_response_code: Nullable(Type.String()),
    raw_response_description: Nullable(Type.String()),
    transaction_external_identifier: Nullable(Type.String()),
    cart_items: CartItems,
    captured_at: Nullable(DateTime()),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'Capture' },
)
export type Capture = Static<typeof Capture>

export const Captures = Collection(Capture, { title: 'CaptureCollection' })

export const CapturePath = Type.Object({
  transaction_id: Uuid({ description: 'Id of the transaction.' }),
  capture_id: Uuid({ description: 'Id of the capture.' }),
})
