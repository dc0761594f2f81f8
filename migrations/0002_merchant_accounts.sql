-- Merchant accounts: what everything else hangs off. They are never deleted, so an id once seen stays valid.

create table merchant_accounts (
  id                                         text not null check (id ~ '^[a-zA-Z0-9-]{1,50}$'),
  list_id                                    uuid not null, -- UUIDv7: the id is the caller's own, so the order of creation needs another
  display_name                               text not null check (length(display_name) between 1 and 255),
  account_updater_enabled                    boolean not null,
  account_updater_request_encryption_key     text,
  account_updater_request_encryption_key_id  text,
  account_updater_response_decryption_key    text,
  account_updater_response_decryption_key_id text,
  over_capture_amount                        integer check (over_capture_amount between 0 and 99999999),
  over_capture_percentage                    integer check (over_capture_percentage between 0 and 99999999),
  loon_client_key                            text,
  loon_secret_key                            text,
  loon_accepted_schemes                      text[],
  loon_merchant_account_id                   text,
  async_network_tokens_enabled               boolean not null,
  version                                    integer not null default 1,
  created_at                                 timestamptz(3) not null,
  updated_at                                 timestamptz(3) not null,

  constraint merchant_accounts_pkey primary key (id),
  constraint merchant_accounts_list_id_unique unique (list_id),
  constraint merchant_accounts_loon_together check (
    num_nulls(loon_client_key, loon_secret_key, loon_accepted_schemes, loon_merchant_account_id) in (0, 4)
  )
);

-- A scheme's network token credentials of an account. No two accounts or schemes may share them.
create table network_token_requestors (
  merchant_account_id text not null references merchant_accounts (id),
  scheme              text not null check (scheme in ('visa', 'amex', 'mastercard', 'discover')),
  requestor_id        text not null check (length(requestor_id) <= 300),
  app_id              text not null check (length(app_id) <= 300),

  constraint network_token_requestors_pkey primary key (merchant_account_id, scheme),
  constraint network_token_requestors_unique unique (requestor_id, app_id)
);

alter table merchant_accounts enable row level security;
alter table merchant_accounts force row level security;
create policy merchant_accounts_reach on merchant_accounts using (florin_reaches(id));

alter table network_token_requestors enable row level security;
alter table network_token_requestors force row level security;
create policy network_token_requestors_reach on network_token_requestors using (florin_reaches(merchant_account_id));

grant select, insert, update on merchant_accounts to florin_api;
grant select, insert, update, delete on network_token_requestors to florin_api;
grant select on merchant_accounts, network_token_requestors to florin_worker;
