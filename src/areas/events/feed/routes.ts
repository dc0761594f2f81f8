import { route } from '../../../http/route.ts'
import { feedEvents, putEventConsumer } from './operations.ts'
import { EventConsumer, EventConsumerPath, EventConsumerUpdate, FeedQuery } from './schema.ts'

const feed = `Events as they happen, oldest first, as server-sent events: \`id\` is the id of the event, \`event\` its name, \`data\` the event. A comment comes every ten seconds when nothing else does.

**Order.** By id, a second after the event at the earliest. An event whose transaction commits later than that comes late, up to ten seconds after its time; take events by their \`id\`, not by their place.

**At least once.** Whoever goes on from a position gets the ten seconds before it again, so that nothing that came late is missed: skip the ids you know. With \`consumer\` the position is kept here, and moves when you say so with \`PUT /events/consumers/{consumer}\`.

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
    id: 'putEventConsumer',
    method: 'PUT',
    path: '/events/consumers/{consumer}',
    summary: 'Keep a position in the feed',
    description:
      'Makes a consumer of events, or says how far it has come; it may go back. With `*` it is one of the whole instance, for callers who reach all accounts.',
    scope: 'events.read',
    merchantAccount: 'list',
    params: EventConsumerPath,
    exampleParams: { consumer: 'warehouse' },
    body: EventConsumerUpdate,
    example: () => ({ position: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e' }),
    returns: [200, EventConsumer],
    handle: (ctx, { params, body }) => putEventConsumer(ctx, params.consumer, body),
  }),
]
