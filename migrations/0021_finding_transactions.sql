-- What transactions are found by. Two narrow tables beside the wide one: a list filters here and fetches one page of texts there.
-- `transactions` itself keeps no index but its key, so that its updates stay within their page.

-- A bound on the time of the last change is one on the time of creation too. Clocks of two machines may differ.
-- squawk-ignore constraint-missing-not-valid
alter table transactions add constraint transactions_updated check (updated_at > created_at - interval '1 day');

-- As before, in two ways better. PostgreSQL guesses that half of the rows pass instead of a hundredth, and so does not prefer sorting many rows to
-- reading a few in order. And a setting that names several accounts (now `,a,b,`) is searched instead of taken apart for each row.
create or replace function florin_reaches(account text) returns boolean
  language sql stable parallel safe
  return case current_setting('florin.accounts', true)
    when account then true
    when '*' then true
    else strpos(current_setting('florin.accounts', true), ',' || account || ',') > 0
  end;

-- The short id is part of the text that never changes: lists are put together by PostgreSQL, which does not know how to make it.
select set_config('florin.accounts', '*', true);
create function pg_temp.short_id(id uuid) returns text language plpgsql as $$
declare
  rest numeric := 0;
  made text := '';
begin
  for place in 0..15 loop
    rest := rest * 256 + get_byte(uuid_send(id), place);
  end loop;
  loop
    made := substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', (rest % 62)::integer + 1, 1) || made;
    rest := div(rest, 62);
    exit when rest = 0;
  end loop;
  return made;
end
$$;
update transactions set rendering = 2, summary = summary || ',"reconciliation_id":"' || pg_temp.short_id(id) || '"';

-- What never changes but for the merchant's reference. Written once: an index on any of this is never touched again by what becomes of the payment.
create table transaction_facts (
  merchant_account_id        text not null,
  id                         uuid not null,
  amount                     integer not null,
  currency                   text not null,
  country                    text,
  payment_source             text not null,
  merchant_initiated         boolean not null,
  is_subsequent_payment      boolean not null,
  -- The three above as one number, so that one index serves them all, together and alone.
  -- squawk-ignore prefer-bigint-over-smallint
  sourcing                   smallint not null generated always as (
    array_position(array['ecommerce', 'moto', 'recurring', 'installment', 'card_on_file'], payment_source) * 4
      + merchant_initiated::integer * 2 + is_subsequent_payment::integer
  ) stored,
  method                     text,
  payment_method_id          uuid,
  payment_method_label       text,
  payment_method_scheme      text,
  payment_method_country     text,
  payment_method_bin         text,
  payment_method_fingerprint text,
  checkout_session_id        uuid,
  buyer_id                   uuid,
  buyer_external_identifier  text,
  buyer_email_address        text, -- in lower case
  external_identifier        text,

  constraint transaction_facts_pkey primary key (merchant_account_id, id)
) with (autovacuum_vacuum_insert_scale_factor = 0.02); -- what was vacuumed is read from the indexes alone

-- What changes, kept by the triggers below.
create table transaction_states (
  merchant_account_id            text not null,
  id                             uuid not null,
  status                         text not null,
  pending_review                 boolean not null,
  disputed                       boolean not null,
  has_refunds                    boolean not null,
  has_settlements                boolean not null,
  used_3ds                       boolean not null,
  -- The six above as one number: any combination of them is a few ranges of one index.
  -- squawk-ignore prefer-bigint-over-smallint
  state                          smallint not null generated always as (
    array_position(array['processing', 'buyer_approval_pending', 'authorization_succeeded', 'authorization_failed', 'authorization_declined',
      'capture_pending', 'capture_succeeded', 'authorization_void_pending', 'authorization_voided'], status) * 32
      + pending_review::integer * 16 + disputed::integer * 8 + has_refunds::integer * 4 + has_settlements::integer * 2 + used_3ds::integer
  ) stored,
  payment_service_id             uuid,
  payment_service_transaction_id text,
  error_code                     text,
  updated_at                     timestamptz(3) not null,

  constraint transaction_states_pkey primary key (merchant_account_id, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

-- Most states and many other values are rare; that a value is in nobody's list must be known, or it seems more frequent than it is.
alter table transaction_states alter column state set statistics 500;
alter table transaction_facts alter column currency set statistics 500;

-- Each ends in the id: a page in the order of creation is one range of it. docs/decisions/0014 says what each costs.
create index transaction_facts_amount on transaction_facts (merchant_account_id, amount, id);
create index transaction_facts_currency on transaction_facts (merchant_account_id, currency, id);
create index transaction_facts_country on transaction_facts (merchant_account_id, country, id) where country is not null;
create index transaction_facts_sourcing on transaction_facts (merchant_account_id, sourcing, id);
create index transaction_facts_method on transaction_facts (merchant_account_id, method, id) where method is not null;
create index transaction_facts_payment_method_id on transaction_facts (merchant_account_id, payment_method_id, id)
  where payment_method_id is not null;
create index transaction_facts_label on transaction_facts (merchant_account_id, payment_method_label, id)
  where payment_method_label is not null;
create index transaction_facts_scheme on transaction_facts (merchant_account_id, payment_method_scheme, id)
  where payment_method_scheme is not null;
create index transaction_facts_method_country on transaction_facts (merchant_account_id, payment_method_country, id)
  where payment_method_country is not null;
create index transaction_facts_bin on transaction_facts (merchant_account_id, payment_method_bin, id) where payment_method_bin is not null;
create index transaction_facts_fingerprint on transaction_facts (merchant_account_id, payment_method_fingerprint, id)
  where payment_method_fingerprint is not null;
create index transaction_facts_session on transaction_facts (merchant_account_id, checkout_session_id, id)
  where checkout_session_id is not null;
create index transaction_facts_buyer on transaction_facts (merchant_account_id, buyer_id, id) where buyer_id is not null;
create index transaction_facts_buyer_reference on transaction_facts (merchant_account_id, buyer_external_identifier, id)
  where buyer_external_identifier is not null;
create index transaction_facts_email on transaction_facts (merchant_account_id, buyer_email_address, id)
  where buyer_email_address is not null;
create index transaction_facts_reference on transaction_facts (merchant_account_id, external_identifier, id)
  where external_identifier is not null;

create index transaction_states_state on transaction_states (merchant_account_id, state, id);
create index transaction_states_updated on transaction_states (merchant_account_id, updated_at, id);
create index transaction_states_service on transaction_states (merchant_account_id, payment_service_id, id) where payment_service_id is not null;
create index transaction_states_provider_reference on transaction_states (merchant_account_id, payment_service_transaction_id, id)
  where payment_service_transaction_id is not null;
create index transaction_states_error on transaction_states (merchant_account_id, error_code, id) where error_code is not null;

-- Metadata as rows: containment of JSON cannot use an index under row level security.
create table transaction_metadata (
  merchant_account_id text not null,
  name                text not null,
  value               text not null,
  id                  uuid not null,

  constraint transaction_metadata_pkey primary key (merchant_account_id, name, value, id)
);
-- To replace those of one transaction.
create index transaction_metadata_of_transaction on transaction_metadata (merchant_account_id, id);

do $$
declare
  name text;
begin
  foreach name in array array['transaction_facts', 'transaction_states', 'transaction_metadata'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy %I on %I using (florin_reaches(merchant_account_id))', name || '_reach', name);
    execute format('grant select, insert on %I to florin_api, florin_worker', name);
  end loop;
end
$$;
grant update on transaction_facts, transaction_states to florin_api, florin_worker;
grant delete on transaction_metadata to florin_api, florin_worker;

create function florin_insert_state() returns trigger language plpgsql as $$
begin
  insert into transaction_states (merchant_account_id, id, status, pending_review, disputed, has_refunds, has_settlements, used_3ds,
    payment_service_id, payment_service_transaction_id, error_code, updated_at)
  values (new.merchant_account_id, new.id, new.status, new.pending_review, new.disputed, new.refunded_amount > 0, new.settled,
    new.three_d_secure is not null, new.payment_service_id, new.payment_service_transaction_id, new.error_code, new.updated_at);
  return null;
end
$$;
create trigger transactions_insert_state after insert on transactions for each row execute function florin_insert_state();

create function florin_update_state() returns trigger language plpgsql as $$
begin
  update transaction_states
  set status = new.status, pending_review = new.pending_review, disputed = new.disputed, has_refunds = new.refunded_amount > 0,
    has_settlements = new.settled, used_3ds = new.three_d_secure is not null, payment_service_id = new.payment_service_id,
    payment_service_transaction_id = new.payment_service_transaction_id, error_code = new.error_code, updated_at = new.updated_at
  where merchant_account_id = new.merchant_account_id and id = new.id;
  return null;
end
$$;
create trigger transactions_update_state after update on transactions for each row execute function florin_update_state();

create function florin_update_reference() returns trigger language plpgsql as $$
begin
  update transaction_facts set external_identifier = new.external_identifier
  where merchant_account_id = new.merchant_account_id and id = new.id;
  return null;
end
$$;
create trigger transactions_update_reference after update of external_identifier on transactions for each row
  when (old.external_identifier is distinct from new.external_identifier) execute function florin_update_reference();

-- Those that are there already.
insert into transaction_states (merchant_account_id, id, status, pending_review, disputed, has_refunds, has_settlements, used_3ds,
  payment_service_id, payment_service_transaction_id, error_code, updated_at)
select merchant_account_id, id, status, pending_review, disputed, refunded_amount > 0, settled, three_d_secure is not null, payment_service_id,
  payment_service_transaction_id, error_code, updated_at
from transactions;
insert into transaction_facts (merchant_account_id, id, amount, currency, country, payment_source, merchant_initiated, is_subsequent_payment, method,
  payment_method_id, payment_method_label, payment_method_scheme, payment_method_country, payment_method_bin, payment_method_fingerprint,
  checkout_session_id, buyer_id, buyer_external_identifier, buyer_email_address, external_identifier)
select merchant_account_id, id, amount, currency, country, payment_source, merchant_initiated, is_subsequent_payment, method, payment_method_id,
  payment_method::json ->> 'label', payment_method::json ->> 'scheme', payment_method::json ->> 'country',
  payment_method::json -> 'details' ->> 'bin', payment_method::json ->> 'fingerprint', checkout_session_id, buyer_id, buyer_external_identifier,
  lower(('{' || summary || '}')::json -> 'buyer' -> 'billing_details' ->> 'email_address'), external_identifier
from transactions;
insert into transaction_metadata (merchant_account_id, name, value, id)
select merchant_account_id, entry.key, entry.value, id
from transactions, json_each_text(metadata::json) as entry
where metadata is not null
on conflict do nothing;
