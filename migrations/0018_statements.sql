-- What providers report of money that was paid out, given back or disputed.

-- Never changed: what is taken back is a line of its own.
create table statement_lines (
  merchant_account_id       text not null,
  transaction_id            uuid not null,
  id                        uuid not null, -- UUIDv7
  kind                      text not null check (kind in ('settlement', 'refund-settlement', 'chargeback', 'chargeback-reversal')),
  payment_service_id        uuid not null,
  provider_line_id          text not null check (length(provider_line_id) between 1 and 255),
  payment_service_report_id uuid not null,
  refund_id                 uuid,
  posted_at                 timestamptz(3) not null,
  currency                  text not null check (currency ~ '^[A-Z]{3}$'),
  amount                    bigint not null check (amount >= 0), -- the kind says which way it went
  exchange_rate             double precision,
  commission                bigint not null, -- all fees; the next three are what it is made of
  interchange               bigint,
  markup                    bigint,
  scheme_fee                bigint,
  created_at                timestamptz(3) not null,

  constraint statement_lines_pkey primary key (merchant_account_id, transaction_id, id),
  -- A line that is reported twice is written once.
  constraint statement_lines_reported_once unique (merchant_account_id, payment_service_id, provider_line_id),
  constraint statement_lines_transaction foreign key (merchant_account_id, transaction_id) references transactions (merchant_account_id, id),
  constraint statement_lines_refund foreign key (merchant_account_id, refund_id) references refunds (merchant_account_id, id),
  constraint statement_lines_has_refund check ((kind = 'refund-settlement') = (refund_id is not null))
);

alter table statement_lines enable row level security;
alter table statement_lines force row level security;
create policy statement_lines_reach on statement_lines using (florin_reaches(merchant_account_id));
grant select, insert on statement_lines to florin_api, florin_worker;

-- Payments whose provider reports, and when to ask it; also the lease of whoever asks. A payment of another provider has no row.
create table statement_checks (
  merchant_account_id text not null,
  transaction_id      uuid not null,
  next_check_at       timestamptz(3) not null,

  constraint statement_checks_pkey primary key (merchant_account_id, transaction_id),
  constraint statement_checks_transaction foreign key (merchant_account_id, transaction_id) references transactions (merchant_account_id, id)
);
create index statement_checks_due on statement_checks (next_check_at);

alter table statement_checks enable row level security;
alter table statement_checks force row level security;
create policy statement_checks_reach on statement_checks using (florin_reaches(merchant_account_id));
grant select, insert, update, delete on statement_checks to florin_api, florin_worker;

alter table refunds add column settled boolean not null default false;
alter table refunds add column settled_amount bigint not null default 0;
alter table refunds add column settled_currency text;

-- The sandbox's processor: when money moved, and the moves of one payment. Production has nothing in this table that could block.
alter table sandbox_card_operations add column decided_at timestamptz(3) not null default now();
-- squawk-ignore require-concurrent-index-creation
create index sandbox_card_operations_moves on sandbox_card_operations (merchant_account_id, payment_id)
  where kind in ('sale', 'late_sale', 'capture', 'refund');
