import { accountOrNull, type Context, onBehalfOf } from '../../../context.ts'
import type { EventTarget } from '../../../events/catalog.ts'
import { newId } from '../../../ids.ts'
import { transact } from '../../../platform/postgres.ts'
import { addDeliveries, auditDelivery, requireActiveSubscription } from '../../webhook-deliveries/operations.ts'
import type { WebhookDelivery } from '../../webhook-deliveries/schema.ts'
import { insertUnqueuedEvent } from './store.ts'

const name = 'webhook-subscription.test'

/** An event of its own, so that nobody takes it for something that happened. */
export async function testWebhookSubscription(ctx: Context, id: string): Promise<WebhookDelivery> {
  const subscription = await requireActiveSubscription(ctx, id)
  const merchantAccountId = accountOrNull(subscription.merchant_account_id)
  const target: EventTarget<typeof name> = { type: 'webhook-subscription', id, merchant_account_id: merchantAccountId }
  return await transact(onBehalfOf(ctx, subscription.merchant_account_id), async (ctx) => {
    const eventId = newId()
    await insertUnqueuedEvent(ctx.db, { id: eventId, merchantAccountId, name, target })
    const [delivery] = await addDeliveries(ctx.db, subscription, { origin: 'test', eventIds: [eventId] })
    if (!delivery) throw new Error('a delivery was not inserted')
    await auditDelivery(ctx, 'created', delivery)
    return delivery
  })
}
