-- Webhooks: who wants to hear of what, what each is to be told, and how that went.

create table webhook_subscriptions (
  merchant_account_id text not null check (length(merchant_account_id) between 1 and 50), -- '*': of the whole instance
  id                  uuid not null, -- UUIDv7; its millisecond is created_at
  url                 text not null check (length(url) between 1 and 2048),
  active              boolean not null,
  event_names         text[], -- null: all
  authentication      jsonb, -- kind, what is no secret of it, and the names of its secrets in the vault under this id
  -- Names too: each secret has its own, so that the row alone says which is active, whoever dies halfway through a change.
  secret_name          text,
  previous_secret_name text,
  rotating_until       timestamptz(3), -- the previous secret signs too until then
  creator_id          uuid, -- null: the command line
  creator_name        text not null,
  creator_thumbprint  text,
  version             integer not null default 1,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint webhook_subscriptions_pkey primary key (merchant_account_id, id)
);
create index webhook_subscriptions_list on webhook_subscriptions (id);

-- One row for each event and subscription. `next_attempt_at` is due time and lease in one: whoever sends puts it off first.
create table webhook_deliveries (
  merchant_account_id text not null, -- of the subscription
  id                  uuid not null, -- UUIDv7; the same for every attempt
  subscription_id     uuid not null,
  event_id            uuid not null,
  origin              text not null check (origin in ('event', 'replay', 'test')),
  status              text not null check (status in ('pending', 'succeeded', 'failed')),
  attempts            integer not null default 0,
  next_attempt_at     timestamptz(3), -- null when nothing more is to be sent
  expires_at          timestamptz(3) not null, -- seven days after the event
  status_code         integer, -- of the last attempt, as the next
  error               text,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint webhook_deliveries_pkey primary key (merchant_account_id, id),
  constraint webhook_deliveries_due check ((status = 'pending') = (next_attempt_at is not null))
) partition by range (id);
-- What one endpoint is to be sent next. A million rows of a dead one are in nobody's way.
create index webhook_deliveries_due on webhook_deliveries (subscription_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_of_subscription on webhook_deliveries (merchant_account_id, subscription_id, id);
create index webhook_deliveries_of_event on webhook_deliveries (merchant_account_id, event_id, id);
create index webhook_deliveries_list on webhook_deliveries (id);
-- The few that have not arrived, among the many that have.
create index webhook_deliveries_undelivered on webhook_deliveries (merchant_account_id, id) where status <> 'succeeded';
create index webhook_deliveries_expiring on webhook_deliveries (expires_at) where status = 'pending';

create table webhook_attempts (
  merchant_account_id text not null,
  delivery_id         uuid not null,
  id                  uuid not null, -- UUIDv7
  number              integer not null,
  status_code         integer,
  error               text,
  duration_ms         integer not null,
  created_at          timestamptz(3) not null,

  constraint webhook_attempts_pkey primary key (merchant_account_id, delivery_id, id)
) partition by range (id);

-- Events of the past that a subscription is told again. `position` is the last event that was looked at: whoever goes on starts there.
create table webhook_replays (
  merchant_account_id text not null,
  id                  uuid not null, -- UUIDv7
  subscription_id     uuid not null,
  from_id             uuid not null, -- smallest id of the first millisecond
  to_id               uuid not null, -- largest id of the last
  event_names         text[], -- null: those of the subscription
  undelivered_only    boolean not null,
  position            uuid,
  deliveries          bigint not null default 0,
  finished_at         timestamptz(3),
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint webhook_replays_pkey primary key (merchant_account_id, id),
  constraint webhook_replays_subscription foreign key (merchant_account_id, subscription_id)
    references webhook_subscriptions (merchant_account_id, id) on delete cascade
);
create index webhook_replays_of_subscription on webhook_replays (merchant_account_id, subscription_id, id);
create index webhook_replays_open on webhook_replays (id) where finished_at is null;

do $$
declare
  name text;
begin
  foreach name in array array['webhook_subscriptions', 'webhook_deliveries', 'webhook_attempts', 'webhook_replays'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    -- What belongs to the instance is seen by who reaches all accounts.
    execute format('create policy %I on %I using (florin_reaches(merchant_account_id))', name || '_reach', name);
  end loop;
end
$$;
grant select, insert, update, delete on webhook_subscriptions to florin_api;
grant select, update on webhook_subscriptions to florin_worker;
grant select, insert, update on webhook_deliveries to florin_api, florin_worker;
grant select on webhook_attempts to florin_api;
grant select, insert on webhook_attempts to florin_worker;
grant select, insert on webhook_replays to florin_api;
grant select, update on webhook_replays to florin_worker;
-- Locking a queue row counts as updating it.
grant update on event_queue to florin_worker;

-- Queue rows live for milliseconds; what they leave is cleaned up at once.
alter table event_queue set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Events of one name, newest first.
-- squawk-ignore require-concurrent-index-creation
create index events_by_name on events (merchant_account_id, name, id);

-- Whoever sends keeps the subscriptions in memory.
create function florin_subscription_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('florin_webhooks', coalesce(new.id, old.id)::text);
  return null;
end
$$;
create trigger webhook_subscriptions_changed after insert or update or delete on webhook_subscriptions
  for each row execute function florin_subscription_changed();

-- As before, with two logs more.
create or replace function florin_make_partitions(months_ahead integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  parent text;
  start  timestamptz;
  made   integer := 0;
begin
  set local lock_timeout = '2s';
  foreach parent in array array['audit_logs', 'events', 'webhook_deliveries', 'webhook_attempts'] loop
    for step in 0..months_ahead loop
      start := date_trunc('month', now() at time zone 'UTC' + make_interval(months => step)) at time zone 'UTC';
      continue when to_regclass(format('public.%s_%s', parent, to_char(start at time zone 'UTC', 'YYYYMM'))) is not null;
      execute format(
        'create table public.%I partition of public.%I for values from (%L) to (%L)',
        parent || to_char(start at time zone 'UTC', '_YYYYMM'), parent,
        public.florin_id_floor(start), public.florin_id_floor((start at time zone 'UTC' + interval '1 month') at time zone 'UTC'));
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$$;

create or replace function florin_drop_partitions(parent text, keep_months integer) returns setof text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  partition text;
begin
  if parent not in ('audit_logs', 'events', 'webhook_deliveries', 'webhook_attempts') or keep_months < 1 then
    raise exception 'florin_drop_partitions: not a log, or nothing would be kept';
  end if;
  set local lock_timeout = '2s';
  for partition in
    select child.relname from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = format('public.%I', parent)::regclass
      and to_date(right(child.relname, 6), 'YYYYMM') + interval '1 month' <= now() at time zone 'UTC' - make_interval(months => keep_months)
    order by child.relname
  loop
    execute format('drop table public.%I', partition);
    return next partition;
  end loop;
end
$$;

select florin_make_partitions(3);
