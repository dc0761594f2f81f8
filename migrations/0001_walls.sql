-- The walls between merchant accounts, and the functions that ids and partitions need.

-- Whether the caller of the current transaction reaches a merchant account. `florin.accounts` is set transaction-locally to
-- '*' or to account ids with commas between them; when it is not set nothing is reached.
create function florin_reaches(account text) returns boolean
  language sql stable parallel safe
  return current_setting('florin.accounts', true) = '*'
    or account = any (string_to_array(current_setting('florin.accounts', true), ','));

-- The same for a list of accounts in which an empty list means all of them.
create function florin_reaches_all(accounts text[]) returns boolean
  language sql stable parallel safe
  return current_setting('florin.accounts', true) = '*'
    or (cardinality(accounts) > 0 and accounts <@ string_to_array(current_setting('florin.accounts', true), ','));

-- The smallest UUIDv7 of a millisecond: a bound in time becomes a bound on ids.
create function florin_id_floor(moment timestamptz) returns uuid
  language sql immutable parallel safe
  return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid;

create schema vault;
revoke all on schema vault from public;
grant usage on schema vault to florin_vault;
