import { route } from '../../../http/route.ts'
import { WebhookDelivery } from '../../webhook-deliveries/schema.ts'
import { testWebhookSubscription } from './operations.ts'
import { WebhookSubscriptionPath } from '../schema.ts'

export const webhookTestRoutes = [
  route({
    id: 'testWebhookSubscription',
    method: 'POST',
    path: '/webhook-subscriptions/{subscription_id}/test',
    summary: 'Test a webhook subscription',
    description:
      'Sends the event `webhook-subscription.test` to this subscription alone, whatever events it is told of, signed and tried again like any other. The delivery says how it went.',
    scope: 'webhook-subscriptions.write',
    merchantAccount: 'one',
    params: WebhookSubscriptionPath,
    returns: [200, WebhookDelivery],
    handle: (ctx, { params }) => testWebhookSubscription(ctx, params.subscription_id),
  }),
]
