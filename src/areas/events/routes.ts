import { route } from '../../http/route.ts'
import { getEvent, listEvents } from './operations.ts'
import { Event, EventPath, Events, ListEventsQuery } from './schema.ts'

export const eventRoutes = [
  route({
    id: 'listEvents',
    method: 'GET',
    path: '/events',
    summary: 'List events',
    description:
      'What happened, newest first, each exactly as it is sent to webhook subscriptions. Events that concern the whole instance (key pairs with access to all accounts, for example) have no merchant account and are listed with `*` only.',
    scope: 'events.read',
    merchantAccount: 'list',
    query: ListEventsQuery,
    paged: true,
    returns: [200, Events],
    handle: (ctx, { query, page }) => listEvents(ctx, query, page),
  }),
  route({
    id: 'getEvent',
    method: 'GET',
    path: '/events/{event_id}',
    summary: 'Get an event',
    scope: 'events.read',
    merchantAccount: 'one',
    params: EventPath,
    returns: [200, Event],
    handle: (ctx, { params }) => getEvent(ctx, params.event_id),
  }),
]
