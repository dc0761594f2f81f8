-- Gift cards. Number and PIN of a stored one are in the vault under its id; these tables hold only what the API may show, and a
-- keyed fingerprint to know a number again.

-- A merchant account's own access to a gift card provider. Secrets are in the vault under the service's id; this table holds their names.
create table gift_card_services (
  merchant_account_id text not null references merchant_accounts (id),
  id                  uuid not null, -- UUIDv7; its millisecond is created_at
  definition_id       text not null check (length(definition_id) between 1 and 50),
  display_name        text not null check (length(display_name) between 1 and 200),
  active              boolean not null,
  fields              jsonb not null, -- values by key; never a secret
  secret_names        text[] not null, -- the secrets that are set, as the vault calls them
  deleted_at          timestamptz(3), -- kept, with its secrets, for the refunds of what was redeemed there
  version             integer not null default 1,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint gift_card_services_pkey primary key (merchant_account_id, id) -- also serves the list: newest first within one account
);
-- The list over all accounts, newest first.
create index gift_card_services_list on gift_card_services (id);
-- New cards go to one. Whoever asks for it finds it by this index.
create unique index gift_card_services_one_active on gift_card_services (merchant_account_id) where active and deleted_at is null;

create table gift_cards (
  merchant_account_id  text not null references merchant_accounts (id),
  id                   uuid not null, -- UUIDv7; its millisecond is created_at
  gift_card_service_id uuid not null,
  buyer_id             uuid,
  fingerprint          text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  bin                  text not null check (bin ~ '^\d{6}$'),
  sub_bin              text not null check (sub_bin ~ '^\d{3}$'),
  last4                text not null check (last4 ~ '^\d{4}$'),
  expiration_date      timestamptz(3),
  usage_count          integer not null default 0 check (usage_count >= 0),
  last_used_at         timestamptz(3),
  cit_usage_count      integer not null default 0 check (cit_usage_count >= 0),
  cit_last_used_at     timestamptz(3),
  archived_at          timestamptz(3), -- expired or empty: shown nowhere any more, its number and PIN are gone
  version              integer not null default 1,
  created_at           timestamptz(3) not null,
  updated_at           timestamptz(3) not null,

  constraint gift_cards_pkey primary key (merchant_account_id, id), -- also serves the list: newest first within one account
  constraint gift_cards_buyer foreign key (merchant_account_id, buyer_id)
    references buyers (merchant_account_id, id) on delete set null (buyer_id),
  constraint gift_cards_service foreign key (merchant_account_id, gift_card_service_id)
    references gift_card_services (merchant_account_id, id)
);
create index gift_cards_list on gift_cards (id);
-- A buyer has a card once. Also finds the cards of a buyer.
create unique index gift_cards_once_a_buyer on gift_cards (merchant_account_id, buyer_id, fingerprint)
  where buyer_id is not null and archived_at is null;

-- Calls to a provider that make a card usable, each written down before it is made. `id` is the reference that the provider gets.
create table gift_card_activations (
  merchant_account_id  text not null,
  id                   uuid not null, -- UUIDv7
  gift_card_service_id uuid not null,
  fingerprint          text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  bin                  text not null,
  sub_bin              text not null,
  last4                text not null,
  amount               bigint check (amount >= 0),
  currency             text check (currency ~ '^[A-Z]{3}$'),
  external_identifier  text check (length(external_identifier) between 1 and 200),
  state                text not null check (state in ('open', 'succeeded', 'failed')),
  provider_reference   text,
  error_code           text,
  created_at           timestamptz(3) not null,
  updated_at           timestamptz(3) not null,

  constraint gift_card_activations_pkey primary key (merchant_account_id, id),
  constraint gift_card_activations_service foreign key (merchant_account_id, gift_card_service_id)
    references gift_card_services (merchant_account_id, id)
);

-- The same of cards that a provider makes.
create table gift_card_issuances (
  merchant_account_id  text not null,
  id                   uuid not null, -- UUIDv7
  gift_card_service_id uuid not null,
  theme                text not null check (length(theme) between 1 and 200),
  amount               bigint not null check (amount >= 0),
  currency             text not null check (currency ~ '^[A-Z]{3}$'),
  external_identifier  text check (length(external_identifier) between 1 and 200),
  state                text not null check (state in ('open', 'succeeded', 'failed')),
  provider_reference   text,
  url                  text,
  error_code           text,
  created_at           timestamptz(3) not null,
  updated_at           timestamptz(3) not null,

  constraint gift_card_issuances_pkey primary key (merchant_account_id, id),
  constraint gift_card_issuances_service foreign key (merchant_account_id, gift_card_service_id)
    references gift_card_services (merchant_account_id, id)
);

-- Activations and issuances are repeated by a key too, and belong to no payment.
-- squawk-ignore ban-drop-not-null
alter table idempotency_keys alter column transaction_id drop not null;

-- The sandbox's gift card provider: what another company would keep. It stores neither number nor PIN, and knows none of our tables.
create table sandbox_gift_cards (
  merchant_account_id text not null,
  fingerprint         text not null,
  opening_balance     bigint not null check (opening_balance >= 0), -- all that was ever put on it
  balance             bigint not null check (balance >= 0),
  currency            text check (length(currency) = 3), -- of the first redemption or activation; null until then
  expires_at          timestamptz(3) not null,
  created_at          timestamptz(3) not null,

  constraint sandbox_gift_cards_pkey primary key (merchant_account_id, fingerprint),
  constraint sandbox_gift_cards_balance_fits check (balance <= opening_balance)
) with (fillfactor = 80);

-- One row a call that moves money, by the reference that the caller gave it. A redemption that was taken back before it came is
-- there too, as reversed and without a card, so that it is refused when it comes.
create table sandbox_gift_card_operations (
  merchant_account_id  text not null,
  reference            text not null check (length(reference) between 1 and 255),
  kind                 text not null check (kind in ('redeem', 'refund', 'activate', 'issue')),
  fingerprint          text,
  amount               bigint not null check (amount >= 0),
  currency             text check (length(currency) = 3),
  redemption_reference text, -- of a refund
  state                text not null check (state in ('done', 'refused', 'reversed')),
  refunded_amount      bigint not null default 0 check (refunded_amount >= 0), -- of a redemption
  provider_reference   text not null, -- the provider's own
  error_code           text,
  raw_code             text,
  raw_message          text,
  created_at           timestamptz(3) not null,

  constraint sandbox_gift_card_operations_pkey primary key (merchant_account_id, reference),
  constraint sandbox_gift_card_operations_refunded_fits check (refunded_amount <= amount),
  constraint sandbox_gift_card_operations_refused check ((state = 'refused') = (error_code is not null)),
  constraint sandbox_gift_card_operations_reversed check (state <> 'reversed' or kind = 'redeem')
);

do $$
declare
  name text;
begin
  foreach name in array array['gift_card_services', 'gift_cards', 'gift_card_activations', 'gift_card_issuances',
    'sandbox_gift_cards', 'sandbox_gift_card_operations'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy %I on %I using (florin_reaches(merchant_account_id))', name || '_reach', name);
    execute format('grant select, insert, update on %I to florin_api', name);
  end loop;
end
$$;
grant delete on gift_cards to florin_api;
-- The janitor ends what a payment left open, and the sweep asks whose the numbers in the vault are.
grant select on gift_card_services, gift_cards to florin_worker;
grant select, insert, update on sandbox_gift_cards, sandbox_gift_card_operations to florin_worker;
