import { type Static, Type } from 'typebox'
import { eventNames, eventTypes } from '../../events/catalog.ts'
import { envelopeFields } from '../../events/envelope.ts'
import { Collection, Constant, DateTime, Enum, PageQuery, Uuid } from '../../schema.ts'

export const Event = Type.Object(
  {
    type: Constant('event'),
    name: Enum(eventNames, { example: 'transaction.captured' }),
    ...envelopeFields,
    target: Type.Unsafe<{ type: string; id: string }>({
      type: 'object',
      description: 'The resource as it was then. What it holds goes by the name: see the webhook of that name.',
      required: ['type', 'id'],
      properties: { type: Enum(eventTypes), id: Uuid() },
      additionalProperties: true,
    }),
  },
  { title: 'Event' },
)

export const Events = Collection(Event, { title: 'Events' })

export const EventPath = Type.Object({ event_id: Uuid({ description: 'Id of the event.' }) })

export const Names = Type.Array(Enum(eventNames), {
  maxItems: eventNames.length,
  description: 'Events of this name. Repeat the parameter for several: any of them.',
})

const Moment = (description: string) =>
  DateTime({ description: `${description}, this moment included. With a time zone, URL encoded.` })

export const ListEventsQuery = Type.Object({
  ...PageQuery,
  name: Type.Optional(Names),
  resource_type: Type.Optional(Enum(eventTypes, { description: 'Events about resources of this type.' })),
  resource_id: Type.Optional(Uuid({ description: 'Events about the resource with this id.' })),
  created_at_gte: Type.Optional(Moment('Created after')),
  created_at_lte: Type.Optional(Moment('Created before')),
})
export type ListEventsQuery = Static<typeof ListEventsQuery>
