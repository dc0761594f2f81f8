-- The least that storing a card can be for PostgreSQL: the vault's row, committed; then the payment method and its audit row, committed.
-- Ids ascend, as ours do.
begin;
insert into bench.secrets (created_at, key_version, id, merchant_account_id, field, sealed)
values (now(), 1, lpad(to_hex(nextval('bench.ids')), 32, '0')::uuid, 'default', 'number',
  '\x01d5f3a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f607');
commit;
begin;
insert into bench.payment_methods (merchant_account_id, id, buyer_id, external_identifier, method, mode, status, label, scheme,
  additional_schemes, bin, card_type, card_issuer_name, issuer_country, expiration_date, expires_at, fingerprint, created_at, updated_at)
values ('default', lpad(to_hex(currval('bench.ids')), 32, '0')::uuid, null, null, 'card', 'card', 'succeeded', '1111', 'visa',
  null, '41111111', 'credit', 'Sandbox Bank', 'US', '12/30', '2031-01-01 00:00:00+00',
  '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', now(), now());
insert into bench.audit_logs (id, merchant_account_id, action, resource_type, resource_id, resource_name,
  actor_id, actor_name, actor_email_address, token_id, operation, request_id, created_at)
values (lpad(to_hex(currval('bench.ids')), 32, '0')::uuid, 'default', 'created', 'payment-method', '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', '1111',
  '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', 'Bench', null,
  'oXx0iJ6wGJmT4yQ9mQ6vYg2m8rK1cQy8m3rU0fP5w7E/4b6ab4f5-7a21-4f7f-8f0e-3a2b1c0d9e8f', 'create-payment-method',
  '4b6ab4f5-7a21-4f7f-8f0e-3a2b1c0d9e8f', now());
commit;
