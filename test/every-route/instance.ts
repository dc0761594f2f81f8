import type { TestApi } from '../api.ts'
import { makeGiftCardService } from '../gift-cards.ts'
import { afterDays } from '../statements.ts'
import { insertDelivery, insertSubscription } from '../webhooks.ts'
import { accountHeader } from './requests.ts'
import type { Params } from './run.ts'

/** What examples need in an account and no route's example makes. */
export async function furnish(api: TestApi, account: string): Promise<void> {
  const headers = { [accountHeader]: account }
  await makeGiftCardService(api, {}, headers)
  // An event to look at.
  await api.request('POST', '/buyers', { body: {}, headers })
  await insertDelivery(api.database, { account, subscriptionId: await insertSubscription(api.database, { account }) })
}

/** Brings about what comes with time only, for the resources of a path. */
export async function waitFor(
  api: TestApi,
  { transaction_id: id, subscription_id: subscription }: Params,
  account: string,
): Promise<void> {
  const headers = { [accountHeader]: account }
  if (subscription !== undefined) {
    const body = { created_at_gte: new Date().toISOString() }
    await api.request('POST', `/webhook-subscriptions/${subscription}/replay`, { headers, body })
  }
  if (id === undefined) return
  await api.request('POST', `/transactions/${id}/refunds`, { headers, body: { amount: 100 } })
  await afterDays(api, id, 2, headers)
}
