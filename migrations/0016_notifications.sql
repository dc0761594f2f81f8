-- Messages of providers that were acted upon, so that one that comes twice is known. Written after its effect, or with it: a crash between leaves
-- a message that the provider sends again.

create table provider_notifications (
  merchant_account_id text not null,
  payment_service_id  uuid not null,
  id                  text not null check (length(id) between 1 and 255), -- the provider's own
  kind                text not null check (kind in ('operation', 'report')),
  reference           text not null check (length(reference) between 1 and 255),
  received_at         timestamptz(3) not null,

  constraint provider_notifications_pkey primary key (merchant_account_id, payment_service_id, id)
);
create index provider_notifications_age on provider_notifications (received_at);

-- What the sandbox's providers have to say later. No foreign keys: they know our tables as little as another company does.
create table sandbox_notifications (
  merchant_account_id text not null,
  id                  uuid not null, -- UUIDv7, of the message
  service_id          text not null,
  url                 text not null check (length(url) <= 2000),
  kind                text not null check (kind in ('operation', 'report')),
  reference           text not null check (length(reference) between 1 and 255),
  copies              integer not null check (copies between 1 and 10), -- sent at once
  is_reversed         boolean not null, -- of those that are due together the newest goes first
  due_at              timestamptz(3) not null, -- also the lease of whoever sends
  attempts            integer not null default 0,
  sent_at             timestamptz(3),

  constraint sandbox_notifications_pkey primary key (merchant_account_id, id)
);
create index sandbox_notifications_due on sandbox_notifications (due_at) where sent_at is null;
create index sandbox_notifications_age on sandbox_notifications (due_at);

-- Whom to tell, and how, when a buyer has decided.
alter table sandbox_approvals add column notification_url text check (length(notification_url) <= 2000);
alter table sandbox_approvals add column notifications jsonb;

-- What the sandbox does instead of the usual, by the merchant's own rules.
create table simulator_rules (
  merchant_account_id text not null references merchant_accounts (id),
  id                  uuid not null, -- UUIDv7; its millisecond is created_at
  description         text check (length(description) between 1 and 200),
  conditions          jsonb not null, -- all of them must hold
  outcome             jsonb not null,
  notifications       jsonb,
  remaining_uses      integer check (remaining_uses >= 0), -- null: for ever
  active              boolean not null,
  version             integer not null default 1,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint simulator_rules_pkey primary key (merchant_account_id, id) -- also serves the list, and the order in which rules are tried: newest first
);
-- The list over all accounts, newest first.
create index simulator_rules_list on simulator_rules (id);

do $$
declare
  name text;
begin
  foreach name in array array['provider_notifications', 'sandbox_notifications', 'simulator_rules'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy %I on %I using (florin_reaches(merchant_account_id))', name || '_reach', name);
  end loop;
end
$$;

grant select, insert on provider_notifications to florin_api;
grant select, delete on provider_notifications to florin_worker;
grant select, insert on sandbox_notifications to florin_api;
grant select, insert, update, delete on sandbox_notifications to florin_worker;
grant select, insert, update, delete on simulator_rules to florin_api;
grant select, update on simulator_rules to florin_worker;
