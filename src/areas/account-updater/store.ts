import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'

export type InquiryStatus = 'running' | 'updated' | 'unchanged' | 'closed' | 'failed'

export interface InquiryRow {
  merchant_account_id: string
  id: string
  job_id: string
  payment_method_id: string
  status: InquiryStatus
}

export async function insertUpdaterJob(
  db: Db,
  job: { merchantAccountId: string; id: string; createdAt: Date },
): Promise<void> {
  await db.run(sql`
    insert into account_updater_jobs (merchant_account_id, id, created_at, updated_at)
    values (${job.merchantAccountId}, ${job.id}, ${job.createdAt}, ${job.createdAt})`)
}

/** Cards whose inquiry already runs are left out; the index decides, whoever asks at the same moment. */
export function insertInquiries(
  db: Db,
  job: { merchantAccountId: string; id: string; createdAt: Date },
  inquiries: readonly { id: string; paymentMethodId: string }[],
): Promise<InquiryRow[]> {
  return db.run<InquiryRow>(sql`
    insert into account_updater_inquiries (merchant_account_id, id, job_id, payment_method_id, status, created_at, updated_at)
    select ${job.merchantAccountId}, id, ${job.id}, payment_method_id, 'running', ${job.createdAt}, ${job.createdAt}
    from unnest(${inquiries.map(({ id }) => id)}::uuid[], ${inquiries.map(({ paymentMethodId }) => paymentMethodId)}::uuid[])
      as asked (id, payment_method_id)
    on conflict (merchant_account_id, payment_method_id) where status = 'running' do nothing
    returning merchant_account_id, id, job_id, payment_method_id, status`)
}

export async function findInquiry(db: Db, accounts: Accounts, id: string): Promise<InquiryRow | undefined> {
  const [row] = await read<InquiryRow>(
    db,
    accounts,
    (visible) => sql`
      select merchant_account_id, id, job_id, payment_method_id, status from account_updater_inquiries
      where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

export async function finishInquiry(
  db: Db,
  accounts: Accounts,
  id: string,
  outcome: { status: InquiryStatus; errorCode: string | null },
  now: Date,
): Promise<void> {
  await db.run(sql`
    update account_updater_inquiries
    set status = ${outcome.status}, error_code = ${outcome.errorCode}, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and status = 'running'`)
}
