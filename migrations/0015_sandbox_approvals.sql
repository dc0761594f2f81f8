-- The sandbox's side of a buyer's approval: the questions that its pages ask, and the scenarios that answer 3-D Secure by rule.

create table sandbox_approvals (
  merchant_account_id text not null,
  id                  uuid not null, -- UUIDv4: whoever knows it decides, so it must not be guessed
  service_id          text not null,
  reference           text not null check (length(reference) between 1 and 255), -- of the call that waits for it
  call_id             uuid not null, -- the processor's own of that call: of an enrolment, what it is known by from then on
  kind                text not null check (kind in ('three_d_secure', 'redirect', 'enrolment')),
  amount              bigint check (amount >= 0), -- none of an enrolment
  currency            text not null check (length(currency) = 3),
  card_suffix         text check (card_suffix ~ '^\d{4}$'), -- all that the page shows of a card
  return_url          text not null,
  state               text not null default 'open' check (state in ('open', 'approved', 'rejected', 'cancelled', 'expired')),
  scenario_result     text check (scenario_result in ('Y', 'N', 'timeout')), -- fixed by a scenario, whatever the buyer does
  answers             jsonb not null, -- what the call comes to, by what was decided
  wait_ms             integer not null check (wait_ms >= 0), -- from an approval to its answer
  expires_at          timestamptz(3) not null,

  constraint sandbox_approvals_pkey primary key (merchant_account_id, id),
  constraint sandbox_approvals_reference_unique unique (merchant_account_id, reference),
  constraint sandbox_approvals_call_unique unique (merchant_account_id, call_id),
  -- The id alone finds it: a browser knows nothing else.
  constraint sandbox_approvals_id_unique unique (id)
);

alter table sandbox_approvals enable row level security;
alter table sandbox_approvals force row level security;
create policy sandbox_approvals_reach on sandbox_approvals using (florin_reaches(merchant_account_id));

grant select, insert, update on sandbox_approvals to florin_api, florin_worker;

-- `enrol`: a buyer lets a merchant charge a redirect method again and again. No payment belongs to it. The rows that are there need no look: what
-- was allowed still is.
alter table sandbox_card_operations drop constraint sandbox_card_operations_kind_check;
alter table sandbox_card_operations add constraint sandbox_card_operations_kind_check
  check (kind in ('authorize', 'sale', 'late_sale', 'capture', 'void', 'refund', 'cancel', 'enrol', 'never_arrived')) not valid;

create table three_ds_scenarios (
  merchant_account_id text not null references merchant_accounts (id),
  id                  uuid not null,
  conditions          jsonb not null, -- a card number is one of the sandbox's, behind which there is no account
  outcome             jsonb not null,
  created_at          timestamptz(3) not null,
  updated_at          timestamptz(3) not null,

  constraint three_ds_scenarios_pkey primary key (merchant_account_id, id)
);

alter table three_ds_scenarios enable row level security;
alter table three_ds_scenarios force row level security;
create policy three_ds_scenarios_reach on three_ds_scenarios using (florin_reaches(merchant_account_id));

grant select, insert, update, delete on three_ds_scenarios to florin_api;
grant select on three_ds_scenarios to florin_worker;
