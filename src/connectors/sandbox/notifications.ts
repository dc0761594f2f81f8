import { newId } from '../../ids.ts'
import { type Db, write, writeAtOnce } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'
import type { Notification, ServiceAccess } from '../payment.ts'
import type { RuleNotifications } from '../simulator.ts'
import { signNotification } from './mock-card/notification.ts'

/** Messages of the sandbox's providers. They travel in real time, whatever the clock of a merchant account says. */

const usualLatenessSeconds = 10
const usualCopies = 2

/** Has a message sent when it is due, in the manner that a rule wants. Whoever has given no address is told nothing. */
export async function announce(
  db: Db,
  {
    merchantAccountId,
    serviceId,
    notificationUrl,
  }: Pick<ServiceAccess, 'merchantAccountId' | 'serviceId' | 'notificationUrl'>,
  { reference, kind, inMs }: Pick<Notification, 'reference' | 'kind'> & { inMs: number },
  { delivery, count = usualCopies, delay_seconds: delay = usualLatenessSeconds }: RuleNotifications = {
    delivery: 'normal',
  },
): Promise<void> {
  if (notificationUrl === null || delivery === 'lost') return
  const waitMs = delivery === 'late' ? inMs + delay * 1000 : inMs
  const due = sql`now() + ${waitMs}::double precision * interval '1 ms'`
  // Those of some seconds become due together.
  const together = sql`to_timestamp((floor(extract(epoch from ${due}) / ${delay}::double precision) + 1) * ${delay}::double precision)`
  await write(
    db,
    [merchantAccountId],
    (walls) => sql`
      insert into sandbox_notifications (merchant_account_id, id, service_id, url, kind, reference, copies, is_reversed, due_at)
      select ${merchantAccountId}, ${newId()}, ${serviceId}, ${notificationUrl}, ${kind}, ${reference},
        ${delivery === 'duplicated' ? count : 1}, ${delivery === 'reordered'}, ${delivery === 'reordered' ? together : due}
      from ${walls}
      returning id`,
    (changed) => sql`select from ${changed}`,
  )
}

interface DueRow {
  merchant_account_id: string
  id: string
  service_id: string
  url: string
  kind: Notification['kind']
  reference: string
  copies: number
  is_reversed: boolean
}

const batchSize = 20
const atOnce = 8
const mostAttempts = 5
const timeoutMs = 5_000

/**
 * Sends what is due, signed with the secret of its service; a service without one gets nothing. What is not taken is sent again after ten seconds,
 * twenty, forty, eighty. Returns how many were taken.
 */
export function createNotificationSender({
  db,
  now,
  secretOf,
}: {
  db: Db
  now: (merchantAccountId: string) => Date
  secretOf: (merchantAccountId: string, serviceId: string) => Promise<string | undefined>
}): (signal: AbortSignal) => Promise<number> {
  async function sendOne(row: DueRow, signal: AbortSignal): Promise<boolean> {
    const secret = await secretOf(row.merchant_account_id, row.service_id)
    if (secret === undefined) {
      await forget(db, row)
      return false
    }
    const body = Buffer.from(JSON.stringify({ id: row.id, reference: row.reference, kind: row.kind }))
    const headers = signNotification({ secret, body, now: now(row.merchant_account_id) })
    const post = () => postOnce(row.url, { body, headers, signal })
    const taken = await Promise.all(Array.from({ length: row.copies }, post))
    if (!taken.every(Boolean)) return false
    await markSent(db, row)
    return true
  }

  return async (signal) => {
    let sent = 0
    while (!signal.aborted) {
      const due = await claimDue(db)
      const reversed = due
        .filter(({ is_reversed }) => is_reversed)
        .toSorted((left, right) => (left.id < right.id ? 1 : -1))
      // One lane of each, but for those whose order matters.
      const lanes = [...due.filter(({ is_reversed }) => !is_reversed).map((row) => [row]), reversed]
      const work = async () => {
        for (let lane = lanes.pop(); lane; lane = lanes.pop()) {
          for (const row of lane) if (!signal.aborted && (await sendOne(row, signal))) sent += 1
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      if (due.length < batchSize) break
    }
    return sent
  }
}

async function postOnce(
  url: string,
  { body, headers, signal }: { body: Buffer<ArrayBuffer>; headers: Record<string, string>; signal: AbortSignal },
): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

/** Claiming puts the next time off, so that two workers do not send together. Old ones go with it. */
function claimDue(db: Db): Promise<DueRow[]> {
  return writeAtOnce(
    db,
    'all',
    sql`
      with gone as (delete from sandbox_notifications where due_at < now() - interval '1 day')
      update sandbox_notifications
      set attempts = attempts + 1, due_at = now() + interval '10 seconds' * 2 ^ attempts
      where (merchant_account_id, id) in (
        select merchant_account_id, id from sandbox_notifications
        where sent_at is null and due_at between now() - interval '1 day' and now() and attempts < ${mostAttempts}
        order by due_at, id limit ${batchSize} for update skip locked)
      returning merchant_account_id, id, service_id, url, kind, reference, copies, is_reversed`,
  )
}

const markSent = (db: Db, { merchant_account_id, id }: DueRow) =>
  writeAtOnce(
    db,
    [merchant_account_id],
    sql`update sandbox_notifications set sent_at = now() where merchant_account_id = ${merchant_account_id} and id = ${id}`,
  )

const forget = (db: Db, { merchant_account_id, id }: DueRow) =>
  writeAtOnce(
    db,
    [merchant_account_id],
    sql`delete from sandbox_notifications where merchant_account_id = ${merchant_account_id} and id = ${id}`,
  )
