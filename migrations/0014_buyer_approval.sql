-- Buyers who must approve: where they come back to, and what a method is charged by that they approved for good.

-- A payment that may send its buyer away. Written with its intent, because the provider is told the address of the return.
create table transaction_approvals (
  merchant_account_id text not null,
  transaction_id      uuid not null,
  id                  uuid not null, -- UUIDv4: whoever knows it is told how the payment stands, so it must not be guessed
  redirect_url        text not null check (length(redirect_url) <= 5000),
  created_at          timestamptz(3) not null,

  constraint transaction_approvals_pkey primary key (merchant_account_id, transaction_id),
  -- The id alone finds it: a browser knows nothing else.
  constraint transaction_approvals_id_unique unique (id),
  constraint transaction_approvals_transaction foreign key (merchant_account_id, transaction_id)
    references transactions (merchant_account_id, id)
);

alter table transactions add column three_d_secure text; -- JSON, rendered by the schema of the answer

-- Of a method that the buyer approved: who charges it, and what the provider knows the approval by.
alter table payment_methods add column payment_service_id uuid;
alter table payment_methods add column enrolment text;

-- Asking a buyer to approve a method. Open until the answer is known, as attempts are.
create table enrolments (
  merchant_account_id text not null,
  payment_method_id   uuid not null,
  id                  uuid not null, -- UUIDv4: the reference that the provider knows the call by, and the address of the return
  payment_service_id  uuid not null,
  redirect_url        text not null check (length(redirect_url) <= 5000),
  provider_reference  text,
  is_open             boolean not null default true,
  checks              integer not null default 0, -- how often the provider was asked what became of it
  next_check_at       timestamptz(3), -- also the lease of whoever asks
  expires_at          timestamptz(3) not null,
  created_at          timestamptz(3) not null,

  constraint enrolments_pkey primary key (merchant_account_id, payment_method_id),
  constraint enrolments_id_unique unique (id),
  constraint enrolments_method foreign key (merchant_account_id, payment_method_id)
    references payment_methods (merchant_account_id, id) on delete cascade,
  constraint enrolments_open check (is_open = (next_check_at is not null))
);
create index enrolments_due on enrolments (next_check_at) where is_open;

alter table transaction_approvals enable row level security;
alter table transaction_approvals force row level security;
create policy transaction_approvals_reach on transaction_approvals using (florin_reaches(merchant_account_id));
alter table enrolments enable row level security;
alter table enrolments force row level security;
create policy enrolments_reach on enrolments using (florin_reaches(merchant_account_id));

grant select, insert on transaction_approvals to florin_api;
grant select, insert, update on enrolments to florin_api;
grant select, update on enrolments to florin_worker;
