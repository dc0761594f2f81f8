-- The least that a payment can be for PostgreSQL, whoever writes it: what is about to be tried, committed; then what became of it, committed. A charge
-- in one step: transaction, what it is found by (facts, state, metadata), instrument, attempt and audit row; then transaction, state, instrument and attempt
-- changed, the capture, two lines of the timeline and two events with their queue rows. The provider's own books are not counted. Ids ascend, as ours do.
-- (A space follows each colon because pgbench would take what follows for a variable.)
begin;
insert into bench.transactions (merchant_account_id, id, status, intent, intent_outcome, amount, currency, country, authorized_amount, captured_amount,
  refunded_amount, external_identifier, buyer_id, buyer_external_identifier, payment_method_id, method, instrument_type, payment_service_id,
  payment_source, merchant_initiated, is_subsequent_payment, metadata, summary, details, payment_method, payment_service, rendering, version,
  created_at, updated_at)
values ('default', lpad(to_hex(nextval('bench.ids')), 32, '0')::uuid, 'processing', 'capture', 'pending', 1299, 'EUR', 'DE', 0, 0, 0, 'order-4711', null, null, null,
  'card', 'pan', '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', 'ecommerce', false, false, '{"order": "4711"}',
  '"currency": "EUR","amount": 1299,"country": "DE","intent": "capture","method": "card","instrument_type": "pan","buyer": null,"shipping_details": null,"checkout_session_id": null,"gift_card_service": null,"reauthorized_from_transaction_id": null',
  '"payment_source": "ecommerce","merchant_initiated": false,"is_subsequent_payment": false,"airline": null,"cart_items": null,"statement_descriptor": null,"recipient": null,"account_funding_transaction": false,"installment_count": null,"tax_amount": null,"merchant_tax_id": null,"purchase_order_number": null,"customer_reference_number": null,"amount_includes_tax": null,"supplier_order_number": null,"duty_amount": null,"shipping_amount": null',
  '{"type": "payment-method","id": null,"method": "card","mode": "card","label": "1111","scheme": "visa","details": {"bin": "41111111","card_type": "credit","card_issuer_name": "Sandbox Bank US"},"expiration_date": "12/30","fingerprint": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","country": null,"currency": null,"approval_url": null,"approval_target": null,"external_identifier": null,"last_replaced_at": null,"payment_account_reference": null}',
  '{"type": "payment-service","id": "0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","display_name": "Sandbox","method": "card","payment_service_definition_id": "mock-card"}',
  1, 1, now(), now())
returning id \gset
insert into bench.transaction_facts (merchant_account_id, id, amount, currency, country, payment_source, merchant_initiated, is_subsequent_payment, method,
  payment_method_label, payment_method_scheme, payment_method_bin, payment_method_fingerprint, external_identifier)
values ('default', :id::uuid, 1299, 'EUR', 'DE', 'ecommerce', false, false, 'card', '1111', 'visa', '41111111',
  '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'order-4711');
insert into bench.transaction_states (merchant_account_id, id, status, pending_review, disputed, has_refunds, has_settlements, used_3ds, payment_service_id, updated_at)
values ('default', :id::uuid, 'processing', false, false, false, false, false, '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', now());
insert into bench.transaction_metadata (merchant_account_id, name, value, id) values ('default', 'order', '4711', :id::uuid);
insert into bench.transaction_instruments (merchant_account_id, transaction_id, position, kind, amount, authorized_amount, capture_limit, capturing_amount,
  captured_amount, refunding_amount, refunded_amount, capturable)
values ('default', :id::uuid, 0, 'payment-method', 1299, 0, 0, 0, 0, 0, 0, false);
insert into bench.attempts (merchant_account_id, transaction_id, id, action, subject_id, payment_service_id, amount, state, next_check_at, created_at, updated_at)
values ('default', :id::uuid, ('1' || substr(:id::text, 2))::uuid, 'authorize',
  ('2' || substr(:id::text, 2))::uuid, '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', 1299, 'open', now() + interval '1 minute', now(), now());
insert into bench.audit_logs (id, merchant_account_id, action, resource_type, resource_id, resource_name, actor_id, actor_name, actor_email_address,
  token_id, operation, request_id, created_at)
values (:id::uuid, 'default', 'created', 'transaction', '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', 'order-4711',
  '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', 'Bench', null,
  'oXx0iJ6wGJmT4yQ9mQ6vYg2m8rK1cQy8m3rU0fP5w7E/4b6ab4f5-7a21-4f7f-8f0e-3a2b1c0d9e8f', 'createTransaction',
  '4b6ab4f5-7a21-4f7f-8f0e-3a2b1c0d9e8f', now());
commit;
begin;
update bench.attempts set state = 'done', result = 'approved', provider_reference = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', next_check_at = null, updated_at = now()
where merchant_account_id = 'default' and transaction_id = :id::uuid
  and id = ('1' || substr(:id::text, 2))::uuid and state <> 'done';
update bench.transactions set status = 'capture_succeeded', intent_outcome = 'succeeded', authorized_amount = 1299, captured_amount = 1299,
  payment_service_transaction_id = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', raw_response_code = '00', raw_response_description = 'Approved',
  auth_response_code = '123456', avs_response_code = 'match', cvv_response_code = 'match', scheme_transaction_id = '123456789012345',
  authorized_at = now(), captured_at = now(), version = version + 1, updated_at = now()
where merchant_account_id = 'default' and id = :id::uuid and status = 'processing';
update bench.transaction_states set status = 'capture_succeeded', payment_service_transaction_id = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', updated_at = now()
where merchant_account_id = 'default' and id = :id::uuid;
update bench.transaction_instruments set authorized_amount = 1299, capture_limit = 1299, captured_amount = 1299
where merchant_account_id = 'default' and transaction_id = :id::uuid and position = 0;
insert into bench.captures (merchant_account_id, transaction_id, id, amount, currency, status, final, payment_service_capture_id, raw_response_code,
  raw_response_description, captured_at, version, created_at, updated_at)
values ('default', :id::uuid, ('2' || substr(:id::text, 2))::uuid, 1299, 'EUR', 'succeeded', true,
  '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', '00', 'Approved', now(), 1, now(), now());
insert into bench.transaction_events (merchant_account_id, transaction_id, id, name, context, created_at)
values ('default', :id::uuid, ('3' || substr(:id::text, 2))::uuid,
    'payment-connector-response-transaction-capture-succeeded',
    '{"status": "approved","payment_service_id": "0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","attempt_id": "0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","error_code": null,"raw_response_code": "00","raw_response_description": "Approved"}', now()),
  ('default', :id::uuid, ('4' || substr(:id::text, 2))::uuid,
    'transaction-updated-status', '{"from": "processing","to": "capture_succeeded"}', now());
insert into bench.events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
values (('5' || substr(:id::text, 2))::uuid, 'default', 'transaction.captured', 'transaction', '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', 2,
    '{"type": "transaction","id": "0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","status": "capture_succeeded","amount": 1299,"currency": "EUR","authorized_amount": 1299,"captured_amount": 1299,"refunded_amount": 0,"external_identifier": "order-4711","payment_method": {"id": null,"method": "card"},"payment_service_transaction_id": "0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","payment_link_id": null,"pending_review": false,"error_code": null,"metadata": {"order": "4711"},"created_at": "2026-11-15T12.30.00.000Z","updated_at": "2026-11-15T12.30.00.000Z"}', now()),
  (('6' || substr(:id::text, 2))::uuid, 'default', 'capture.succeeded', 'capture', '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', 1,
    '{"type": "capture","id": "0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","merchant_account_id": "default","transaction_id": "0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","xid": "0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","currency": "EUR","amount": 1299,"status": "succeeded","final": true,"external_identifier": null,"error_code": null,"iso_response_code": null,"raw_response_code": "00","raw_response_description": "Approved","transaction_external_identifier": "order-4711","cart_items": null,"captured_at": "2026-11-15T12.30.00.000Z","created_at": "2026-11-15T12.30.00.000Z","updated_at": "2026-11-15T12.30.00.000Z"}', now());
insert into bench.event_queue (event_id) values (('5' || substr(:id::text, 2))::uuid), (('6' || substr(:id::text, 2))::uuid);
commit;
