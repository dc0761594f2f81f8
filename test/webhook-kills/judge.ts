import type { Stage, Subscription } from './stage.ts'

/** What was received against what was committed. */
export interface Findings {
  /** Committed, for sure or in a commit whose answer was cut off. */
  events: number
  /** Events and subscriptions that want them. */
  wanted: number
  received: number
  /** Wanted and never received. */
  lost: number
  /** Received and never committed. */
  phantoms: number
  /** Received by a subscription that does not want it. */
  strays: number
  /** Received once more than needed: what every sender has that loses none. */
  duplicates: number
  /** Committed for sure, and not in the database. */
  commits_lost: number
  /** Made twice for one event and subscription. */
  deliveries_doubled: number
  /** Not marked as succeeded at the end. */
  deliveries_open: number
  /** By what the sender knows of their ends. */
  attempts: Readonly<Record<string, number>>
  queue_left: number
}

interface EventFacts {
  id: string
  resource_id: string
  merchant_account_id: string | null
  name: string
}

const wants = ({ account, names, active }: Subscription, event: EventFacts) =>
  active && (account === '*' || account === event.merchant_account_id) && (names === null || names.includes(event.name))

export async function judge({ query, receiver, subscriptions, produced }: Stage): Promise<Findings> {
  const events = await query<EventFacts>('select id, resource_id, merchant_account_id, name from events')
  const committed = new Set(events.map(({ id }) => id))
  const findings = { wanted: 0, received: 0, lost: 0, phantoms: 0, strays: 0, duplicates: 0 }
  for (const subscription of subscriptions) {
    const { taken } = receiver.mailboxOf(subscription.id)
    const wanted = new Set(events.filter((event) => wants(subscription, event)).map(({ id }) => id))
    findings.wanted += wanted.size
    for (const id of wanted) findings[taken.has(id) ? 'received' : 'lost'] += 1
    for (const [id, times] of taken) {
      if (!committed.has(id)) findings.phantoms += 1
      else if (!wanted.has(id)) findings.strays += 1
      findings.duplicates += times - 1
    }
  }
  const resources = new Set(events.map(({ resource_id }) => resource_id))
  const attempts = await query<{ outcome: string; count: number }>(
    'select coalesce(status_code::text, error) as outcome, count(*)::integer as count from webhook_attempts group by 1 order by 1',
  )
  const [rows] = await query<{ doubled: number; open: number; queue: number }>(
    `select count(*)::integer - count(distinct (subscription_id, event_id))::integer as doubled,
       count(*) filter (where status <> 'succeeded')::integer as open,
       (select count(*)::integer from event_queue) as queue
     from webhook_deliveries`,
  )
  return {
    events: events.length,
    ...findings,
    commits_lost: [...produced.committed].filter((id) => !resources.has(id)).length,
    deliveries_doubled: rows?.doubled ?? 0,
    deliveries_open: rows?.open ?? 0,
    attempts: Object.fromEntries(attempts.map(({ outcome, count }) => [outcome, count])),
    queue_left: rows?.queue ?? 0,
  }
}
