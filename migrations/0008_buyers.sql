-- Buyers and where their goods are sent. Both are deleted for good; names, addresses and numbers of people are nowhere else but in events.

create table buyers (
  merchant_account_id     text not null references merchant_accounts (id),
  id                      uuid not null, -- UUIDv7; its millisecond is created_at
  display_name            text check (length(display_name) between 1 and 200),
  external_identifier     text check (length(external_identifier) between 1 and 200),
  account_number          text check (length(account_number) between 1 and 200),
  billing_details         jsonb check (jsonb_typeof(billing_details) = 'object'), -- never searched
  -- What `search` compares: written by the service in one spelling, because lower() is not leakproof and an index on it would not be
  -- used under row level security. In byte order, which the prefix operator needs.
  display_name_key        text collate "C" check (length(display_name_key) between 1 and 200),
  external_identifier_key text collate "C" check (length(external_identifier_key) between 1 and 200),
  version                 integer not null default 1, -- counts changes; also the sequence number of its events
  created_at              timestamptz(3) not null,
  updated_at              timestamptz(3) not null,

  constraint buyers_pkey primary key (merchant_account_id, id),
  -- The identifier first, so that it also finds one in all accounts.
  constraint buyers_external_identifier_unique unique (external_identifier, merchant_account_id),
  constraint buyers_keys check (
    (display_name is null) = (display_name_key is null) and (external_identifier is null) = (external_identifier_key is null)
  )
);

-- The list of all accounts.
create index buyers_newest on buyers (id);
-- With the id inside, the newest of many matches are found without a look at the table.
create index buyers_display_name on buyers (merchant_account_id, display_name_key, id) where display_name_key is not null;
create index buyers_external_identifier on buyers (merchant_account_id, external_identifier_key, id) where external_identifier_key is not null;

create table shipping_details (
  merchant_account_id text not null,
  id                  uuid not null, -- UUIDv7; its millisecond is created_at
  buyer_id            uuid not null,
  first_name          text check (length(first_name) between 1 and 255),
  last_name           text check (length(last_name) between 1 and 255),
  email_address       text check (length(email_address) between 1 and 320),
  phone_number        text check (phone_number ~ '^\+[1-9][0-9]{1,14}$'),
  address             jsonb check (jsonb_typeof(address) = 'object'),
  version             integer not null default 1, -- counts changes; also the sequence number of its events
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint shipping_details_pkey primary key (merchant_account_id, id),
  constraint shipping_details_buyer foreign key (merchant_account_id, buyer_id) references buyers (merchant_account_id, id) on delete cascade
);

create index shipping_details_of_buyer on shipping_details (merchant_account_id, buyer_id, id);

alter table buyers enable row level security;
alter table buyers force row level security;
create policy buyers_reach on buyers using (florin_reaches(merchant_account_id));

alter table shipping_details enable row level security;
alter table shipping_details force row level security;
create policy shipping_details_reach on shipping_details using (florin_reaches(merchant_account_id));

grant select, insert, update, delete on buyers, shipping_details to florin_api;
