-- What the operator's BIN file says of cards by their first digits: type, issuer, country, schemes. It is the same for every merchant
-- account, so there is no row level security.

create table card_bins (
  bin_start          bigint not null, -- the first 11 digits of the lowest number: what the file says, filled up with 0s
  bin_end            bigint not null, -- and of the highest, filled up with 9s
  scheme             text,
  additional_schemes text[] not null,
  card_type          text check (card_type in ('credit', 'debit', 'prepaid')),
  issuer             text check (length(issuer) between 1 and 200),
  country            text check (country ~ '^[A-Z]{2}$'),
  imported_at        timestamptz not null, -- when the import's transaction began: tells its rows from older ones, so to the microsecond

  constraint card_bins_pkey primary key (bin_start, bin_end),
  constraint card_bins_order check (bin_start between 0 and bin_end and bin_end <= 99999999999)
);

-- Ranges overlap, and the narrowest one that holds a number counts. Which one that is changes at these numbers only; each row holds
-- until the next. Made anew from card_bins by every import, so a lookup is two steps into an index however the ranges lie.
create table card_bin_steps (
  made_by   bigint not null, -- the transaction of the import: what other imports left to be vacuumed is not among these keys
  at        bigint not null,
  bin_start bigint, -- null: no range
  bin_end   bigint,

  constraint card_bin_steps_pkey primary key (made_by, at)
);

-- Which steps count. One row.
create table card_bin_current (
  made_by  bigint not null,
  only_row boolean not null default true check (only_row),

  constraint card_bin_current_pkey primary key (only_row)
);
insert into card_bin_current (made_by) values (0);

grant select on card_bins, card_bin_steps, card_bin_current to florin_api, florin_worker;
grant insert, update, delete on card_bins to florin_worker;
grant insert, delete on card_bin_steps to florin_worker;
grant update on card_bin_current to florin_worker;
