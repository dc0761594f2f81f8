import { type Static, Type } from 'typebox'
import { Body, Constant, DateTime, Uuid } from '../../../schema.ts'
import { Names } from '../schema.ts'

const ConsumerName = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9._-]{1,50}$', description, example: 'warehouse' })

export const FeedQuery = Type.Object({
  position: Type.Optional(
    Uuid({ description: 'Id of the last event you have. Without it, and without a consumer: from now on.' }),
  ),
  consumer: Type.Optional(ConsumerName('Go on where this consumer is, instead of at `position`.')),
  name: Type.Optional(Names),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3_600,
      default: 0,
      description: 'How many seconds to stay and send what comes. 0: what there is, and then the end.',
    }),
  ),
})
export type FeedQuery = Static<typeof FeedQuery>

export const EventConsumer = Type.Object(
  {
    type: Constant('event-consumer'),
    id: ConsumerName('A name of your own choice.'),
    position: Uuid({ description: 'The last event that it has taken.' }),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'EventConsumer' },
)
export type EventConsumer = Static<typeof EventConsumer>

export const NewEventConsumer = Body(
  { id: ConsumerName('A name of your own choice.') },
  { title: 'EventConsumerCreate' },
)
export type NewEventConsumer = Static<typeof NewEventConsumer>

export const EventConsumerUpdate = Body(
  { position: Uuid({ description: 'Id of the last event that it has taken. It may go back.' }) },
  { title: 'EventConsumerUpdate' },
)
export type EventConsumerUpdate = Static<typeof EventConsumerUpdate>

export const EventConsumerPath = Type.Object({ event_consumer_id: Type.String({ description: 'Id of the consumer.' }) })
