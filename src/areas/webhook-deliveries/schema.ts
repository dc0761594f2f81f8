import { type Static, Type } from 'typebox'
import { Collection, Constant, DateTime, Enum, Nullable, PageQuery, Uuid } from '../../schema.ts'
import { deliveryOrigins, deliveryStatuses } from './rules.ts'

const StatusCode = (description: string) => Nullable(Type.Integer({ description, example: 200 }))
const Failure = (description: string) => Nullable(Type.String({ description, example: 'timeout' }))

const delivery = {
  type: Constant('webhook-delivery'),
  id: Uuid({ description: 'The same for every attempt.' }),
  merchant_account_id: Nullable(
    Type.String({ description: 'Of the subscription; null when that is for the whole instance.', example: 'default' }),
  ),
  subscription_id: Uuid(),
  event_id: Uuid(),
  event_name: Nullable(
    Type.String({ description: 'Null when the event is no longer kept.', example: 'transaction.captured' }),
  ),
  origin: Enum(deliveryOrigins, {
    description: 'Whether it was made when the event happened, by a replay, or to test the subscription.',
  }),
  status: Enum(deliveryStatuses, {
    description:
      '`pending`: to be sent, for the first time or again. `failed`: nothing more is sent, unless a retry is asked for.',
  }),
  attempt_count: Type.Integer({ description: 'How often it was sent.', example: 1 }),
  next_attempt_at: Nullable(DateTime({ description: 'When it is sent next; null when it is not `pending`.' })),
  status_code: StatusCode('What the endpoint answered last; null when it did not answer.'),
  error: Failure('What was wrong with the last attempt.'),
  created_at: DateTime(),
  updated_at: DateTime(),
}

export const WebhookDelivery = Type.Object(delivery, { title: 'WebhookDelivery' })
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const WebhookDeliveries = Collection(WebhookDelivery, { title: 'WebhookDeliveries' })

const WebhookAttempt = Type.Object(
  {
    type: Constant('webhook-attempt'),
    id: Uuid(),
    number: Type.Integer({ description: 'Counts from 1 within the delivery.', example: 1 }),
    status_code: StatusCode('What the endpoint answered; null when it did not answer.'),
    error: Failure('What was wrong; null when it succeeded.'),
    duration_ms: Type.Integer({ description: 'How long it took, in milliseconds.', example: 87 }),
    created_at: DateTime(),
  },
  { title: 'WebhookAttempt' },
)
export type WebhookAttempt = Static<typeof WebhookAttempt>

export const WebhookDeliveryDetails = Type.Object(
  { ...delivery, attempts: Type.Array(WebhookAttempt, { description: 'Newest first, the last 100.' }) },
  { title: 'WebhookDeliveryDetails' },
)
export type WebhookDeliveryDetails = Static<typeof WebhookDeliveryDetails>

export const WebhookDeliveryPath = Type.Object({ delivery_id: Uuid({ description: 'Id of the webhook delivery.' }) })

export const ListWebhookDeliveriesQuery = Type.Object({
  ...PageQuery,
  subscription_id: Type.Optional(Uuid({ description: 'Only deliveries to this webhook subscription.' })),
  event_id: Type.Optional(Uuid({ description: 'Only deliveries of this event.' })),
  status: Type.Optional(
    Type.Array(Enum(deliveryStatuses), { maxItems: 10, description: 'Only deliveries in these states.' }),
  ),
  undelivered: Type.Optional(
    Type.Boolean({ description: 'True: only those that are `pending` or `failed`. False: only the others.' }),
  ),
})
export type ListWebhookDeliveriesQuery = Static<typeof ListWebhookDeliveriesQuery>
