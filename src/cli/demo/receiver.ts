import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { listWebhookDeliveries } from '../../areas/webhook-deliveries/operations.ts'
import {
  createWebhookSubscription,
  updateWebhookSubscription,
} from '../../areas/webhook-subscriptions/operations/subscriptions.ts'
import type { Context } from '../../context.ts'
import type { EventName } from '../../events/catalog.ts'

/** Webhooks of the shop: to a receiver that answers while this lasts, and to one that nobody runs. */

const told: EventName[] = ['transaction.captured', 'transaction.declined', 'refund.succeeded', 'refund.failed']
/** Nothing listens on the port that is for throwing away. */
const deadUrl = 'http://127.0.0.1:9/accounting'

interface Receiver {
  /** Waits until what happened is delivered, but not for ever: perhaps no worker runs. */
  settle(patienceMs: number): Promise<void>
  /** Answers how many were received. */
  close(): Promise<number>
}

export async function startReceiver(ctx: Context): Promise<Receiver> {
  let received = 0
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received += 1
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { id } = await createWebhookSubscription(ctx, { url: `http://127.0.0.1:${port}/orders`, event_names: told })
  await createWebhookSubscription(ctx, { url: deadUrl, event_names: ['transaction.authorized', 'refund.succeeded'] })

  return {
    async settle(patienceMs) {
      const end = performance.now() + patienceMs
      while (performance.now() < end && !(await isDelivered(ctx, id))) await sleep(250)
    },
    async close() {
      // Nobody answers there any more: what is left would be sent for a week.
      await updateWebhookSubscription(ctx, id, { active: false })
      server.closeAllConnections()
      server.close()
      return received
    },
  }
}

/** Something was delivered, and for a moment nothing is left to be. */
async function isDelivered(ctx: Context, subscriptionId: string): Promise<boolean> {
  const page = { limit: 1, position: undefined, seal: () => '' }
  const newest = async (status: 'pending' | 'succeeded') =>
    (await listWebhookDeliveries(ctx, { subscription_id: subscriptionId, status: [status] }, page)).items[0]?.id
  const before = await newest('succeeded')
  if (before === undefined || (await newest('pending'))) return false
  await sleep(1_000)
  return (await newest('pending')) === undefined && (await newest('succeeded')) === before
}
