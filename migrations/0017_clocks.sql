-- The sandbox's clocks: how far the time of a merchant account is ahead of real time. An account without a row goes by real time. Deadlines
-- of an account are stored in its own time, which is why a clock never goes back.

create table sandbox_clocks (
  merchant_account_id text not null references merchant_accounts (id),
  ahead_ms            bigint not null check (ahead_ms between 0 and 315360000000), -- ten years
  settled_ms          bigint not null default 0, -- as far as everything has been done that fell due
  updated_at          timestamptz(3) not null,

  constraint sandbox_clocks_pkey primary key (merchant_account_id)
);

alter table sandbox_clocks enable row level security;
alter table sandbox_clocks force row level security;
create policy sandbox_clocks_reach on sandbox_clocks using (florin_reaches(merchant_account_id));

grant select, insert, update on sandbox_clocks to florin_api;
grant select, update on sandbox_clocks to florin_worker;

-- Whether a worker has done anything lately: one that runs has something to do every few seconds. The api must not see the jobs themselves, which
-- are of all accounts.
create function florin_has_worker() returns boolean
  language sql stable security definer set search_path = pg_catalog, public, pg_temp
  as 'select exists (select from public.jobs where last_run_at > now() - interval ''1 minute'')';

revoke all on function florin_has_worker() from public;
grant execute on function florin_has_worker() to florin_api;

-- A card processor keeps an authorization for some days. Null: made before it did.
alter table sandbox_card_payments add column expires_at timestamptz(3);
