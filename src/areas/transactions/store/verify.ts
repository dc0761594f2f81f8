import { type Accounts, within } from '../../../platform/accounts.ts'
import type { Db } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { RedemptionRow } from '../redemptions/store.ts'
import type { LineKind } from '../statements/rules.ts'
import { type Action, type AttemptRow, columns, type InstrumentRow, type TransactionRow } from './rows.ts'

/** A transaction with everything its totals are made of. */
export interface WholeTransaction {
  row: TransactionRow
  instruments: (InstrumentRow & { kind: 'payment-method' | 'gift-card' })[]
  captures: { id: string; amount: number; currency: string; status: string }[]
  refunds: {
    id: string
    instrument: number
    amount: number
    currency: string
    status: string
    settled: boolean
    settled_amount: number
  }[]
  /** Oldest first. */
  lines: { kind: LineKind; currency: string; amount: number; refund_id: string | null }[]
  attempts: WholeAttempt[]
  redemptions: WholeRedemption[]
  /** What it is found by. */
  facts: Record<string, unknown> | null
  state: (Record<string, unknown> & { updated_at: string }) | null
  metadata: { name: string; value: string }[]
  giftCards: { name: string; value: string }[]
}

export interface WholeAttempt {
  id: string
  action: Action
  subject_id: string | null
  amount: number
  state: AttemptRow['state']
  result: 'approved' | 'declined' | 'failed' | null
  /** Of an attempt that went to the sandbox's processor: what its own books say, null where they say nothing. */
  is_sandbox: boolean
  operation: { kind: string; amount: number; result: string | null; is_due: boolean } | null
  /** Of an authorization. */
  payment: { state: string; currency: string; authorized: number; captured: number; refunded: number } | null
}

export interface WholeRedemption extends RedemptionRow {
  /** What the sandbox's provider of gift cards says of it; null where it has not heard of it. */
  operation: { state: string; amount: number; refunded_amount: number } | null
}

export interface Place {
  merchant_account_id: string
  id: string
}

/**
 * The next transactions in the order of their ids. One statement, because it sees one moment: in two, a payment that is captured in between
 * would seem to be wrong. The parts are looked up by index, whatever the size of their tables. In a transaction that sees the accounts.
 */
export async function readWholeTransactions(
  db: Db,
  accounts: Accounts,
  after: Place | undefined,
  limit: number,
): Promise<WholeTransaction[]> {
  const isAfter = after
    ? sql`id >= ${after.id} and (id, merchant_account_id) > (${after.id}, ${after.merchant_account_id})`
    : sql`true`
  // The guess how many rows the walls let through is so low that sorting the whole table seems cheaper than going on in its index.
  await db.run(sql`
    select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('max_parallel_workers_per_gather', '0', true)`)
  type Found = TransactionRow &
    Omit<WholeTransaction, 'row' | 'metadata' | 'giftCards'> & {
      found_metadata: WholeTransaction['metadata']
      found_gift_cards: WholeTransaction['giftCards']
    }
  const rows = await db.run<Found>(sql`
    with batch as materialized (
      select ${columns} from transactions
      where ${within(accounts, sql`merchant_account_id`)} and ${isAfter}
      order by id, merchant_account_id limit ${limit}
    )
    select batch.*,
      (
        select coalesce(json_agg(part order by part.position), '[]') from transaction_instruments as part
        where part.merchant_account_id = batch.merchant_account_id and part.transaction_id = batch.id
      ) as instruments,
      (
        select coalesce(json_agg(json_build_object('id', id, 'amount', amount, 'currency', currency, 'status', status) order by id), '[]')
        from captures where captures.merchant_account_id = batch.merchant_account_id and transaction_id = batch.id
      ) as captures,
      (
        select coalesce(json_agg(
          json_build_object('id', id, 'instrument', instrument, 'amount', amount, 'currency', currency, 'status', status,
            'settled', settled, 'settled_amount', settled_amount) order by id), '[]')
        from refunds where refunds.merchant_account_id = batch.merchant_account_id and transaction_id = batch.id
      ) as refunds,
      (
        select coalesce(json_agg(json_build_object('kind', kind, 'currency', currency, 'amount', amount, 'refund_id', refund_id)
          order by posted_at, id), '[]')
        from statement_lines as line where line.merchant_account_id = batch.merchant_account_id and transaction_id = batch.id
      ) as lines,
      (
        select coalesce(json_agg(json_build_object('id', attempt.id, 'action', action, 'subject_id', subject_id, 'amount', attempt.amount,
          'state', attempt.state, 'result', attempt.result, 'is_sandbox', coalesce(service.definition_id = 'mock-card', false),
          'operation', case when operation.id is not null then json_build_object('kind', operation.kind, 'amount', operation.amount,
            'result', operation.outcome ->> 'result', 'is_due', operation.due_at is not null) end,
          'payment', case when payment.id is not null then json_build_object('state', payment.state, 'currency', payment.currency,
            'authorized', payment.authorized, 'captured', payment.captured, 'refunded', payment.refunded) end
        ) order by attempt.id), '[]')
        from (
          -- A cast is not leakproof, and past row level security an index takes nothing else: it must be done before the join.
          select *, id::text as reference from attempts
          where attempts.merchant_account_id = batch.merchant_account_id and transaction_id = batch.id offset 0
        ) as attempt
          left join payment_services as service
            on service.merchant_account_id = attempt.merchant_account_id and service.id = attempt.payment_service_id
          left join sandbox_card_operations as operation
            on operation.merchant_account_id = attempt.merchant_account_id and operation.reference = attempt.reference
          left join sandbox_card_payments as payment
            on payment.merchant_account_id = attempt.merchant_account_id and payment.id = operation.payment_id and attempt.action = 'authorize'
      ) as attempts,
      (
        select coalesce(json_agg(to_jsonb(redemption) || jsonb_build_object('refunded_amount', instrument.refunded_amount, 'operation',
          case when operation.reference is not null then jsonb_build_object('state', operation.state, 'amount', operation.amount,
            'refunded_amount', operation.refunded_amount) end) order by redemption.position), '[]')
        from (
          select *, id::text as reference from gift_card_redemptions as part
          where part.merchant_account_id = batch.merchant_account_id and part.transaction_id = batch.id offset 0
        ) as redemption
          left join transaction_instruments as instrument using (merchant_account_id, transaction_id, position)
          left join sandbox_gift_card_operations as operation
            on operation.merchant_account_id = redemption.merchant_account_id and operation.reference = redemption.reference
      ) as redemptions,
      (
        select row_to_json(part) from transaction_facts as part
        where part.merchant_account_id = batch.merchant_account_id and part.id = batch.id
      ) as facts,
      (
        select row_to_json(part) from transaction_states as part
        where part.merchant_account_id = batch.merchant_account_id and part.id = batch.id
      ) as state,
      (
        select coalesce(json_agg(json_build_object('name', name, 'value', value)), '[]') from transaction_metadata as part
        where part.merchant_account_id = batch.merchant_account_id and part.id = batch.id
      ) as found_metadata,
      (
        select coalesce(json_agg(json_build_object('name', name, 'value', value)), '[]') from transaction_gift_cards as part
        where part.merchant_account_id = batch.merchant_account_id and part.id = batch.id
      ) as found_gift_cards
    from batch order by id, merchant_account_id`)
  return rows.map(
    ({
      instruments,
      captures,
      refunds,
      lines,
      attempts,
      redemptions,
      facts,
      state,
      found_metadata: metadata,
      found_gift_cards: giftCards,
      ...row
    }) => ({
      row,
      instruments,
      captures,
      refunds,
      lines,
      attempts,
      redemptions,
      facts,
      state,
      metadata,
      giftCards,
    }),
  )
}

export interface StrangeOperation {
  merchant_account_id: string
  reference: string
  kind: string
  amount: number
}

/** What the sandbox's providers were asked for and we know nothing of. Our attempts are committed before it hears of them. */
export async function findStrangeOperations(db: Db, accounts: Accounts, limit: number): Promise<StrangeOperation[]> {
  // It compares two whole tables, but only a sandbox has anything in the first.
  await db.run(sql`set local statement_timeout = '30min'`)
  return db.run(sql`
    select merchant_account_id, reference, kind, amount from sandbox_card_operations as operation
    where ${within(accounts, sql`merchant_account_id`)} and kind not in ('never_arrived', 'cancel') and not exists (
      select from attempts
      where attempts.merchant_account_id = operation.merchant_account_id and attempts.id::text = operation.reference)
      -- A method that its buyer is to approve is no payment.
      and not (kind = 'enrol' and exists (
        select from enrolments
        where enrolments.merchant_account_id = operation.merchant_account_id and enrolments.id::text = operation.reference))
    union all
    select merchant_account_id, reference, kind, amount from sandbox_gift_card_operations as operation
    where ${within(accounts, sql`merchant_account_id`)} and state = 'done' and (
      kind = 'redeem' and not exists (
        select from gift_card_redemptions as redemption
        where redemption.merchant_account_id = operation.merchant_account_id and redemption.id::text = operation.reference)
      or kind = 'refund' and not exists (
        select from attempts
        where attempts.merchant_account_id = operation.merchant_account_id and attempts.id::text = operation.reference))
    order by merchant_account_id, reference limit ${limit}`)
}

export interface WrongBalance {
  merchant_account_id: string
  fingerprint: string
  expected: number
  balance: number
}

/** Gift cards of the sandbox whose balance is not what their movements leave. */
export function findWrongBalances(db: Db, accounts: Accounts, limit: number): Promise<WrongBalance[]> {
  return db.run(sql`
    with taken as (
      select merchant_account_id, fingerprint, sum(amount - refunded_amount)::bigint as amount from sandbox_gift_card_operations
      where ${within(accounts, sql`merchant_account_id`)} and kind = 'redeem' and state = 'done' group by 1, 2
    )
    select merchant_account_id, fingerprint, opening_balance - coalesce(amount, 0) as expected, balance
    from sandbox_gift_cards left join taken using (merchant_account_id, fingerprint)
    where ${within(accounts, sql`merchant_account_id`)} and opening_balance - coalesce(amount, 0) <> balance
    order by merchant_account_id, fingerprint limit ${limit}`)
}
