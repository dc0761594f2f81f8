-- Payments. A transaction is what the merchant sees; its instruments are what pays for it; its attempts are the calls to providers,
-- recorded before they are made. Money is guarded by the constraints below, whatever the code thinks.
--
-- No foreign keys to merchant accounts, services, buyers and methods: a transaction keeps copies of them by contract, and every payment
-- of an account would lock the same row.

create table transactions (
  merchant_account_id            text not null,
  id                             uuid not null, -- UUIDv7; its millisecond is created_at
  status                         text not null check (status in ('processing', 'buyer_approval_pending', 'authorization_succeeded',
    'authorization_failed', 'authorization_declined', 'capture_pending', 'capture_succeeded', 'authorization_void_pending',
    'authorization_voided')),
  intent                         text not null check (intent in ('authorize', 'capture')),
  intent_outcome                 text not null check (intent_outcome in ('pending', 'succeeded', 'failed')),
  amount                         bigint not null check (amount between 0 and 99999999),
  currency                       text not null check (currency ~ '^[A-Z]{3}$'),
  country                        text check (country ~ '^[A-Z]{2}$'),
  -- Sums over the instruments.
  authorized_amount              bigint not null check (authorized_amount >= 0),
  captured_amount                bigint not null check (captured_amount >= 0),
  refunded_amount                bigint not null,
  external_identifier            text check (length(external_identifier) between 1 and 200),
  buyer_id                       uuid,
  buyer_external_identifier      text,
  payment_method_id              uuid, -- of a stored method
  method                         text,
  instrument_type                text,
  payment_service_id             uuid, -- the one that was asked last
  payment_service_transaction_id text, -- the provider's own id
  payment_source                 text not null check (payment_source in ('ecommerce', 'moto', 'recurring', 'installment', 'card_on_file')),
  merchant_initiated             boolean not null,
  is_subsequent_payment          boolean not null,
  multi_tender                   boolean not null default false,
  error_code                     text,
  raw_response_code              text,
  raw_response_description       text,
  auth_response_code             text,
  avs_response_code              text,
  cvv_response_code              text,
  merchant_advice_code           text,
  scheme_transaction_id          text,
  pending_review                 boolean not null default false,
  disputed                       boolean not null default false,
  settled                        boolean not null default false,
  settled_amount                 bigint not null default 0,
  settled_currency               text,
  authorized_at                  timestamptz(3),
  captured_at                    timestamptz(3),
  voided_at                      timestamptz(3),
  canceled_at                    timestamptz(3),
  approval_expires_at            timestamptz(3),
  buyer_approval_timedout_at     timestamptz(3),
  metadata                       text, -- JSON, as the caller gave it
  connection_options             text, -- JSON, for the provider alone; never shown
  -- Rendered when written, by the schema of the answer: what the answers show and no column says. JSON without its outer braces.
  summary                        text not null,
  details                        text not null,
  payment_method                 text, -- whole objects
  payment_service                text,
  rendering                      integer not null, -- version of the four above
  version                        integer not null,
  created_at                     timestamptz(3) not null,
  updated_at                     timestamptz(3) not null,

  constraint transactions_pkey primary key (merchant_account_id, id), -- also serves the list: newest first within one account
  constraint transactions_refunded check (refunded_amount between 0 and captured_amount)
) with (fillfactor = 80); -- every payment is updated once or twice, soon after it was written

-- The list over all accounts, newest first.
create index transactions_list on transactions (id);

-- What pays: the main method, later gift cards beside it. `capturing` and `refunding` are promised to calls under way.
create table transaction_instruments (
  merchant_account_id text not null,
  transaction_id      uuid not null,
  position            integer not null, -- 0: the main method
  kind                text not null check (kind in ('payment-method', 'gift-card')),
  amount              bigint not null check (amount >= 0),
  authorized_amount   bigint not null check (authorized_amount >= 0),
  capture_limit       bigint not null check (capture_limit >= 0), -- authorized, and what the account may capture beyond
  capturing_amount    bigint not null check (capturing_amount >= 0),
  captured_amount     bigint not null check (captured_amount >= 0),
  refunding_amount    bigint not null check (refunding_amount >= 0),
  refunded_amount     bigint not null check (refunded_amount >= 0),
  capturable          boolean not null, -- authorized, and neither captured for good nor voided

  constraint transaction_instruments_pkey primary key (merchant_account_id, transaction_id, position),
  constraint transaction_instruments_transaction foreign key (merchant_account_id, transaction_id)
    references transactions (merchant_account_id, id),
  constraint transaction_instruments_authorized check (authorized_amount <= amount),
  constraint transaction_instruments_captured check (captured_amount + capturing_amount <= capture_limit),
  constraint transaction_instruments_refunded check (refunded_amount + refunding_amount <= captured_amount)
) with (fillfactor = 80);

create table captures (
  merchant_account_id        text not null,
  transaction_id             uuid not null,
  id                         uuid not null, -- UUIDv7
  amount                     bigint not null check (amount > 0),
  currency                   text not null,
  status                     text not null check (status in ('succeeded', 'pending', 'declined', 'failed')),
  final                      boolean not null,
  external_identifier        text check (length(external_identifier) between 1 and 300),
  payment_service_capture_id text,
  error_code                 text,
  raw_response_code          text,
  raw_response_description   text,
  cart_items                 text, -- JSON, as the caller gave it
  captured_at                timestamptz(3),
  version                    integer not null,
  created_at                 timestamptz(3) not null,
  updated_at                 timestamptz(3) not null,

  constraint captures_pkey primary key (merchant_account_id, transaction_id, id),
  constraint captures_transaction foreign key (merchant_account_id, transaction_id) references transactions (merchant_account_id, id)
);

create table refunds (
  merchant_account_id       text not null,
  transaction_id            uuid not null,
  id                        uuid not null, -- UUIDv7
  instrument                integer not null, -- position
  amount                    bigint not null check (amount > 0),
  currency                  text not null,
  status                    text not null check (status in ('processing', 'succeeded', 'failed', 'declined', 'voided')),
  reason                    text check (length(reason) <= 100),
  external_identifier       text check (length(external_identifier) between 1 and 300),
  payment_service_refund_id text,
  error_code                text,
  raw_response_code         text,
  raw_response_description  text,
  creator_id                uuid, -- null: the command line
  creator_name              text not null,
  creator_thumbprint        text,
  version                   integer not null,
  created_at                timestamptz(3) not null,
  updated_at                timestamptz(3) not null,

  constraint refunds_pkey primary key (merchant_account_id, id),
  constraint refunds_transaction foreign key (merchant_account_id, transaction_id) references transactions (merchant_account_id, id)
);
create index refunds_of_transaction on refunds (merchant_account_id, transaction_id, id);

-- Calls to providers. Open until the outcome is known; whoever closes it decides what becomes of the transaction.
create table attempts (
  merchant_account_id text not null,
  transaction_id      uuid not null,
  id                  uuid not null, -- UUIDv7; the reference that the provider knows the call by
  action              text not null check (action in ('authorize', 'capture', 'void', 'refund')),
  subject_id          uuid, -- the capture or the refund
  payment_service_id  uuid not null,
  amount              bigint not null check (amount >= 0),
  state               text not null check (state in ('open', 'pending', 'done')),
  result              text check (result in ('approved', 'declined', 'failed')),
  error_code          text,
  provider_reference  text,
  idempotency_key     text, -- of the request that is answered when this is known
  checks              integer not null default 0, -- how often the provider was asked what became of it
  next_check_at       timestamptz(3), -- also the lease of whoever asks
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint attempts_pkey primary key (merchant_account_id, transaction_id, id),
  constraint attempts_transaction foreign key (merchant_account_id, transaction_id) references transactions (merchant_account_id, id),
  constraint attempts_done check ((state = 'done') = (result is not null) and (state = 'done') = (next_check_at is null))
) with (fillfactor = 80);
create index attempts_due on attempts (next_check_at) where state <> 'done';

-- The timeline of a transaction, for people.
create table transaction_events (
  merchant_account_id text not null,
  transaction_id      uuid not null,
  id                  uuid not null, -- UUIDv7
  name                text not null,
  context             text not null, -- JSON
  created_at          timestamptz(3) not null,

  constraint transaction_events_pkey primary key (merchant_account_id, transaction_id, id)
);

-- Answers to repeat. The row is written with the intent, the answer with the outcome.
create table idempotency_keys (
  merchant_account_id text not null,
  operation           text not null,
  key                 text not null check (length(key) between 1 and 255),
  fingerprint         text not null, -- of the request, card data replaced by its keyed fingerprint
  transaction_id      uuid not null,
  resource_id         uuid, -- what the request made, other than the transaction
  lease_until         timestamptz(3) not null, -- nobody else may finish it before
  status              integer,
  body                text,
  created_at          timestamptz(3) not null,

  constraint idempotency_keys_pkey primary key (merchant_account_id, operation, key),
  constraint idempotency_keys_answer check ((status is null) = (body is null))
) with (fillfactor = 80);
create index idempotency_keys_age on idempotency_keys (created_at);

do $$
declare
  name text;
begin
  foreach name in array array['transactions', 'transaction_instruments', 'captures', 'refunds', 'attempts', 'transaction_events',
    'idempotency_keys'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy %I on %I using (florin_reaches(merchant_account_id))', name || '_reach', name);
    execute format('grant select, insert, update on %I to florin_api, florin_worker', name);
  end loop;
end
$$;
-- The timeline is never rewritten.
revoke update on transaction_events from florin_api, florin_worker;
grant delete on idempotency_keys to florin_worker;
-- The janitor reports what it finds out.
grant insert on event_queue to florin_worker;
