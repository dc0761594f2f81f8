import { route } from '../../../http/route.ts'
import { WebhookSubscriptionPath } from '../schema.ts'
import { createWebhookReplay, getWebhookReplay, listWebhookReplays } from './operations.ts'
import { ListWebhookReplaysQuery, NewWebhookReplay, ReplayPath, WebhookReplay, WebhookReplays } from './schema.ts'

export const webhookReplayRoutes = [
  route({
    id: 'replayWebhooks',
    method: 'POST',
    path: '/webhook-subscriptions/{subscription_id}/replay',
    summary: 'Replay events',
    description:
      'Sends the events of a time to a webhook subscription again, each as a new delivery with the same event. It goes on in the background, as fast as the endpoint takes them, and however many there are; the events of the last half minute come last. With `dry_run` it only says how many there are, counting up to 100,000.',
    scope: 'webhook-subscriptions.write',
    merchantAccount: 'one',
    params: WebhookSubscriptionPath,
    body: NewWebhookReplay,
    example: () => ({
      created_at_gte: '2026-01-01T00:00:00.000Z',
      event_names: ['transaction.captured' as const],
      undelivered_only: true,
    }),
    returns: [200, WebhookReplay],
    handle: (ctx, { params, body }) => createWebhookReplay(ctx, params.subscription_id, body),
  }),
  route({
    id: 'listWebhookReplays',
    method: 'GET',
    path: '/webhook-subscriptions/{subscription_id}/replays',
    summary: 'List replays',
    description: 'The replays of a webhook subscription, newest first.',
    scope: 'webhook-subscriptions.read',
    merchantAccount: 'one',
    params: WebhookSubscriptionPath,
    query: ListWebhookReplaysQuery,
    paged: true,
    returns: [200, WebhookReplays],
    handle: (ctx, { params, page }) => listWebhookReplays(ctx, params.subscription_id, page),
  }),
  route({
    id: 'getWebhookReplay',
    method: 'GET',
    path: '/webhook-subscriptions/{subscription_id}/replays/{replay_id}',
    summary: 'Get a replay',
    description: 'How far it is.',
    scope: 'webhook-subscriptions.read',
    merchantAccount: 'one',
    params: ReplayPath,
    returns: [200, WebhookReplay],
    handle: (ctx, { params }) => getWebhookReplay(ctx, params),
  }),
]
