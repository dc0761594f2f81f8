-- Anti-fraud: who is asked before a payment goes to its provider, what was said, and what waits for people to look at it.

create table anti_fraud_services (
  merchant_account_id text not null references merchant_accounts (id),
  id                  uuid not null, -- UUIDv7; its millisecond is created_at
  definition_id       text not null check (length(definition_id) between 1 and 50),
  display_name        text not null check (length(display_name) between 1 and 200),
  active              boolean not null,
  reviews_enabled     boolean not null,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint anti_fraud_services_pkey primary key (merchant_account_id, id) -- also serves the list: newest first within one account
);
-- The list over all accounts, newest first.
create index anti_fraud_services_list on anti_fraud_services (id);
-- One decides. Every payment looks it up by this index.
create unique index anti_fraud_services_one_active on anti_fraud_services (merchant_account_id) where active;

alter table transactions add column anti_fraud_decision text; -- checked by the schema of the answer

-- Payments that were to be reviewed, and when nobody is waited for any more. A table of its own, so that no other payment pays for an index.
create table anti_fraud_reviews (
  merchant_account_id text not null,
  transaction_id      uuid not null,
  due_at              timestamptz(3) not null,

  constraint anti_fraud_reviews_pkey primary key (merchant_account_id, transaction_id),
  constraint anti_fraud_reviews_transaction foreign key (merchant_account_id, transaction_id) references transactions (merchant_account_id, id)
);
create index anti_fraud_reviews_due on anti_fraud_reviews (due_at);

alter table anti_fraud_services enable row level security;
alter table anti_fraud_services force row level security;
create policy anti_fraud_services_reach on anti_fraud_services using (florin_reaches(merchant_account_id));
alter table anti_fraud_reviews enable row level security;
alter table anti_fraud_reviews force row level security;
create policy anti_fraud_reviews_reach on anti_fraud_reviews using (florin_reaches(merchant_account_id));

grant select, insert, update, delete on anti_fraud_services to florin_api;
grant select, insert, delete on anti_fraud_reviews to florin_api;
grant select, update, delete on anti_fraud_reviews to florin_worker;
