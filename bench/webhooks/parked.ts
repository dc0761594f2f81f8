import { note } from '../rig.ts'
import type { Source } from './stage.ts'

/** So many in one statement, for the sake of progress. */
const chunk = 100_000
const apartMs = 1

/** Events of the account that the subscription was to be told and was not: every one is due, the oldest first. */
export async function park(
  { client }: Source,
  { account, subscriptionId, count }: { account: string; subscriptionId: string; count: number },
): Promise<void> {
  const start = Date.now() - count * apartMs
  for (let first = 0; first < count; first += chunk) {
    await client.query(
      `with made as materialized (
          select florin_id_floor(moment) as floor, moment, gen_random_uuid()::text as random
          from (select to_timestamp(($1::float8 + n * $4) / 1000)::timestamptz(3) as moment from generate_series($2::integer, $3::integer) as n) as moments
        ),
        named as materialized (
          select overlay(floor::text placing '7' || substr(random, 16) from 15)::uuid as id, moment from made
        ),
        event as (
          insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
          select id, $5, 'transaction.captured', 'transaction', id::text, 1, $6, moment from named
        )
      insert into webhook_deliveries (merchant_account_id, id, subscription_id, event_id, origin, status, next_attempt_at, expires_at,
        created_at, updated_at)
      select $5, id, $7, id, 'event', 'pending', moment, moment + interval '7 days', moment, moment from named`,
      [start, first, Math.min(count, first + chunk) - 1, apartMs, account, '{"type": "transaction"}', subscriptionId],
    )
    note(`${Math.min(count, first + chunk)} deliveries are parked`)
  }
  await client.query('vacuum analyze events, webhook_deliveries')
  await client.query('checkpoint')
}
