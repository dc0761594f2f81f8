import { type Db, read, writeAtOnce } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { RuleNotifications } from '../../simulator.ts'
import type { Answers, Decision, ScenarioResult } from './rules.ts'

export interface NewApproval {
  merchant_account_id: string
  id: string
  service_id: string
  reference: string
  /** Of that call, the processor's own. */
  call_id: string
  kind: 'three_d_secure' | 'redirect' | 'enrolment'
  /** Null for an enrolment. */
  amount: number | null
  currency: string
  card_suffix: string | null
  return_url: string
  scenario_result: ScenarioResult | null
  answers: Answers
  wait_ms: number
  expires_at: Date
  /** Whom to tell when it is decided, and how, if not as usual. */
  notification_url: string | null
  notifications: RuleNotifications | null
}

/** What there is to tell. */
export interface DecidedRow
  extends Pick<NewApproval, 'service_id' | 'reference' | 'notification_url' | 'notifications'> {
  wait_ms: number
}

export interface ApprovalRow
  extends Omit<
    NewApproval,
    'service_id' | 'reference' | 'call_id' | 'answers' | 'wait_ms' | 'notification_url' | 'notifications'
  > {
  state: Decision | 'open'
  /** The merchant has canceled the payment. */
  is_withdrawn: boolean
  /** The call still waits for the buyer. */
  is_awaited: boolean
}

export async function insertApproval(db: Db, row: NewApproval): Promise<void> {
  await db.run(sql`
    insert into sandbox_approvals (merchant_account_id, id, service_id, reference, call_id, kind, amount, currency, card_suffix, return_url,
      scenario_result, answers, wait_ms, expires_at, notification_url, notifications)
    values (${row.merchant_account_id}, ${row.id}, ${row.service_id}, ${row.reference}, ${row.call_id}, ${row.kind}, ${row.amount}, ${row.currency},
      ${row.card_suffix}, ${row.return_url}, ${row.scenario_result}, ${JSON.stringify(row.answers)}::jsonb, ${row.wait_ms}, ${row.expires_at},
      ${row.notification_url}, ${row.notifications && JSON.stringify(row.notifications)}::jsonb)`)
}

/**
 * In whatever account it is: a browser knows nothing but the id. The limit keeps PostgreSQL from joining before the accounts are set, when
 * row level security still hides everything.
 */
export async function findApproval(db: Db, id: string): Promise<ApprovalRow | undefined> {
  const [row] = await read<ApprovalRow>(
    db,
    'all',
    (visible) => sql`
      select approval.merchant_account_id, approval.id, approval.kind, approval.amount, approval.currency, approval.card_suffix,
        approval.return_url, approval.state, approval.scenario_result, approval.expires_at,
        coalesce(payment.state = 'canceled', false) as is_withdrawn,
        coalesce(operation.outcome ->> 'result' = 'redirect', false) as is_awaited
      from sandbox_approvals as approval
        left join sandbox_card_operations as operation using (merchant_account_id, reference)
        left join sandbox_card_payments as payment
          on payment.merchant_account_id = operation.merchant_account_id and payment.id = operation.payment_id
      where ${visible(sql`approval.merchant_account_id`)} and approval.id = ${id}
      limit 1`,
  )
  return row
}

/**
 * Decides, if nobody and nothing has: the call that waits falls due with the answer of the decision, and both change or neither. The call
 * is the lock, as it is for `settle`. Undefined when it was decided before.
 */
export async function decideApproval(
  db: Db,
  { merchant_account_id: account, id }: Pick<ApprovalRow, 'merchant_account_id' | 'id'>,
  decision: Decision,
  now: Date,
): Promise<DecidedRow | undefined> {
  const at = sql`${now.toISOString()}::timestamptz`
  const waitMs = sql`case when ${decision} = 'approved' then approval.wait_ms else 0 end`
  const [decided] = await writeAtOnce<DecidedRow>(
    db,
    [account],
    sql`
      with answered as (
        update sandbox_card_operations as operation
        set outcome = approval.answers -> 'pending',
          due_at = ${at} + ${waitMs} * interval '1 millisecond',
          due_outcome = approval.answers -> ${decision}
        from sandbox_approvals as approval
        where approval.merchant_account_id = ${account} and approval.id = ${id} and approval.state = 'open' and approval.expires_at > ${at}
          and operation.merchant_account_id = ${account} and operation.reference = approval.reference
          and operation.outcome ->> 'result' = 'redirect'
          and not exists (
            select from sandbox_card_payments as payment
            where payment.merchant_account_id = ${account} and payment.id = operation.payment_id and payment.state = 'canceled'
          )
        returning approval.id
      )
      update sandbox_approvals as approval set state = ${decision}
      from answered
      where approval.merchant_account_id = ${account} and approval.id = answered.id
      returning approval.service_id, approval.reference, approval.notification_url, approval.notifications, ${waitMs} as wait_ms`,
  )
  return decided
}

/** Whether a buyer has let this service charge again and again. */
export async function isEnrolled(db: Db, account: string, serviceId: string, enrolment: string): Promise<boolean> {
  const found = await read(
    db,
    [account],
    (visible) => sql`
      select id from sandbox_approvals
      where ${visible(sql`merchant_account_id`)} and call_id = ${enrolment} and kind = 'enrolment' and state = 'approved'
        and service_id = ${serviceId}`,
  )
  return found.length > 0
}
