import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read, writeAtOnce } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import { statusesBefore } from '../rules.ts'
import { columns as methodColumns, type PaymentMethodRow } from '../store.ts'

export interface EnrolmentRow {
  merchant_account_id: string
  payment_method_id: string
  id: string
  payment_service_id: string
  redirect_url: string
  is_open: boolean
  checks: number
  expires_at: Date
}

const columns = sql`
  merchant_account_id, payment_method_id, id, payment_service_id, redirect_url, is_open, checks, expires_at`

/** A redirect method that nobody has approved yet. Undefined when its external identifier is taken. */
export async function insertRedirect(
  db: Db,
  row: Pick<
    PaymentMethodRow,
    | 'merchant_account_id'
    | 'id'
    | 'buyer_id'
    | 'external_identifier'
    | 'method'
    | 'country'
    | 'currency'
    | 'payment_service_id'
    | 'created_at'
  >,
): Promise<PaymentMethodRow | undefined> {
  const [inserted] = await db.run<PaymentMethodRow>(sql`
    insert into payment_methods (merchant_account_id, id, buyer_id, external_identifier, method, mode, status, country, currency,
      payment_service_id, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.buyer_id}, ${row.external_identifier}, ${row.method}, 'redirect', 'processing',
      ${row.country}, ${row.currency}, ${row.payment_service_id}, ${row.created_at}, ${row.created_at})
    on conflict (merchant_account_id, external_identifier) where external_identifier is not null do nothing
    returning ${methodColumns}`)
  return inserted
}

/** What the provider says of it. One that came to nothing does not keep its identifier from the next try. */
export async function updateApproval(
  db: Db,
  accounts: Accounts,
  id: string,
  change: Pick<PaymentMethodRow, 'status' | 'approval_url' | 'enrolment'>,
  now: Date,
): Promise<PaymentMethodRow | undefined> {
  const [row] = await db.run<PaymentMethodRow>(sql`
    update payment_methods
    set status = ${change.status}, approval_url = ${change.approval_url}, enrolment = ${change.enrolment},
      approval_target = case when ${change.approval_url}::text is null then null else 'any' end,
      external_identifier = case when ${change.status}::text = 'failed' then null else external_identifier end,
      version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and status = any(${statusesBefore(change.status)})
    returning ${methodColumns}`)
  return row
}

/** Before the provider hears of it. */
export async function insertEnrolment(
  db: Db,
  row: Omit<EnrolmentRow, 'is_open' | 'checks'> & { next_check_at: Date; created_at: Date },
): Promise<void> {
  await db.run(sql`
    insert into enrolments (merchant_account_id, payment_method_id, id, payment_service_id, redirect_url, next_check_at, expires_at, created_at)
    values (${row.merchant_account_id}, ${row.payment_method_id}, ${row.id}, ${row.payment_service_id}, ${row.redirect_url},
      ${row.next_check_at}, ${row.expires_at}, ${row.created_at})`)
}

export async function findEnrolment(db: Db, accounts: Accounts, id: string): Promise<EnrolmentRow | undefined> {
  const [row] = await read<EnrolmentRow>(
    db,
    accounts,
    (visible) => sql`select ${columns} from enrolments where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

/** Closes it, or puts the next question off. False when somebody else has closed it: then what became of it is decided already. */
export async function settleEnrolmentRow(
  db: Db,
  accounts: Accounts,
  id: string,
  change: { provider_reference: string | null; next_check_at: Date | null },
): Promise<boolean> {
  const settled = await db.run(sql`
    update enrolments
    set is_open = ${change.next_check_at}::timestamptz is not null, next_check_at = ${change.next_check_at},
      provider_reference = coalesce(${change.provider_reference}, provider_reference)
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and is_open
    returning id`)
  return settled.length > 0
}

/** Those whose time has come; asking for them puts the next time off, so that two workers do not ask together. */
export function claimDueEnrolments(db: Db, accounts: Accounts, now: Date, limit: number): Promise<EnrolmentRow[]> {
  const at = now.toISOString()
  return writeAtOnce(
    db,
    accounts,
    sql`
      update enrolments
      set checks = checks + 1, next_check_at = ${at}::timestamptz + (array['1 minute', '5 minutes', '1 hour', '1 day'])[least(checks + 2, 4)]::interval
      where id in (
        select id from enrolments
        where ${within(accounts, sql`merchant_account_id`)} and is_open and next_check_at <= ${at}::timestamptz
        order by next_check_at limit ${limit} for update skip locked)
      returning ${columns}`,
  )
}
