-- Stored payment methods. The card number is in the vault under the method's id; this table holds only what the API may show.

create table payment_methods (
  merchant_account_id          text not null references merchant_accounts (id),
  id                           uuid not null, -- UUIDv7; its millisecond is created_at
  buyer_id                     uuid,
  external_identifier          text check (length(external_identifier) between 1 and 200),
  method                       text not null,
  mode                         text not null,
  status                       text not null check (status in ('processing', 'buyer_approval_required', 'succeeded', 'failed', 'paused')),
  label                        text check (length(label) <= 320),
  scheme                       text,
  additional_schemes           text[],
  bin                          text check (bin ~ '^\d{6,8}$'),
  card_type                    text check (card_type in ('credit', 'debit', 'prepaid')),
  card_issuer_name             text,
  issuer_country               text check (issuer_country ~ '^[A-Z]{2}$'),
  expiration_date              text check (expiration_date ~ '^(0[1-9]|1[0-2])/\d{2}$'),
  expires_at                   timestamptz(3), -- the first moment at which the card is no longer good
  country                      text check (country ~ '^[A-Z]{2}$'),
  currency                     text check (currency ~ '^[A-Z]{3}$'),
  fingerprint                  text check (fingerprint ~ '^[0-9a-f]{64}$'),
  approval_url                 text,
  approval_target              text check (approval_target in ('any', 'new_window')),
  scheme_transaction_id        text check (length(scheme_transaction_id) <= 100),
  scheme_transaction_id_scheme text,
  transaction_link_id          text check (length(transaction_link_id) <= 100),
  replacement                  jsonb, -- what the card shows once its waiting replacement applies; never a number
  last_replaced_at             timestamptz(3),
  last_used_at                 timestamptz(3),
  usage_count                  integer not null default 0 check (usage_count >= 0),
  cit_last_used_at             timestamptz(3),
  cit_usage_count              integer not null default 0 check (cit_usage_count >= 0),
  version                      integer not null default 1,
  created_at                   timestamptz(3) not null,
  updated_at                   timestamptz(3) not null,

  constraint payment_methods_pkey primary key (merchant_account_id, id), -- also serves the list: newest first within one account
  constraint payment_methods_buyer foreign key (merchant_account_id, buyer_id)
    references buyers (merchant_account_id, id) on delete set null (buyer_id),
  -- Only a card can be replaced.
  constraint payment_methods_replacement_is_cards check (method = 'card' or (replacement is null and last_replaced_at is null))
);

-- Partial: most methods have none.
create unique index payment_methods_external_identifier_unique on payment_methods (merchant_account_id, external_identifier)
  where external_identifier is not null;
create index payment_methods_buyer_list on payment_methods (merchant_account_id, buyer_id, id) where buyer_id is not null;
-- The list over all accounts, newest first.
create index payment_methods_list on payment_methods (id);
-- What the expiry job looks for: cards with a waiting replacement, by the moment they expire.
create index payment_methods_replacement_due on payment_methods (expires_at) where replacement is not null;

alter table payment_methods enable row level security;
alter table payment_methods force row level security;
create policy payment_methods_reach on payment_methods using (florin_reaches(merchant_account_id));

grant select, insert, update, delete on payment_methods to florin_api;
grant select, update on payment_methods to florin_worker;

-- Account updater: jobs a merchant asked for, and one inquiry per card.
create table account_updater_jobs (
  merchant_account_id text not null references merchant_accounts (id),
  id                  uuid not null, -- UUIDv7
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint account_updater_jobs_pkey primary key (merchant_account_id, id)
);

create table account_updater_inquiries (
  merchant_account_id text not null,
  id                  uuid not null, -- UUIDv7
  job_id              uuid not null,
  payment_method_id   uuid not null,
  status              text not null check (status in ('running', 'updated', 'unchanged', 'closed', 'failed')),
  error_code          text,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint account_updater_inquiries_pkey primary key (merchant_account_id, id),
  constraint account_updater_inquiries_job foreign key (merchant_account_id, job_id) references account_updater_jobs (merchant_account_id, id),
  constraint account_updater_inquiries_method foreign key (merchant_account_id, payment_method_id)
    references payment_methods (merchant_account_id, id) on delete cascade
);

-- A card has at most one running inquiry, whoever asks at the same moment.
create unique index account_updater_inquiries_one_running on account_updater_inquiries (merchant_account_id, payment_method_id)
  where status = 'running';
create index account_updater_inquiries_job_list on account_updater_inquiries (merchant_account_id, job_id);
create index account_updater_inquiries_method_list on account_updater_inquiries (merchant_account_id, payment_method_id);

alter table account_updater_jobs enable row level security;
alter table account_updater_jobs force row level security;
create policy account_updater_jobs_reach on account_updater_jobs using (florin_reaches(merchant_account_id));
alter table account_updater_inquiries enable row level security;
alter table account_updater_inquiries force row level security;
create policy account_updater_inquiries_reach on account_updater_inquiries using (florin_reaches(merchant_account_id));

grant select, insert on account_updater_jobs, account_updater_inquiries to florin_api;
grant select, update on account_updater_inquiries to florin_worker;
