import { route } from '../../../http/route.ts'
import { createEventConsumer, feedEvents, updateEventConsumer } from './operations.ts'
import { EventConsumer, EventConsumerPath, EventConsumerUpdate, FeedQuery, NewEventConsumer } from './schema.ts'

const feed = `Events as they happen, oldest first, as server-sent events: \`id\` is the id of the event, \`event\` its name, \`data\` the event. A comment comes every ten seconds when nothing else does.

**Order.** By id, a second after the event at the earliest. An event whose transaction commits later than that comes late, up to ten seconds after its time; take events by their \`id\`, not by their place.

**At least once.** Whoever goes on from a position gets the ten seconds before it again, so that nothing that came late is missed: skip the ids you know. With \`consumer\` the position is kept here, and moves when you say so with \`PUT /events/consumers/{event_consumer_id}\`.

The stream ends after \`wait\` seconds, when its token does, and when the server stops; connect again then. A key pair may hold five at a time on one server.`

export const feedRoutes = [
  route({
    id: 'feedEvents',
    method: 'GET',
    path: '/events/feed',
    summary: 'Follow events',
    description: feed,
    scope: 'events.read',
    merchantAccount: 'list',
    query: FeedQuery,
    streams: true,
    returns: [200],
    handle: (ctx, { query }) => feedEvents(ctx, query),
  }),
  route({
    id: 'createEventConsumer',
    method: 'POST',
    path: '/events/consumers',
    summary: 'Create a consumer of events',
    description:
      'Somebody whose position in the feed is kept; it begins now. With `*` it is one of the whole instance, for callers who reach all accounts.',
    scope: 'events.read',
    merchantAccount: 'instance',
    body: NewEventConsumer,
    example: ({ unique }) => ({ id: `warehouse-${unique}` }),
    returns: [201, EventConsumer],
    handle: (ctx, { body }) => createEventConsumer(ctx, body),
  }),
  route({
    id: 'updateEventConsumer',
    method: 'PUT',
    path: '/events/consumers/{event_consumer_id}',
    summary: 'Move a consumer of events',
    description: 'Says how far it has come in the feed.',
    scope: 'events.read',
    merchantAccount: 'instance',
    params: EventConsumerPath,
    body: EventConsumerUpdate,
    example: () => ({ position: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e' }),
    returns: [200, EventConsumer],
    handle: (ctx, { params, body }) => updateEventConsumer(ctx, params.event_consumer_id, body),
  }),
]
