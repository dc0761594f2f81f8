-- Checkout sessions: what a browser hands in for a payment that the merchant's server makes later. The card number is in the vault under the
-- session's id, the security code in vault.waiting; this table holds only what the API may show.

create table checkout_sessions (
  merchant_account_id   text not null references merchant_accounts (id),
  id                    uuid not null, -- UUIDv4: whoever knows it may send card data, so it must not be guessed
  amount                bigint check (amount between 0 and 99999999),
  currency              text check (currency ~ '^[A-Z]{3}$'),
  country               text check (country ~ '^[A-Z]{2}$'),
  intent                text check (intent in ('authorize', 'capture')),
  payment_source        text check (payment_source in ('ecommerce', 'moto', 'recurring', 'installment', 'card_on_file')),
  merchant_initiated    boolean,
  is_subsequent_payment boolean,
  payment_service_id    uuid,
  cart_items            text, -- JSON, as the caller gave it; so are the next three
  metadata              text,
  airline               text,
  buyer                 text,
  -- Of the card in the vault, or of the stored method that was chosen.
  label                 text check (length(label) <= 320),
  scheme                text,
  bin                   text check (bin ~ '^\d{6,8}$'),
  card_type             text check (card_type in ('credit', 'debit', 'prepaid')),
  card_issuer_name      text,
  issuer_country        text check (issuer_country ~ '^[A-Z]{2}$'),
  fingerprint           text check (fingerprint ~ '^[0-9a-f]{64}$'),
  expiration_date       text check (expiration_date ~ '^(0[1-9]|1[0-2])/\d{2}$'),
  payment_method_id     uuid, -- a stored method; its number stays its own
  postal_code           text check (length(postal_code) between 1 and 50),
  fields_sent_at        timestamptz(3),
  transaction_id        uuid, -- the last payment with it; unless that was refused, the session is used up
  version               integer not null default 1,
  expires_at            timestamptz(3) not null,
  created_at            timestamptz(3) not null,
  updated_at            timestamptz(3) not null,

  constraint checkout_sessions_pkey primary key (merchant_account_id, id),
  -- The id alone finds a session: a browser knows nothing else.
  constraint checkout_sessions_id_unique unique (id)
);

create index checkout_sessions_expiry on checkout_sessions (expires_at);

alter table checkout_sessions enable row level security;
alter table checkout_sessions force row level security;
create policy checkout_sessions_reach on checkout_sessions using (florin_reaches(merchant_account_id));

grant select, insert, update, delete on checkout_sessions to florin_api;
grant select, delete on checkout_sessions to florin_worker;

alter table transactions add column checkout_session_id uuid;

-- Secrets that wait for a later request, for a day at most, and are taken once. Unlogged: nothing of them is in the write-ahead log, on a
-- replica or in an archive of it. A crash of the server empties the table; what waits for a security code goes on without it.
create unlogged table vault.waiting (
  expires_at          timestamptz(3) not null,
  key_version         integer not null,
  id                  uuid not null, -- of the owner: a checkout session
  merchant_account_id text not null check (length(merchant_account_id) between 1 and 50),
  field               text not null check (length(field) between 1 and 40),
  sealed              bytea not null check (length(sealed) between 30 and 65536),

  constraint waiting_pkey primary key (merchant_account_id, id, field)
);
alter table vault.waiting alter column sealed set storage external;
create index waiting_expiry on vault.waiting (expires_at);

grant select, insert, update, delete on vault.waiting to florin_vault;
