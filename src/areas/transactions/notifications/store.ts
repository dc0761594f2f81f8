import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read, writeAtOnce } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import { type AttemptRow, attemptColumns } from '../store/rows.ts'

export interface NotificationKey {
  serviceId: string
  /** The provider's own. */
  id: string
}

export async function isNotificationKnown(
  db: Db,
  accounts: Accounts,
  { serviceId, id }: NotificationKey,
): Promise<boolean> {
  const known = await read(
    db,
    accounts,
    (visible) => sql`
      select 1 from provider_notifications
      where ${visible(sql`merchant_account_id`)} and payment_service_id = ${serviceId} and id = ${id}`,
  )
  return known.length > 0
}

/** Of this service only: what another one did is not its business. */
export async function findAttempt(
  db: Db,
  accounts: Accounts,
  { serviceId, id }: { serviceId: string; id: string },
): Promise<AttemptRow | undefined> {
  const [attempt] = await read<AttemptRow>(
    db,
    accounts,
    (visible) => sql`
      select ${attemptColumns} from attempts
      where ${visible(sql`merchant_account_id`)} and id = ${id} and payment_service_id = ${serviceId}`,
  )
  return attempt
}

/** False when it was written down before. */
export async function insertNotification(
  db: Db,
  merchantAccountId: string,
  { serviceId, id, kind, reference }: NotificationKey & { kind: 'operation' | 'report'; reference: string },
  receivedAt: Date,
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into provider_notifications (merchant_account_id, payment_service_id, id, kind, reference, received_at)
    values (${merchantAccountId}, ${serviceId}, ${id}, ${kind}, ${reference}, ${receivedAt})
    on conflict do nothing returning id`)
  return inserted.length > 0
}

export async function deleteOldNotifications(db: Db, accounts: Accounts, before: Date, limit: number): Promise<number> {
  const deleted = await writeAtOnce(
    db,
    accounts,
    sql`
      delete from provider_notifications
      where (merchant_account_id, payment_service_id, id) in (
        select merchant_account_id, payment_service_id, id from provider_notifications
        where ${within(accounts, sql`merchant_account_id`)} and received_at < ${before.toISOString()} order by received_at limit ${limit})
      returning id`,
  )
  return deleted.length
}
