-- Gift cards that pay: what each is to pay and what became of it.

create table gift_card_redemptions (
  merchant_account_id             text not null,
  transaction_id                  uuid not null,
  id                              uuid not null, -- UUIDv7; what the provider knows the redemption by
  position                        integer not null check (position > 0), -- of its instrument
  gift_card_service_id            uuid not null,
  gift_card_id                    uuid, -- of a stored card; it may be gone
  fingerprint                     text not null, -- keyed, of the number
  bin                             text not null,
  sub_bin                         text not null,
  last4                           text not null,
  amount                          bigint not null check (amount > 0),
  status                          text not null check (status in ('created', 'succeeded', 'failed', 'skipped')),
  reversed                        boolean not null default false, -- given back whole, whatever had become of it
  gift_card_service_redemption_id text,
  error_code                      text,
  raw_error_code                  text,
  raw_error_message               text,
  created_at                      timestamptz(3) not null,
  updated_at                      timestamptz(3) not null,

  constraint gift_card_redemptions_pkey primary key (merchant_account_id, transaction_id, id),
  constraint gift_card_redemptions_position unique (merchant_account_id, transaction_id, position),
  constraint gift_card_redemptions_transaction foreign key (merchant_account_id, transaction_id)
    references transactions (merchant_account_id, id),
  constraint gift_card_redemptions_reversed check (not reversed or status in ('created', 'failed'))
) with (fillfactor = 80);

alter table gift_card_redemptions enable row level security;
alter table gift_card_redemptions force row level security;
create policy gift_card_redemptions_reach on gift_card_redemptions using (florin_reaches(merchant_account_id));
grant select, insert, update on gift_card_redemptions to florin_api, florin_worker;

-- As answers show them: JSON, null for a payment without gift cards.
alter table transactions add column gift_card_redemptions text;

-- `redeem`: the gift cards of a payment are being charged. `reverse`: everything that paid is being given back.
alter table attempts drop constraint attempts_action_check;
-- squawk-ignore constraint-missing-not-valid
alter table attempts add constraint attempts_action_check check (action in ('authorize', 'capture', 'void', 'refund', 'redeem', 'reverse', 'gift-card-refund'));
-- Null where gift cards alone are asked: each redemption has its own service.
-- squawk-ignore ban-drop-not-null
alter table attempts alter column payment_service_id drop not null;

-- The redemption that a refund goes to; null: the main method.
alter table refunds add column gift_card_redemption_id uuid;
