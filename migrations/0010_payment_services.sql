-- A merchant account's own access to a provider. Secrets are in the vault under the service's id; this table holds their names.

create table payment_services (
  merchant_account_id                 text not null references merchant_accounts (id),
  id                                  uuid not null, -- UUIDv7; its millisecond is created_at
  definition_id                       text not null check (length(definition_id) between 1 and 50),
  method                              text not null,
  display_name                        text not null check (length(display_name) between 1 and 200),
  active                              boolean not null,
  status                              text not null check (status in ('pending', 'created', 'failed')),
  position                            integer not null, -- the order in which services are tried
  accepted_currencies                 text[] not null check (cardinality(accepted_currencies) > 0),
  accepted_countries                  text[] not null check (cardinality(accepted_countries) > 0),
  fields                              jsonb not null, -- values by key; never a secret
  reporting_fields                    jsonb not null,
  secret_names                        text[] not null, -- the secrets that are set, as the vault calls them
  payment_method_tokenization_enabled boolean not null,
  network_tokens_enabled              boolean not null,
  open_loop                           boolean not null,
  settlement_reporting_enabled        boolean not null,
  three_d_secure_enabled              boolean not null,
  merchant_profile                    jsonb, -- by card scheme
  is_deleted                          boolean not null default false, -- kept for the captures and refunds of its payments
  version                             integer not null default 1,
  created_at                          timestamptz(3) not null,
  updated_at                          timestamptz(3) not null,

  constraint payment_services_pkey primary key (merchant_account_id, id), -- also serves the list: newest first within one account
  constraint payment_services_token_kind check (not (open_loop and payment_method_tokenization_enabled)),
  constraint payment_services_network_tokens check (open_loop or not network_tokens_enabled)
);

-- The list over all accounts, newest first.
create index payment_services_list on payment_services (id);
-- What a payment looks for: the usable services of an account, in their order.
create index payment_services_usable on payment_services (merchant_account_id, position, id) where active and not is_deleted;

alter table payment_services enable row level security;
alter table payment_services force row level security;
create policy payment_services_reach on payment_services using (florin_reaches(merchant_account_id));

grant select, insert, update on payment_services to florin_api;
grant select on payment_services to florin_worker;
