-- What transactions are found by, of the gift cards that pay: any redemption counts, whatever became of it.

-- Part of the number that has an index already, so that payments without gift cards cost no more than before.
alter table transaction_facts add column has_gift_card_redemptions boolean not null default false;
-- squawk-ignore ban-drop-column
alter table transaction_facts drop column sourcing;
-- squawk-ignore prefer-bigint-over-smallint, adding-field-with-default, adding-required-field
alter table transaction_facts add column sourcing smallint not null generated always as (
  array_position(array['ecommerce', 'moto', 'recurring', 'installment', 'card_on_file'], payment_source) * 8
    + merchant_initiated::integer * 4 + is_subsequent_payment::integer * 2 + has_gift_card_redemptions::integer
) stored;
-- squawk-ignore require-concurrent-index-creation
create index transaction_facts_sourcing on transaction_facts (merchant_account_id, sourcing, id);

-- Each card once, however many redemptions it has: a page must not show a transaction twice.
create table transaction_gift_cards (
  merchant_account_id text not null,
  name                text not null check (name in ('id', 'last4')),
  value               text not null,
  id                  uuid not null, -- of the transaction

  constraint transaction_gift_cards_pkey primary key (merchant_account_id, name, value, id)
);
-- For `florin verify`: everything that one transaction is found by.
create index transaction_gift_cards_of_transaction on transaction_gift_cards (merchant_account_id, id);

alter table transaction_gift_cards enable row level security;
alter table transaction_gift_cards force row level security;
create policy transaction_gift_cards_reach on transaction_gift_cards using (florin_reaches(merchant_account_id));
grant select, insert on transaction_gift_cards to florin_api, florin_worker;

create function florin_find_gift_card() returns trigger language plpgsql as $$
begin
  insert into transaction_gift_cards (merchant_account_id, name, value, id)
  select new.merchant_account_id, finding.name, finding.value, new.transaction_id
  from (values ('id', new.gift_card_id::text), ('last4', new.last4)) as finding (name, value)
  where finding.value is not null
  on conflict do nothing;
  update transaction_facts set has_gift_card_redemptions = true
  where merchant_account_id = new.merchant_account_id and id = new.transaction_id and not has_gift_card_redemptions;
  return null;
end
$$;
create trigger gift_card_redemptions_find after insert on gift_card_redemptions for each row execute function florin_find_gift_card();

-- Those that are there already.
select set_config('florin.accounts', '*', true);
insert into transaction_gift_cards (merchant_account_id, name, value, id)
select merchant_account_id, 'id', gift_card_id::text, transaction_id from gift_card_redemptions where gift_card_id is not null
union
select merchant_account_id, 'last4', last4, transaction_id from gift_card_redemptions;
update transaction_facts as facts set has_gift_card_redemptions = true
where exists (
  select from gift_card_redemptions as redemption
  where redemption.merchant_account_id = facts.merchant_account_id and redemption.transaction_id = facts.id
);
