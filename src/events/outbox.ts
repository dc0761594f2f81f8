import type { Context } from '../context.ts'
import { newId, timeOfId } from '../ids.ts'
import { sql } from '../platform/sql.ts'
import type { EventName, EventTarget } from './catalog.ts'

/**
 * Promises to report a change: one row for the event and one in the queue, in the transaction of the change itself.
 * `sequence` ascends within one resource (its version), so that a receiver can put reordered events right.
 */
export async function emit<Name extends EventName>(
  ctx: Pick<Context, 'db'>,
  name: Name,
  {
    target,
    merchantAccountId,
    sequence,
  }: { target: EventTarget<Name>; merchantAccountId: string | null; sequence: number },
): Promise<void> {
  if (!ctx.db.inTransaction) throw new Error('emit() belongs into the transaction of the change')
  const id = newId()
  await ctx.db.run(sql`
    with event as (
      insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
      values (${id}, ${merchantAccountId}, ${name}, ${target.type}, ${target.id}, ${sequence}, ${JSON.stringify(target)}, ${timeOfId(id)})
    )
    insert into event_queue (event_id) values (${id})`)
}
