-- The sandbox's card processor: what another company would keep about the payments it is asked to make. It stores nothing of a
-- card. No foreign keys: a processor does not know our tables, and each would cost the busiest insert of a load test a look-up.

create table sandbox_card_payments (
  merchant_account_id text not null,
  id                  uuid not null, -- UUIDv7, the processor's own
  service_id          text not null,
  currency            text not null check (length(currency) = 3),
  state               text not null check (state in ('pending', 'authorized', 'completed', 'voided', 'canceled', 'refused')),
  authorized          bigint not null check (authorized >= 0),
  captured            bigint not null check (captured >= 0),
  refunded            bigint not null check (refunded >= 0),
  forces              text check (length(forces) <= 40), -- what the card makes of later calls, which do not have it

  constraint sandbox_card_payments_pkey primary key (merchant_account_id, id),
  constraint sandbox_card_payments_captured_fits check (captured <= authorized * 2),
  constraint sandbox_card_payments_refunded_fits check (refunded <= captured),
  constraint sandbox_card_payments_voided_is_whole check (state not in ('pending', 'voided', 'canceled', 'refused') or captured = 0)
) with (fillfactor = 80); -- a capture or a refund finds room beside the row, and then no index is touched

-- One row a call, by the reference that the caller gave it. `never_arrived`: somebody asked before the call came, was told that
-- it will not happen, and so it must not.
create table sandbox_card_operations (
  merchant_account_id text not null,
  reference           text not null check (length(reference) between 1 and 255),
  id                  uuid not null, -- UUIDv7; of an authorization, also the payment's
  payment_id          uuid,
  kind                text not null check (kind in ('authorize', 'sale', 'late_sale', 'capture', 'void', 'refund', 'cancel', 'never_arrived')),
  amount              bigint not null check (amount >= 0),
  closes              boolean not null default false, -- a capture after which the rest is released
  lost                boolean not null default false, -- the first answer does not reach the caller
  outcome             jsonb,
  due_at              timestamptz(3), -- while it is not decided
  due_outcome         jsonb, -- what it will be then

  constraint sandbox_card_operations_pkey primary key (merchant_account_id, reference),
  constraint sandbox_card_operations_is_answered check ((outcome is null) = (kind = 'never_arrived')),
  constraint sandbox_card_operations_is_due check ((due_at is null) = (due_outcome is null))
);

alter table sandbox_card_payments enable row level security;
alter table sandbox_card_payments force row level security;
create policy sandbox_card_payments_reach on sandbox_card_payments using (florin_reaches(merchant_account_id));
alter table sandbox_card_operations enable row level security;
alter table sandbox_card_operations force row level security;
create policy sandbox_card_operations_reach on sandbox_card_operations using (florin_reaches(merchant_account_id));

grant select, insert, update on sandbox_card_payments, sandbox_card_operations to florin_api, florin_worker;
