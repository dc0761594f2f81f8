-- Work of the worker: what is due, and who is at it. `run_at` doubles as the lease: claiming a job moves it into the future, so a job
-- whose worker died becomes due again by itself.

create table jobs (
  id         uuid not null, -- UUIDv7
  kind       text not null,
  key        text not null, -- one job of a kind and key at a time; a periodic job has the key ''
  payload    jsonb not null,
  run_at     timestamptz(3) not null,
  lease      uuid,          -- made anew with every claim, so that a worker that lost its lease cannot finish the job
  attempts   integer not null default 0,
  last_error text,
  last_run_at timestamptz(3),

  constraint jobs_pkey primary key (id),
  constraint jobs_key_unique unique (kind, key)
);

create index jobs_due on jobs (run_at);

grant select, insert, update, delete on jobs to florin_worker;
grant insert on jobs to florin_api;
