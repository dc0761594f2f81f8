-- The four roles of a Florin database and their settings. `florin migrate` runs this when its user may create roles; otherwise a
-- database administrator runs it once (`psql -f migrations/roles.sql`). It can be run again at any time.
-- Roles belong to the whole server and time limits to the role, so that a transaction pooler may stand between. Passwords and
-- certificates are the operator's: `alter role florin_api password '…'`.

do $$
declare
  role_name text;
begin
  foreach role_name in array array['florin_migrate', 'florin_api', 'florin_worker', 'florin_vault'] loop
    begin
      execute format('create role %I login nosuperuser nocreatedb nocreaterole noinherit nobypassrls', role_name);
    exception when duplicate_object or unique_violation then null; -- another start was faster
    end;
  end loop;

  begin
    alter role florin_api set statement_timeout = '10s';
    alter role florin_api set lock_timeout = '5s';
    alter role florin_api set idle_in_transaction_session_timeout = '10s';
    -- Row level security makes estimates high, and compiling a plan takes 80 ms where running it takes one.
    alter role florin_api set jit = off;
    alter role florin_worker set jit = off;
    alter role florin_worker set statement_timeout = '60s';
    alter role florin_worker set lock_timeout = '5s';
    alter role florin_worker set idle_in_transaction_session_timeout = '60s';
    alter role florin_vault set statement_timeout = '5s';
    alter role florin_vault set lock_timeout = '2s';
    alter role florin_vault set idle_in_transaction_session_timeout = '10s';
    alter role florin_migrate set lock_timeout = '2s';
  exception when internal_error then null; -- "tuple concurrently updated": another start sets the same values
  end;

  execute format('grant florin_migrate to %I', session_user);
  execute format('grant connect, create, temporary on database %I to florin_migrate', current_database());
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to florin_api, florin_worker, florin_vault', current_database());
  grant usage, create on schema public to florin_migrate;
  revoke all on schema public from public;
  grant usage on schema public to florin_api, florin_worker, florin_vault;
end
$$;
