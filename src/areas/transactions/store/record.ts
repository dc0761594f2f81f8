import type { NewKey } from '../../../idempotency/store.ts'
import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, writeAtOnce } from '../../../platform/postgres.ts'
import { type Sql, sql } from '../../../platform/sql.ts'
import type { AttemptRow, TransactionRow } from './rows.ts'

/** What a payment is found by that no column of it says. */
export interface Findings {
  payment_method_label: string | null
  payment_method_scheme: string | null
  payment_method_country: string | null
  payment_method_bin: string | null
  payment_method_fingerprint: string | null
  /** In lower case. */
  buyer_email_address: string | null
}

export interface Intention {
  transaction: TransactionRow
  findings: Findings
  /** Absent when there is nobody to ask. */
  attempt: Pick<AttemptRow, 'id' | 'action' | 'subject_id' | 'payment_service_id' | 'amount' | 'next_check_at'> | null
  /** What the main method is to pay. */
  mainAmount: number
  key: NewKey | null
  /** Of a stored method that is used: counted. */
  usedMethodId: string | null
  /** When the provider's statements are asked for first; null when it makes none. */
  statementAt: Date | null
}

/**
 * Writes down what is about to be tried, all of it in one statement: the key, the transaction, its instrument, the attempt, the use of the
 * stored method, and what follows. A payment whose key is taken leaves nothing; the ids that were written come back.
 */
export async function recordPayments(
  db: Db,
  accounts: Accounts,
  intentions: readonly Intention[],
  follow: (recorded: Sql) => Sql,
): Promise<Set<string>> {
  const rows = intentions.map(({ transaction, findings, attempt, mainAmount, key, usedMethodId, statementAt }) => ({
    ...transaction,
    ...findings,
    attempt_id: attempt?.id,
    attempt_action: attempt?.action,
    attempt_service_id: attempt?.payment_service_id,
    attempt_amount: attempt?.amount,
    main_amount: mainAmount,
    subject_id: attempt?.subject_id,
    next_check_at: attempt?.next_check_at,
    operation: key?.operation,
    key: key?.key,
    fingerprint: key?.fingerprint,
    lease_until: key?.lease_until,
    forgotten_before: key?.forgotten_before,
    used_method_id: usedMethodId,
    statement_at: statementAt,
  }))
  // Most providers make no statements, and then this part is not there.
  const checked = intentions.some(({ statementAt }) => statementAt !== null)
    ? sql`checked as (
        insert into statement_checks (merchant_account_id, transaction_id, next_check_at)
        select merchant_account_id, id, statement_at from input join recorded using (merchant_account_id, id) where statement_at is not null
      ),
      `
    : sql``
  const withMetadata = intentions.some(({ transaction }) => transaction.metadata !== null)
    ? sql`metadata as (
        insert into transaction_metadata (merchant_account_id, name, value, id)
        select merchant_account_id, entry.key, entry.value, id
        from input join recorded using (merchant_account_id, id), json_each_text(metadata::json) as entry
        where metadata is not null
      ),
      `
    : sql``
  const recorded = await writeAtOnce<{ id: string }>(
    db,
    accounts,
    sql`
    with input as materialized (
        select * from json_to_recordset(${JSON.stringify(rows)}::json) as record (
          merchant_account_id text, id uuid, status text, intent text, intent_outcome text, amount bigint, currency text, country text,
          external_identifier text, buyer_id uuid, buyer_external_identifier text, payment_method_id uuid, checkout_session_id uuid, method text, instrument_type text,
          payment_service_id uuid, payment_source text, merchant_initiated boolean, is_subsequent_payment boolean, error_code text,
          approval_expires_at timestamptz, metadata text, connection_options text, summary text, details text, payment_method text,
          payment_service text, gift_card_redemptions text, multi_tender boolean, rendering integer, version integer, created_at timestamptz, attempt_id uuid,
          attempt_action text, attempt_service_id uuid, attempt_amount bigint, main_amount bigint, subject_id uuid,
          next_check_at timestamptz, operation text, key text, fingerprint text, lease_until timestamptz, forgotten_before timestamptz,
          used_method_id uuid, statement_at timestamptz, payment_method_label text, payment_method_scheme text, payment_method_country text,
          payment_method_bin text, payment_method_fingerprint text, buyer_email_address text
        )
        where ${within(accounts, sql`merchant_account_id`)}
      ),
      held as (
        insert into idempotency_keys as known (merchant_account_id, operation, key, fingerprint, transaction_id, lease_until, created_at)
        select merchant_account_id, operation, key, fingerprint, id, lease_until, created_at from input where key is not null
        order by key
        on conflict (merchant_account_id, operation, key) do update
          set fingerprint = excluded.fingerprint, transaction_id = excluded.transaction_id, resource_id = null,
            lease_until = excluded.lease_until, status = null, body = null, created_at = excluded.created_at
          where known.created_at < (select max(forgotten_before) from input)
        returning transaction_id
      ),
      recorded as (
        insert into transactions (merchant_account_id, id, status, intent, intent_outcome, amount, currency, country, authorized_amount,
          captured_amount, refunded_amount, external_identifier, buyer_id, buyer_external_identifier, payment_method_id,
          checkout_session_id, method, instrument_type, payment_service_id, payment_source, merchant_initiated, is_subsequent_payment, error_code, approval_expires_at,
          metadata, connection_options, summary, details, payment_method, payment_service, gift_card_redemptions, multi_tender, rendering, version,
          created_at, updated_at)
        select merchant_account_id, id, status, intent, intent_outcome, amount, currency, country, 0, 0, 0, external_identifier, buyer_id,
          buyer_external_identifier, payment_method_id, checkout_session_id, method, instrument_type, payment_service_id, payment_source, merchant_initiated,
          is_subsequent_payment, error_code, approval_expires_at, metadata, connection_options, summary, details, payment_method,
          payment_service, gift_card_redemptions, multi_tender, rendering, version, created_at, created_at
        from input where key is null or id in (select transaction_id from held)
        returning merchant_account_id, id
      ),
      facts as (
        insert into transaction_facts (merchant_account_id, id, amount, currency, country, payment_source, merchant_initiated, is_subsequent_payment,
          method, payment_method_id, payment_method_label, payment_method_scheme, payment_method_country, payment_method_bin,
          payment_method_fingerprint, checkout_session_id, buyer_id, buyer_external_identifier, buyer_email_address, external_identifier,
          has_gift_card_redemptions)
        select merchant_account_id, id, amount, currency, country, payment_source, merchant_initiated, is_subsequent_payment, method,
          payment_method_id, payment_method_label, payment_method_scheme, payment_method_country, payment_method_bin, payment_method_fingerprint,
          checkout_session_id, buyer_id, buyer_external_identifier, buyer_email_address, external_identifier, gift_card_redemptions is not null
        from input join recorded using (merchant_account_id, id)
      ),
      ${withMetadata}instruments as (
        insert into transaction_instruments (merchant_account_id, transaction_id, position, kind, amount, authorized_amount, capture_limit,
          capturing_amount, captured_amount, refunding_amount, refunded_amount, capturable)
        select merchant_account_id, id, 0, 'payment-method', main_amount, 0, 0, 0, 0, 0, 0, false from input join recorded using (merchant_account_id, id)
      ),
      attempted as (
        insert into attempts (merchant_account_id, transaction_id, id, action, subject_id, payment_service_id, amount, state, idempotency_key,
          next_check_at, created_at, updated_at)
        select merchant_account_id, id, attempt_id, attempt_action, subject_id, attempt_service_id, attempt_amount, 'open', key, next_check_at, created_at, created_at
        from input join recorded using (merchant_account_id, id) where attempt_id is not null
      ),
      used as (
        update payment_methods as method
        set usage_count = usage_count + uses.count, last_used_at = greatest(last_used_at, uses.at),
          cit_usage_count = cit_usage_count + uses.cit_count, cit_last_used_at = greatest(cit_last_used_at, uses.cit_at)
        from (
          select merchant_account_id, used_method_id, count(*) as count, max(created_at) as at,
            count(*) filter (where not merchant_initiated) as cit_count, max(created_at) filter (where not merchant_initiated) as cit_at
          from input join recorded using (merchant_account_id, id) where used_method_id is not null group by 1, 2
        ) as uses
        where method.merchant_account_id = uses.merchant_account_id and method.id = uses.used_method_id
      ),
      ${checked}following as (${follow(sql`recorded`)})
    select id from recorded`,
  )
  return new Set(recorded.map(({ id }) => id))
}
