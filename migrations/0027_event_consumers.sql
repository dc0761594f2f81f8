-- How far those who read the feed of events have come.

create table event_consumers (
  merchant_account_id text not null check (length(merchant_account_id) between 1 and 50), -- '*': reads all accounts
  id                  text not null check (length(id) between 1 and 50), -- the caller's own
  position            uuid not null, -- the last event that was taken
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint event_consumers_pkey primary key (merchant_account_id, id)
) with (fillfactor = 70);

alter table event_consumers enable row level security;
alter table event_consumers force row level security;
create policy event_consumers_reach on event_consumers using (florin_reaches(merchant_account_id));
grant select, insert, update on event_consumers to florin_api;
