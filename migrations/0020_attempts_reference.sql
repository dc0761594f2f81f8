-- no transaction
-- A message of a provider names an attempt and nothing else. In a migration of its own, so that payments go on while it is built.
create unique index concurrently if not exists attempts_reference on attempts (merchant_account_id, id);
