import { type Static, Type } from 'typebox'
import { eventNames } from '../../../events/catalog.ts'
import { Body, Collection, Constant, DateTime, Enum, Nullable, optional, PageQuery, Uuid } from '../../../schema.ts'
import { WebhookSubscriptionPath } from '../schema.ts'

const From = DateTime({ description: 'Events from this moment on, which is included.' })
const To = DateTime({ description: 'Events up to this moment, which is included.' })
const EventNames = Type.Array(Enum(eventNames, { example: 'transaction.captured' }), {
  minItems: 1,
  maxItems: eventNames.length,
  description: 'Only events of these names. Null: those that the subscription is told of anyway.',
})
const UndeliveredOnly = Type.Boolean({
  default: false,
  description:
    'Only events that the subscription has not received and that are not about to be sent to it. Deliveries older than they are kept count as not received.',
})

export const WebhookReplay = Type.Object(
  {
    type: Constant('webhook-replay'),
    id: Nullable(Uuid({ description: 'Null for a dry run, of which nothing is kept.' })),
    merchant_account_id: Nullable(
      Type.String({
        description: 'Of the subscription; null when that is for the whole instance.',
        example: 'default',
      }),
    ),
    subscription_id: Uuid(),
    created_at_gte: From,
    created_at_lte: To,
    event_names: Nullable(EventNames),
    undelivered_only: UndeliveredOnly,
    deliveries: Type.Integer({
      description: 'How many deliveries it has made so far; for a dry run, how many it would make.',
      example: 42,
    }),
    is_minimum: Type.Boolean({
      description: 'True for a dry run that has looked at so many events that it stopped counting: there may be more.',
    }),
    position: Nullable(DateTime({ description: 'The moment of the last event that it has looked at.' })),
    created_at: DateTime(),
    finished_at: Nullable(DateTime({ description: 'Null while it is running.' })),
  },
  { title: 'WebhookReplay' },
)
export type WebhookReplay = Static<typeof WebhookReplay>

export const WebhookReplays = Collection(WebhookReplay, { title: 'WebhookReplays' })

export const NewWebhookReplay = Body(
  {
    created_at_gte: From,
    ...optional({
      created_at_lte: Nullable(DateTime({ description: 'Events up to this moment. Left out: up to now.' })),
      event_names: Nullable(EventNames),
      undelivered_only: UndeliveredOnly,
      dry_run: Type.Boolean({ default: false, description: 'Only counts, and changes nothing.' }),
    }),
  },
  { title: 'WebhookReplayCreate' },
)
export type NewWebhookReplay = Static<typeof NewWebhookReplay>

export const ReplayPath = Type.Object({
  ...WebhookSubscriptionPath.properties,
  replay_id: Uuid({ description: 'Id of the replay.' }),
})
export type ReplayPath = Static<typeof ReplayPath>

export const ListWebhookReplaysQuery = Type.Object(PageQuery)
