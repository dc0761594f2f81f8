-- The card vault: wrapped keys, and what is sealed with them. Only florin_vault may enter this schema. There is no row level security:
-- one statement of the vault carries cards of many accounts, and a row read for the wrong account does not decrypt.

create table vault.keys (
  id          uuid not null, -- part of what the wrapped key is bound to
  purpose     text not null check (purpose in ('data', 'fingerprint')),
  version     integer not null check (version > 0),
  state       text not null check (state in ('active', 'decrypt-only', 'retired', 'destroyed')),
  provider    text not null check (length(provider) between 1 and 200), -- whose key wraps this one
  wrapped     bytea,
  encryptions bigint not null default 0, -- about; each vault adds its own every few seconds
  created_at  timestamptz(3) not null,
  changed_at  timestamptz(3) not null, -- of the state

  constraint keys_pkey primary key (purpose, version),
  constraint keys_id_unique unique (id),
  constraint keys_erased_when_destroyed check ((state = 'destroyed') = (wrapped is null))
);

-- Decides which of several vaults that start or rotate at once is first.
create unique index keys_one_active on vault.keys (purpose) where state = 'active';

-- The order of the columns saves padding: about 125 bytes a card and 75 in the indexes. Ciphertext does not compress, so nothing tries to.
create table vault.secrets (
  created_at          timestamptz(3) not null,
  key_version         integer not null,
  id                  uuid not null, -- of the owner: a payment method, a payment service …
  merchant_account_id text not null check (length(merchant_account_id) between 1 and 50),
  field               text not null check (length(field) between 1 and 40),
  sealed              bytea not null check (length(sealed) between 30 and 65536),

  constraint secrets_pkey primary key (merchant_account_id, id, field)
) with (
  -- Rewrapping leaves a dead row for every row; the index below is walked from its front, which must not fill up with them.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.05
);
alter table vault.secrets alter column sealed set storage external;

-- "Is any row left on this key?" must be exact and instant, because a key is erased on its answer. The price is that rewrapping a
-- row cannot be a heap-only update (and free space in the pages would buy nothing): docs/decisions/0008-card-vault.md.
create index secrets_key_version on vault.secrets (key_version);

grant select, insert, update on vault.keys to florin_vault;
grant select, insert, update, delete on vault.secrets to florin_vault;
