-- The append-only logs: who changed what, and what happened. Partitioned by the month inside the id and dropped whole; a list in the
-- order of ids reads the newest partition first and stops there. The partitions themselves are made by the worker's upkeep.

create table audit_logs (
  id                  uuid not null, -- UUIDv7; its millisecond is created_at
  merchant_account_id text,          -- null: the change concerns the whole instance, or several accounts
  action              text not null check (action in ('created', 'updated', 'deleted', 'voided', 'canceled', 'captured')),
  resource_type       text not null,
  resource_id         text not null,
  resource_name       text not null,
  actor_id            uuid,          -- null: the command line
  actor_name          text not null,
  actor_email_address text,
  token_id            text,          -- key and jti of the token that was used
  operation           text not null,
  request_id          text not null,
  created_at          timestamptz(3) not null,

  constraint audit_logs_pkey primary key (id)
) partition by range (id);

create index audit_logs_account on audit_logs (merchant_account_id, id);

create table events (
  id                  uuid not null, -- UUIDv7; its millisecond is created_at
  merchant_account_id text,          -- null: the whole instance
  name                text not null,
  resource_type       text not null,
  resource_id         text not null,
  sequence            bigint not null check (sequence > 0), -- ascends within one resource
  target              jsonb not null, -- the resource as it was then
  created_at          timestamptz(3) not null,

  constraint events_pkey primary key (id)
) partition by range (id);

create index events_account on events (merchant_account_id, id);
create index events_resource on events (resource_id, sequence);

-- Events that nobody has turned into deliveries yet. A row goes when its deliveries are written, so there is no position to lose.
create table event_queue (
  event_id uuid not null,
  constraint event_queue_pkey primary key (event_id)
);

alter table audit_logs enable row level security;
alter table audit_logs force row level security;
create policy audit_logs_reach on audit_logs for select using (florin_reaches(merchant_account_id));
create policy audit_logs_write on audit_logs for insert with check (merchant_account_id is null or florin_reaches(merchant_account_id));

alter table events enable row level security;
alter table events force row level security;
create policy events_reach on events for select using (florin_reaches(merchant_account_id));
create policy events_write on events for insert with check (merchant_account_id is null or florin_reaches(merchant_account_id));

grant select, insert on audit_logs, events to florin_api, florin_worker;
grant insert on event_queue to florin_api;
grant select, insert, delete on event_queue to florin_worker;

-- Makes the partitions of this month and the ones ahead. Returns how many were new.
create function florin_make_partitions(months_ahead integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  parent text;
  start  timestamptz;
  made   integer := 0;
begin
  set local lock_timeout = '2s';
  foreach parent in array array['audit_logs', 'events'] loop
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

-- Drops the partitions of a log whose last moment is older than so many months. Returns their names.
create function florin_drop_partitions(parent text, keep_months integer) returns setof text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  partition text;
begin
  if parent not in ('audit_logs', 'events') or keep_months < 1 then
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

revoke all on function florin_make_partitions(integer), florin_drop_partitions(text, integer) from public;
grant execute on function florin_make_partitions(integer), florin_drop_partitions(text, integer) to florin_worker;
