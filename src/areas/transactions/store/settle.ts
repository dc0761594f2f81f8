import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, writeAtOnce } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { TransactionStatus } from '../rules.ts'
import type { Action, TimelineEntry, TransactionRow } from './rows.ts'

export interface NextAttempt {
  id: string
  action: Action
  subject_id: string | null
  payment_service_id: string | null
  amount: number
  next_check_at: Date
}

/** What became of an authorization, as the rows say it afterwards. */
export interface Settlement {
  attempt: {
    id: string
    state: 'open' | 'pending' | 'done'
    result: 'approved' | 'declined' | 'failed' | null
    error_code: string | null
    provider_reference: string | null
    next_check_at: Date | null
  }
  /** The next call: to another provider after one that failed, or to whoever pays the rest. */
  nextAttempt: NextAttempt | null
  /** Where the transaction must be for this to happen. */
  before: readonly TransactionStatus[]
  after: TransactionRow
  /** The main method. `held_amount`: what it has authorized. */
  instrument: {
    held_amount: number
    capture_limit: number
    capturing_amount: number
    captured_amount: number
    capturable: boolean
  }
  /** The gift cards of a payment that came to nothing are not asked for money. */
  skipsGiftCards: boolean
  capture: {
    id: string
    amount: number
    status: 'succeeded' | 'pending' | 'declined' | 'failed'
    error_code: string | null
    captured_at: Date | null
  } | null
  /** A method that was stored with this payment, and what became of it. */
  method: { id: string; status: 'succeeded' | 'failed' } | null
  timeline: readonly TimelineEntry[]
  events: readonly {
    id: string
    transaction_id: string
    name: string
    resource_type: string
    resource_id: string
    target: string
    created_at: Date
  }[]
  /** The answer to the request that began it. */
  answer: { operation: string; key: string; status: number; body: string } | null
}

/**
 * Whoever closes the attempt decides: every other part of the statement takes its rows from the attempts that it closed (or, while nothing is
 * known, left open). The ids of the transactions whose attempt was still open come back.
 */
export async function settleAuthorizations(
  db: Db,
  accounts: Accounts,
  settlements: readonly Settlement[],
): Promise<Set<string>> {
  const rows = settlements.map(
    ({ attempt, nextAttempt, before, after, instrument, capture, method, answer, ...settlement }) => ({
      ...after,
      attempt_id: attempt.id,
      attempt_state: attempt.state,
      attempt_result: attempt.result,
      attempt_error_code: attempt.error_code,
      provider_reference: attempt.provider_reference,
      next_check_at: attempt.next_check_at,
      next_attempt_id: nextAttempt?.id,
      next_attempt_check_at: nextAttempt?.next_check_at,
      next_attempt_action: nextAttempt?.action,
      next_attempt_subject_id: nextAttempt?.subject_id,
      next_attempt_service_id: nextAttempt?.payment_service_id,
      next_attempt_amount: nextAttempt?.amount,
      before,
      ...instrument,
      capture_id: capture?.id,
      capture_amount: capture?.amount,
      capture_status: capture?.status,
      capture_error_code: capture?.error_code,
      capture_captured_at: capture?.captured_at,
      method_id: method?.id,
      method_status: method?.status,
      answer_operation: answer?.operation,
      answer_key: answer?.key,
      answer_status: answer?.status,
      answer_body: answer?.body,
      total_captured_amount: after.captured_amount,
      skips_gift_cards: settlement.skipsGiftCards,
    }),
  )
  const timeline = settlements.flatMap(({ timeline }) => timeline)
  // Most payments have no gift cards, and then this part is not there.
  const skipped = settlements.some(({ skipsGiftCards }) => skipsGiftCards)
    ? sql`skipped as (
        update gift_card_redemptions as redemption set status = 'skipped', updated_at = input.updated_at
        from input join moved using (merchant_account_id, id)
        where redemption.merchant_account_id = input.merchant_account_id and redemption.transaction_id = input.id and skips_gift_cards
      ),
      `
    : sql``
  const events = settlements.flatMap(({ events }) => events)
  const settled = await writeAtOnce<{ id: string }>(
    db,
    accounts,
    sql`
    with input as materialized (
        select * from json_to_recordset(${JSON.stringify(rows)}::json) as record (
          merchant_account_id text, id uuid, status text, intent_outcome text, currency text, authorized_amount bigint, total_captured_amount bigint,
          payment_service_id uuid, payment_service_transaction_id text, payment_service text, payment_method text, three_d_secure text, anti_fraud_decision text, pending_review boolean, error_code text, raw_response_code text,
          raw_response_description text, auth_response_code text, avs_response_code text, cvv_response_code text, merchant_advice_code text,
          scheme_transaction_id text, authorized_at timestamptz, captured_at timestamptz, canceled_at timestamptz,
          buyer_approval_timedout_at timestamptz, updated_at timestamptz,
          attempt_id uuid, attempt_state text, attempt_result text, attempt_error_code text, provider_reference text, next_check_at timestamptz,
          next_attempt_id uuid, next_attempt_check_at timestamptz, next_attempt_action text, next_attempt_subject_id uuid,
          next_attempt_service_id uuid, next_attempt_amount bigint, gift_card_redemptions text, before text[], skips_gift_cards boolean, held_amount bigint, capture_limit bigint, capturing_amount bigint,
          captured_amount bigint, capturable boolean, capture_id uuid, capture_amount bigint, capture_status text, capture_error_code text,
          capture_captured_at timestamptz, method_id uuid, method_status text, answer_operation text, answer_key text, answer_status integer,
          answer_body text
        )
        where ${within(accounts, sql`merchant_account_id`)}
      ),
      closed as (
        update attempts
        set state = attempt_state, result = attempt_result, error_code = attempt_error_code,
          provider_reference = coalesce(input.provider_reference, attempts.provider_reference), next_check_at = input.next_check_at,
          updated_at = input.updated_at
        from input
        where attempts.merchant_account_id = input.merchant_account_id and attempts.transaction_id = input.id
          and attempts.id = attempt_id and state <> 'done'
        returning attempts.merchant_account_id, attempts.transaction_id as id, attempts.idempotency_key
      ),
      moved as (
        update transactions
        set status = input.status, intent_outcome = input.intent_outcome, authorized_amount = input.authorized_amount,
          captured_amount = total_captured_amount, payment_service_id = input.payment_service_id,
          payment_service_transaction_id = input.payment_service_transaction_id, payment_service = input.payment_service,
          payment_method = input.payment_method, three_d_secure = input.three_d_secure, gift_card_redemptions = input.gift_card_redemptions,
          anti_fraud_decision = coalesce(input.anti_fraud_decision, transactions.anti_fraud_decision),
          pending_review = case when transactions.authorized_at is null or input.authorized_at is null then input.pending_review else transactions.pending_review end,
          error_code = input.error_code, raw_response_code = input.raw_response_code, raw_response_description = input.raw_response_description,
          auth_response_code = input.auth_response_code, avs_response_code = input.avs_response_code,
          cvv_response_code = input.cvv_response_code, merchant_advice_code = input.merchant_advice_code,
          scheme_transaction_id = input.scheme_transaction_id, authorized_at = input.authorized_at, captured_at = input.captured_at,
          canceled_at = input.canceled_at, buyer_approval_timedout_at = input.buyer_approval_timedout_at, version = version + 1, updated_at = input.updated_at
        from input join closed using (merchant_account_id, id)
        where transactions.merchant_account_id = input.merchant_account_id and transactions.id = input.id
          and transactions.status = any(input.before)
        returning transactions.merchant_account_id, transactions.id, transactions.version
      ),
      instruments as (
        update transaction_instruments as instrument
        set authorized_amount = held_amount, capture_limit = input.capture_limit, capturing_amount = input.capturing_amount,
          captured_amount = input.captured_amount, capturable = input.capturable
        from input join moved using (merchant_account_id, id)
        where instrument.merchant_account_id = input.merchant_account_id and instrument.transaction_id = input.id and position = 0
      ),
      attempted as (
        insert into attempts (merchant_account_id, transaction_id, id, action, subject_id, payment_service_id, amount, state, idempotency_key,
          next_check_at, created_at, updated_at)
        select input.merchant_account_id, input.id, next_attempt_id, next_attempt_action, next_attempt_subject_id, next_attempt_service_id,
          next_attempt_amount, 'open', closed.idempotency_key, next_attempt_check_at, input.updated_at, input.updated_at
        from input join closed using (merchant_account_id, id)
        where next_attempt_id is not null
      ),
      captured as (
        insert into captures as capture (merchant_account_id, transaction_id, id, amount, currency, status, final, payment_service_capture_id, error_code,
          raw_response_code, raw_response_description, captured_at, version, created_at, updated_at)
        select merchant_account_id, id, capture_id, capture_amount, currency, capture_status, true, provider_reference, capture_error_code,
          raw_response_code, raw_response_description, capture_captured_at, 1, updated_at, updated_at
        from input join moved using (merchant_account_id, id) where capture_id is not null
        on conflict (merchant_account_id, transaction_id, id) do update
        set status = excluded.status, error_code = excluded.error_code, raw_response_code = excluded.raw_response_code,
          raw_response_description = excluded.raw_response_description, captured_at = excluded.captured_at, version = capture.version + 1,
          updated_at = excluded.updated_at
        returning merchant_account_id, id, version
      ),
      methods as (
        update payment_methods as method
        -- A card that was not stored after all does not keep its identifier from the next try.
        set status = method_status, external_identifier = case method_status when 'failed' then null else method.external_identifier end,
          version = method.version + 1, updated_at = input.updated_at,
          scheme_transaction_id = coalesce(input.scheme_transaction_id, method.scheme_transaction_id),
          scheme_transaction_id_scheme = case when input.scheme_transaction_id is null then method.scheme_transaction_id_scheme else method.scheme end
        from input join moved using (merchant_account_id, id)
        where method.merchant_account_id = input.merchant_account_id and method.id = method_id
      ),
      ${skipped}timeline as (
        insert into transaction_events (merchant_account_id, transaction_id, id, name, context, created_at)
        select moved.merchant_account_id, line.transaction_id, line.id, line.name, line.context, line.created_at
        from json_to_recordset(${JSON.stringify(timeline)}::json) as line (transaction_id uuid, id uuid, name text, context text, created_at timestamptz)
          join moved on moved.id = line.transaction_id
      ),
      emitted as (
        insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
        select event.id, moved.merchant_account_id, event.name, resource_type, resource_id,
          case resource_type when 'transaction' then moved.version else (select version from captured where captured.id::text = resource_id) end,
          target::jsonb, event.created_at
        from json_to_recordset(${JSON.stringify(events)}::json) as event (
          id uuid, transaction_id uuid, name text, resource_type text, resource_id text, target text, created_at timestamptz
        ) join moved on moved.id = event.transaction_id
        returning id
      ),
      queued as (insert into event_queue (event_id) select id from emitted),
      answered as (
        update idempotency_keys as known
        set status = answer_status, body = answer_body
        from input join moved using (merchant_account_id, id)
        where known.merchant_account_id = input.merchant_account_id and known.operation = answer_operation and known.key = answer_key
          and known.transaction_id = input.id and known.status is null
      )
    select id from moved`,
  )
  return new Set(settled.map(({ id }) => id))
}
