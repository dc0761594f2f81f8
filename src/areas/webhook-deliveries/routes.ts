import { route } from '../../http/route.ts'
import { getWebhookDelivery, listWebhookDeliveries, retryWebhookDelivery } from './operations.ts'
import {
  ListWebhookDeliveriesQuery,
  WebhookDeliveries,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookDeliveryPath,
} from './schema.ts'

export const webhookDeliveryRoutes = [
  route({
    id: 'listWebhookDeliveries',
    method: 'GET',
    path: '/webhook-deliveries',
    summary: 'List webhook deliveries',
    description:
      'What webhook subscriptions were sent or are to be sent, newest first. Deliveries to a subscription for the whole instance have no merchant account and are listed with `*` only.',
    scope: 'webhook-subscriptions.read',
    merchantAccount: 'list',
    query: ListWebhookDeliveriesQuery,
    paged: true,
    returns: [200, WebhookDeliveries],
    handle: (ctx, { query, page }) => listWebhookDeliveries(ctx, query, page),
  }),
  route({
    id: 'getWebhookDelivery',
    method: 'GET',
    path: '/webhook-deliveries/{delivery_id}',
    summary: 'Get a webhook delivery',
    description: 'With its attempts.',
    scope: 'webhook-subscriptions.read',
    merchantAccount: 'one',
    params: WebhookDeliveryPath,
    returns: [200, WebhookDeliveryDetails],
    handle: (ctx, { params }) => getWebhookDelivery(ctx, params.delivery_id),
  }),
  route({
    id: 'retryWebhookDelivery',
    method: 'POST',
    path: '/webhook-deliveries/{delivery_id}/retry',
    summary: 'Retry a webhook delivery',
    description:
      'Sends it again at once, also one that has succeeded or failed; one that has failed is then tried for seven days more. One that is due within a minute may be on its way already and keeps its time: see `next_attempt_at` in the answer.',
    scope: 'webhook-subscriptions.write',
    merchantAccount: 'one',
    params: WebhookDeliveryPath,
    returns: [200, WebhookDelivery],
    handle: (ctx, { params }) => retryWebhookDelivery(ctx, params.delivery_id),
  }),
]
