-- Roles, and the key pairs whose private halves sign tokens. Only public keys are here.

create table roles (
  id                       uuid not null, -- UUIDv7
  slug                     text not null,
  name                     text not null,
  description              text not null,
  permissions              text[] not null check (cardinality(permissions) > 0),
  assignable_to            text[] not null check (assignable_to <@ array['user', 'api-key-pair']),
  applies_to               text[] not null,
  is_standalone_assignable boolean not null,

  constraint roles_pkey primary key (id),
  constraint roles_slug_unique unique (slug)
);

create table api_key_pairs (
  id                    uuid not null, -- UUIDv7; its millisecond is created_at
  thumbprint            text not null check (thumbprint ~ '^[A-Za-z0-9_-]{43}$'),
  display_name          text not null check (length(display_name) between 1 and 200),
  algorithm             text not null check (algorithm in ('ECDSA', 'RSA')),
  public_key            text not null check (public_key like '-----BEGIN PUBLIC KEY-----%'),
  active                boolean not null,
  merchant_account_ids  text[] not null, -- empty: all
  creator_id            uuid,
  creator_name          text,
  creator_email_address text,
  creator_thumbprint    text,
  last_used_at          timestamptz(3),
  version               integer not null default 1, -- counts changes; also the sequence number of its events
  created_at            timestamptz(3) not null,
  updated_at            timestamptz(3) not null,

  constraint api_key_pairs_pkey primary key (id),
  constraint api_key_pairs_thumbprint_unique unique (thumbprint)
);

create table api_key_pair_roles (
  api_key_pair_id uuid not null references api_key_pairs (id) on delete cascade,
  role_id         uuid not null references roles (id),

  constraint api_key_pair_roles_pkey primary key (api_key_pair_id, role_id)
);

alter table api_key_pairs enable row level security;
alter table api_key_pairs force row level security;
create policy api_key_pairs_reach on api_key_pairs using (florin_reaches_all(merchant_account_ids));

-- The policy of api_key_pairs holds inside the subquery too.
alter table api_key_pair_roles enable row level security;
alter table api_key_pair_roles force row level security;
create policy api_key_pair_roles_reach on api_key_pair_roles
  using (exists (select from api_key_pairs where api_key_pairs.id = api_key_pair_id));

-- Every api process forgets what it knows of a key at once. A trigger, so that a change made by hand counts too; last_used_at does not.
create function florin_announce_key() returns trigger
  language plpgsql as $$
begin
  perform pg_notify('florin_keys', coalesce(new.thumbprint, old.thumbprint));
  return null;
end
$$;

create trigger api_key_pairs_created_or_deleted after insert or delete on api_key_pairs
  for each row execute function florin_announce_key();
create trigger api_key_pairs_changed after update on api_key_pairs
  for each row when ((old.active, old.merchant_account_ids, old.version) is distinct from (new.active, new.merchant_account_ids, new.version))
  execute function florin_announce_key();

grant select on roles to florin_api, florin_worker;
grant select, insert, update, delete on api_key_pairs to florin_api;
grant select, insert, delete on api_key_pair_roles to florin_api;

insert into roles (id, slug, name, description, permissions, assignable_to, applies_to, is_standalone_assignable) values
  ('01900000-0000-7000-8000-000000000001', 'report-viewer', 'Report viewer', 'Reads reports.',
    '{reports.read}', '{user}', '{analyst,customer-support}', false),
  ('01900000-0000-7000-8000-000000000002', 'report-manager', 'Report manager', 'Creates, changes and reads reports.',
    '{reports.read,reports.write}', '{user}', '{analyst,customer-support}', false),
  ('01900000-0000-7000-8000-000000000003', 'pii-viewer', 'Personal data viewer', 'Sees the billing details of buyers.',
    '{buyers.billing-details.read}', '{user}', '{analyst,customer-support}', false),
  ('01900000-0000-7000-8000-000000000004', 'user-manager', 'User manager', 'Manages the users of the dashboard.',
    '{users.read,users.write,users.me.read,users.me.write,roles.read}', '{user}', '{}', true),
  ('01900000-0000-7000-8000-000000000005', 'system-support', 'System support', 'Sees how the system is set up and what it logged.',
    '{api-key-pairs.read,api-logs.read,audit-logs.read,merchant-accounts.read,payment-services.read,gift-card-services.read,webhook-subscriptions.read,roles.read}', '{user}', '{}', true),
  ('01900000-0000-7000-8000-000000000006', 'system-manager', 'System manager', 'Sets the system up.',
    '{api-key-pairs.read,api-key-pairs.write,api-logs.read,audit-logs.read,merchant-accounts.read,merchant-accounts.write,payment-services.read,payment-services.write,gift-card-services.read,gift-card-services.write,digital-wallets.read,digital-wallets.write,webhook-subscriptions.read,webhook-subscriptions.write,roles.read}', '{user}', '{}', true),
  ('01900000-0000-7000-8000-000000000007', 'customer-support', 'Customer support', 'Finds and refunds payments.',
    '{transactions.read,transactions.write,buyers.read,buyers.write,payment-methods.read,payment-methods.write,gift-cards.read,payment-links.read,payment-links.write}', '{user}', '{}', true),
  ('01900000-0000-7000-8000-000000000008', 'analyst', 'Analyst', 'Reads payments, reports and figures.',
    '{transactions.read,buyers.read,payment-methods.read,gift-cards.read,reports.read,metrics-explorer.read,monitoring.read,payouts.read}', '{user}', '{}', true),
  ('01900000-0000-7000-8000-000000000009', 'administrator', 'Administrator', 'Everything.',
    '{*.read,*.write}', '{user}', '{}', true),
  ('01900000-0000-7000-8000-00000000000a', 'system-management', 'System management only', 'Sets the system up; cannot process payments or see them.',
    '{anti-fraud-service-definitions.read,anti-fraud-services.read,anti-fraud-services.write,api-key-pairs.read,api-key-pairs.write,audit-logs.read,card-scheme-definitions.read,digital-wallets.read,digital-wallets.write,gift-card-service-definitions.read,gift-card-services.read,gift-card-services.write,merchant-accounts.read,merchant-accounts.write,payment-method-definitions.read,payment-service-definitions.read,payment-services.read,payment-services.write,roles.read,webhook-subscriptions.read,webhook-subscriptions.write}', '{api-key-pair}', '{}', true),
  ('01900000-0000-7000-8000-00000000000b', 'processing', 'Processing only', 'Processes payments; cannot change how the system is set up.',
    '{bin-checker.read,buyers.read,buyers.write,buyers.billing-details.read,buyers.billing-details.write,card-scheme-definitions.read,checkout-sessions.read,checkout-sessions.write,digital-wallets.read,gift-cards.read,gift-cards.write,payment-links.read,payment-links.write,payment-method-definitions.read,payment-methods.read,payment-methods.write,payment-options.read,payment-service-definitions.read,payment-services.read,payouts.read,payouts.write,reports.read,reports.write,sessions.read,sessions.write,three-ds-scenarios.read,three-ds-scenarios.write,transactions.read,transactions.write}', '{api-key-pair}', '{}', true),
  ('01900000-0000-7000-8000-00000000000c', 'full-access', 'Full access', 'Everything an API key pair can do.',
    '{*.read,*.write}', '{api-key-pair}', '{}', true);
