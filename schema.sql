CREATE SCHEMA vault;

ALTER SCHEMA vault OWNER TO florin_migrate;

CREATE FUNCTION public.florin_announce_key() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform pg_notify('florin_keys', coalesce(new.thumbprint, old.thumbprint));
  return null;
end
$$;

ALTER FUNCTION public.florin_announce_key() OWNER TO florin_migrate;

CREATE FUNCTION public.florin_drop_partitions(parent text, keep_months integer) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  partition text;
begin
  if parent not in ('audit_logs', 'events', 'webhook_deliveries', 'webhook_attempts') or keep_months < 1 then
    raise exception 'florin_drop_partitions: not a log, or nothing would be kept';
  end if;
  set local lock_timeout = '2s';
  for partition in
    select child.relname from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = format('public.%I', parent)::regclass
      and to_date(right(child.relname, 6), 'YYYYMM') + interval '1 month' <= now() at time zone 'UTC' - make_interval(months => keep_months)
    order by child.relname
  loop
    execute format('drop table public.%I', partition);
    return next partition;
  end loop;
end
$$;

ALTER FUNCTION public.florin_drop_partitions(parent text, keep_months integer) OWNER TO florin_migrate;

CREATE FUNCTION public.florin_find_gift_card() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION public.florin_find_gift_card() OWNER TO florin_migrate;

CREATE FUNCTION public.florin_has_worker() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$select exists (select from public.jobs where last_run_at > now() - interval '1 minute')$$;

ALTER FUNCTION public.florin_has_worker() OWNER TO florin_migrate;

CREATE FUNCTION public.florin_id_floor(moment timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((lpad(to_hex(((EXTRACT(epoch FROM moment) * (1000)::numeric))::bigint), 12, '0'::text) || '00000000000000000000'::text))::uuid;

ALTER FUNCTION public.florin_id_floor(moment timestamp with time zone) OWNER TO florin_migrate;

CREATE FUNCTION public.florin_insert_state() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  insert into transaction_states (merchant_account_id, id, status, pending_review, disputed, has_refunds, has_settlements, used_3ds,
    payment_service_id, payment_service_transaction_id, error_code, updated_at)
  values (new.merchant_account_id, new.id, new.status, new.pending_review, new.disputed, new.refunded_amount > 0, new.settled,
    new.three_d_secure is not null, new.payment_service_id, new.payment_service_transaction_id, new.error_code, new.updated_at);
  return null;
end
$$;

ALTER FUNCTION public.florin_insert_state() OWNER TO florin_migrate;

CREATE FUNCTION public.florin_make_partitions(months_ahead integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  parent text;
  start  timestamptz;
  made   integer := 0;
begin
  set local lock_timeout = '2s';
  foreach parent in array array['audit_logs', 'events', 'webhook_deliveries', 'webhook_attempts'] loop
    for step in 0..months_ahead loop
      start := date_trunc('month', now() at time zone 'UTC' + make_interval(months => step)) at time zone 'UTC';
      continue when to_regclass(format('public.%s_%s', parent, to_char(start at time zone 'UTC', 'YYYYMM'))) is not null;
      execute format(
        'create table public.%I partition of public.%I for values from (%L) to (%L)',
        parent || to_char(start at time zone 'UTC', '_YYYYMM'), parent,
        public.florin_id_floor(start), public.florin_id_floor((start at time zone 'UTC' + interval '1 month') at time zone 'UTC'));
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$$;

ALTER FUNCTION public.florin_make_partitions(months_ahead integer) OWNER TO florin_migrate;

CREATE FUNCTION public.florin_reaches(account text) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE current_setting('florin.accounts'::text, true) WHEN account THEN true WHEN '*'::text THEN true ELSE (strpos(current_setting('florin.accounts'::text, true), ((','::text || account) || ','::text)) > 0) END;

ALTER FUNCTION public.florin_reaches(account text) OWNER TO florin_migrate;

CREATE FUNCTION public.florin_reaches_all(accounts text[]) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ((current_setting('florin.accounts'::text, true) = '*'::text) OR ((cardinality(accounts) > 0) AND (accounts <@ string_to_array(current_setting('florin.accounts'::text, true), ','::text))));

ALTER FUNCTION public.florin_reaches_all(accounts text[]) OWNER TO florin_migrate;

CREATE FUNCTION public.florin_subscription_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform pg_notify('florin_webhooks', coalesce(new.id, old.id)::text);
  return null;
end
$$;

ALTER FUNCTION public.florin_subscription_changed() OWNER TO florin_migrate;

CREATE FUNCTION public.florin_update_reference() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  update transaction_facts set external_identifier = new.external_identifier
  where merchant_account_id = new.merchant_account_id and id = new.id;
  return null;
end
$$;

ALTER FUNCTION public.florin_update_reference() OWNER TO florin_migrate;

CREATE FUNCTION public.florin_update_state() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  update transaction_states
  set status = new.status, pending_review = new.pending_review, disputed = new.disputed, has_refunds = new.refunded_amount > 0,
    has_settlements = new.settled, used_3ds = new.three_d_secure is not null, payment_service_id = new.payment_service_id,
    payment_service_transaction_id = new.payment_service_transaction_id, error_code = new.error_code, updated_at = new.updated_at
  where merchant_account_id = new.merchant_account_id and id = new.id;
  return null;
end
$$;

ALTER FUNCTION public.florin_update_state() OWNER TO florin_migrate;

CREATE TABLE public.account_updater_inquiries (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    job_id uuid NOT NULL,
    payment_method_id uuid NOT NULL,
    status text NOT NULL,
    error_code text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT account_updater_inquiries_status_check CHECK ((status = ANY (ARRAY['running'::text, 'updated'::text, 'unchanged'::text, 'closed'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.account_updater_inquiries FORCE ROW LEVEL SECURITY;

ALTER TABLE public.account_updater_inquiries OWNER TO florin_migrate;

CREATE TABLE public.account_updater_jobs (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY public.account_updater_jobs FORCE ROW LEVEL SECURITY;

ALTER TABLE public.account_updater_jobs OWNER TO florin_migrate;

CREATE TABLE public.anti_fraud_reviews (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    due_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY public.anti_fraud_reviews FORCE ROW LEVEL SECURITY;

ALTER TABLE public.anti_fraud_reviews OWNER TO florin_migrate;

CREATE TABLE public.anti_fraud_services (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    definition_id text NOT NULL,
    display_name text NOT NULL,
    active boolean NOT NULL,
    reviews_enabled boolean NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT anti_fraud_services_definition_id_check CHECK (((length(definition_id) >= 1) AND (length(definition_id) <= 50))),
    CONSTRAINT anti_fraud_services_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 200)))
);

ALTER TABLE ONLY public.anti_fraud_services FORCE ROW LEVEL SECURITY;

ALTER TABLE public.anti_fraud_services OWNER TO florin_migrate;

CREATE TABLE public.api_key_pair_roles (
    api_key_pair_id uuid NOT NULL,
    role_id uuid NOT NULL
);

ALTER TABLE ONLY public.api_key_pair_roles FORCE ROW LEVEL SECURITY;

ALTER TABLE public.api_key_pair_roles OWNER TO florin_migrate;

CREATE TABLE public.api_key_pairs (
    id uuid NOT NULL,
    thumbprint text NOT NULL,
    display_name text NOT NULL,
    algorithm text NOT NULL,
    public_key text NOT NULL,
    active boolean NOT NULL,
    merchant_account_ids text[] NOT NULL,
    creator_id uuid,
    creator_name text,
    creator_email_address text,
    creator_thumbprint text,
    last_used_at timestamp(3) with time zone,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT api_key_pairs_algorithm_check CHECK ((algorithm = ANY (ARRAY['ECDSA'::text, 'RSA'::text]))),
    CONSTRAINT api_key_pairs_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 200))),
    CONSTRAINT api_key_pairs_public_key_check CHECK ((public_key ~~ '-----BEGIN PUBLIC KEY-----%'::text)),
    CONSTRAINT api_key_pairs_thumbprint_check CHECK ((thumbprint ~ '^[A-Za-z0-9_-]{43}$'::text))
);

ALTER TABLE ONLY public.api_key_pairs FORCE ROW LEVEL SECURITY;

ALTER TABLE public.api_key_pairs OWNER TO florin_migrate;

CREATE TABLE public.attempts (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    id uuid NOT NULL,
    action text NOT NULL,
    subject_id uuid,
    payment_service_id uuid,
    amount bigint NOT NULL,
    state text NOT NULL,
    result text,
    error_code text,
    provider_reference text,
    idempotency_key text,
    checks integer DEFAULT 0 NOT NULL,
    next_check_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT attempts_action_check CHECK ((action = ANY (ARRAY['authorize'::text, 'capture'::text, 'void'::text, 'refund'::text, 'redeem'::text, 'reverse'::text, 'gift-card-refund'::text]))),
    CONSTRAINT attempts_amount_check CHECK ((amount >= 0)),
    CONSTRAINT attempts_done CHECK ((((state = 'done'::text) = (result IS NOT NULL)) AND ((state = 'done'::text) = (next_check_at IS NULL)))),
    CONSTRAINT attempts_result_check CHECK ((result = ANY (ARRAY['approved'::text, 'declined'::text, 'failed'::text]))),
    CONSTRAINT attempts_state_check CHECK ((state = ANY (ARRAY['open'::text, 'pending'::text, 'done'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.attempts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.attempts OWNER TO florin_migrate;

CREATE TABLE public.audit_logs (
    id uuid NOT NULL,
    merchant_account_id text,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text NOT NULL,
    resource_name text NOT NULL,
    actor_id uuid,
    actor_name text NOT NULL,
    actor_email_address text,
    token_id text,
    operation text NOT NULL,
    request_id text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT audit_logs_action_check CHECK ((action = ANY (ARRAY['created'::text, 'updated'::text, 'deleted'::text, 'voided'::text, 'canceled'::text, 'captured'::text])))
)
PARTITION BY RANGE (id);

ALTER TABLE ONLY public.audit_logs FORCE ROW LEVEL SECURITY;

ALTER TABLE public.audit_logs OWNER TO florin_migrate;

CREATE TABLE public.buyers (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    display_name text,
    external_identifier text,
    account_number text,
    billing_details jsonb,
    display_name_key text COLLATE pg_catalog."C",
    external_identifier_key text COLLATE pg_catalog."C",
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT buyers_account_number_check CHECK (((length(account_number) >= 1) AND (length(account_number) <= 200))),
    CONSTRAINT buyers_billing_details_check CHECK ((jsonb_typeof(billing_details) = 'object'::text)),
    CONSTRAINT buyers_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 200))),
    CONSTRAINT buyers_display_name_key_check CHECK (((length(display_name_key) >= 1) AND (length(display_name_key) <= 200))),
    CONSTRAINT buyers_external_identifier_check CHECK (((length(external_identifier) >= 1) AND (length(external_identifier) <= 200))),
    CONSTRAINT buyers_external_identifier_key_check CHECK (((length(external_identifier_key) >= 1) AND (length(external_identifier_key) <= 200))),
    CONSTRAINT buyers_keys CHECK ((((display_name IS NULL) = (display_name_key IS NULL)) AND ((external_identifier IS NULL) = (external_identifier_key IS NULL))))
);

ALTER TABLE ONLY public.buyers FORCE ROW LEVEL SECURITY;

ALTER TABLE public.buyers OWNER TO florin_migrate;

CREATE TABLE public.captures (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    id uuid NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    status text NOT NULL,
    final boolean NOT NULL,
    external_identifier text,
    payment_service_capture_id text,
    error_code text,
    raw_response_code text,
    raw_response_description text,
    cart_items text,
    captured_at timestamp(3) with time zone,
    version integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT captures_amount_check CHECK ((amount > 0)),
    CONSTRAINT captures_external_identifier_check CHECK (((length(external_identifier) >= 1) AND (length(external_identifier) <= 300))),
    CONSTRAINT captures_status_check CHECK ((status = ANY (ARRAY['succeeded'::text, 'pending'::text, 'declined'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.captures FORCE ROW LEVEL SECURITY;

ALTER TABLE public.captures OWNER TO florin_migrate;

CREATE TABLE public.card_bin_current (
    made_by bigint NOT NULL,
    only_row boolean DEFAULT true NOT NULL,
    CONSTRAINT card_bin_current_only_row_check CHECK (only_row)
);

ALTER TABLE public.card_bin_current OWNER TO florin_migrate;

CREATE TABLE public.card_bin_steps (
    made_by bigint NOT NULL,
    at bigint NOT NULL,
    bin_start bigint,
    bin_end bigint
);

ALTER TABLE public.card_bin_steps OWNER TO florin_migrate;

CREATE TABLE public.card_bins (
    bin_start bigint NOT NULL,
    bin_end bigint NOT NULL,
    scheme text,
    additional_schemes text[] NOT NULL,
    card_type text,
    issuer text,
    country text,
    imported_at timestamp with time zone NOT NULL,
    CONSTRAINT card_bins_card_type_check CHECK ((card_type = ANY (ARRAY['credit'::text, 'debit'::text, 'prepaid'::text]))),
    CONSTRAINT card_bins_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT card_bins_issuer_check CHECK (((length(issuer) >= 1) AND (length(issuer) <= 200))),
    CONSTRAINT card_bins_order CHECK ((((bin_start >= 0) AND (bin_start <= bin_end)) AND (bin_end <= '99999999999'::bigint)))
);

ALTER TABLE public.card_bins OWNER TO florin_migrate;

CREATE TABLE public.checkout_sessions (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    amount bigint,
    currency text,
    country text,
    intent text,
    payment_source text,
    merchant_initiated boolean,
    is_subsequent_payment boolean,
    payment_service_id uuid,
    cart_items text,
    metadata text,
    airline text,
    buyer text,
    label text,
    scheme text,
    bin text,
    card_type text,
    card_issuer_name text,
    issuer_country text,
    fingerprint text,
    expiration_date text,
    payment_method_id uuid,
    postal_code text,
    fields_sent_at timestamp(3) with time zone,
    transaction_id uuid,
    version integer DEFAULT 1 NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT checkout_sessions_amount_check CHECK (((amount >= 0) AND (amount <= 99999999))),
    CONSTRAINT checkout_sessions_bin_check CHECK ((bin ~ '^\d{6,8}$'::text)),
    CONSTRAINT checkout_sessions_card_type_check CHECK ((card_type = ANY (ARRAY['credit'::text, 'debit'::text, 'prepaid'::text]))),
    CONSTRAINT checkout_sessions_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT checkout_sessions_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT checkout_sessions_expiration_date_check CHECK ((expiration_date ~ '^(0[1-9]|1[0-2])/\d{2}$'::text)),
    CONSTRAINT checkout_sessions_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT checkout_sessions_intent_check CHECK ((intent = ANY (ARRAY['authorize'::text, 'capture'::text]))),
    CONSTRAINT checkout_sessions_issuer_country_check CHECK ((issuer_country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT checkout_sessions_label_check CHECK ((length(label) <= 320)),
    CONSTRAINT checkout_sessions_payment_source_check CHECK ((payment_source = ANY (ARRAY['ecommerce'::text, 'moto'::text, 'recurring'::text, 'installment'::text, 'card_on_file'::text]))),
    CONSTRAINT checkout_sessions_postal_code_check CHECK (((length(postal_code) >= 1) AND (length(postal_code) <= 50)))
);

ALTER TABLE ONLY public.checkout_sessions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.checkout_sessions OWNER TO florin_migrate;

CREATE UNLOGGED TABLE public.embed_uses (
    asked_at timestamp with time zone NOT NULL,
    allowed boolean NOT NULL,
    subject bytea NOT NULL,
    times timestamp with time zone[] NOT NULL,
    CONSTRAINT embed_uses_subject_check CHECK ((length(subject) = 32))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02');

ALTER TABLE public.embed_uses OWNER TO florin_migrate;

CREATE TABLE public.enrolments (
    merchant_account_id text NOT NULL,
    payment_method_id uuid NOT NULL,
    id uuid NOT NULL,
    payment_service_id uuid NOT NULL,
    redirect_url text NOT NULL,
    provider_reference text,
    is_open boolean DEFAULT true NOT NULL,
    checks integer DEFAULT 0 NOT NULL,
    next_check_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT enrolments_open CHECK ((is_open = (next_check_at IS NOT NULL))),
    CONSTRAINT enrolments_redirect_url_check CHECK ((length(redirect_url) <= 5000))
);

ALTER TABLE ONLY public.enrolments FORCE ROW LEVEL SECURITY;

ALTER TABLE public.enrolments OWNER TO florin_migrate;

CREATE TABLE public.event_consumers (
    merchant_account_id text NOT NULL,
    id text NOT NULL,
    "position" uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT event_consumers_id_check CHECK (((length(id) >= 1) AND (length(id) <= 50))),
    CONSTRAINT event_consumers_merchant_account_id_check CHECK (((length(merchant_account_id) >= 1) AND (length(merchant_account_id) <= 50)))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.event_consumers FORCE ROW LEVEL SECURITY;

ALTER TABLE public.event_consumers OWNER TO florin_migrate;

CREATE TABLE public.event_queue (
    event_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');

ALTER TABLE public.event_queue OWNER TO florin_migrate;

CREATE TABLE public.event_stream_queue (
    event_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');

ALTER TABLE public.event_stream_queue OWNER TO florin_migrate;

CREATE TABLE public.events (
    id uuid NOT NULL,
    merchant_account_id text,
    name text NOT NULL,
    resource_type text NOT NULL,
    resource_id text NOT NULL,
    sequence bigint NOT NULL,
    target jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT events_sequence_check CHECK ((sequence > 0))
)
PARTITION BY RANGE (id);

ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;

ALTER TABLE public.events OWNER TO florin_migrate;

CREATE TABLE public.florin_migrations (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.florin_migrations OWNER TO florin_migrate;

CREATE TABLE public.gift_card_activations (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    gift_card_service_id uuid NOT NULL,
    fingerprint text NOT NULL,
    bin text NOT NULL,
    sub_bin text NOT NULL,
    last4 text NOT NULL,
    amount bigint,
    currency text,
    external_identifier text,
    state text NOT NULL,
    provider_reference text,
    error_code text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT gift_card_activations_amount_check CHECK ((amount >= 0)),
    CONSTRAINT gift_card_activations_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT gift_card_activations_external_identifier_check CHECK (((length(external_identifier) >= 1) AND (length(external_identifier) <= 200))),
    CONSTRAINT gift_card_activations_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT gift_card_activations_state_check CHECK ((state = ANY (ARRAY['open'::text, 'succeeded'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.gift_card_activations FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gift_card_activations OWNER TO florin_migrate;

CREATE TABLE public.gift_card_issuances (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    gift_card_service_id uuid NOT NULL,
    theme text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    external_identifier text,
    state text NOT NULL,
    provider_reference text,
    url text,
    error_code text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT gift_card_issuances_amount_check CHECK ((amount >= 0)),
    CONSTRAINT gift_card_issuances_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT gift_card_issuances_external_identifier_check CHECK (((length(external_identifier) >= 1) AND (length(external_identifier) <= 200))),
    CONSTRAINT gift_card_issuances_state_check CHECK ((state = ANY (ARRAY['open'::text, 'succeeded'::text, 'failed'::text]))),
    CONSTRAINT gift_card_issuances_theme_check CHECK (((length(theme) >= 1) AND (length(theme) <= 200)))
);

ALTER TABLE ONLY public.gift_card_issuances FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gift_card_issuances OWNER TO florin_migrate;

CREATE TABLE public.gift_card_redemptions (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    id uuid NOT NULL,
    "position" integer NOT NULL,
    gift_card_service_id uuid NOT NULL,
    gift_card_id uuid,
    fingerprint text NOT NULL,
    bin text NOT NULL,
    sub_bin text NOT NULL,
    last4 text NOT NULL,
    amount bigint NOT NULL,
    status text NOT NULL,
    reversed boolean DEFAULT false NOT NULL,
    gift_card_service_redemption_id text,
    error_code text,
    raw_error_code text,
    raw_error_message text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT gift_card_redemptions_amount_check CHECK ((amount > 0)),
    CONSTRAINT gift_card_redemptions_position_check CHECK (("position" > 0)),
    CONSTRAINT gift_card_redemptions_reversed CHECK (((NOT reversed) OR (status = ANY (ARRAY['created'::text, 'failed'::text])))),
    CONSTRAINT gift_card_redemptions_status_check CHECK ((status = ANY (ARRAY['created'::text, 'succeeded'::text, 'failed'::text, 'skipped'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.gift_card_redemptions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gift_card_redemptions OWNER TO florin_migrate;

CREATE TABLE public.gift_card_services (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    definition_id text NOT NULL,
    display_name text NOT NULL,
    active boolean NOT NULL,
    fields jsonb NOT NULL,
    secret_names text[] NOT NULL,
    deleted_at timestamp(3) with time zone,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT gift_card_services_definition_id_check CHECK (((length(definition_id) >= 1) AND (length(definition_id) <= 50))),
    CONSTRAINT gift_card_services_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 200)))
);

ALTER TABLE ONLY public.gift_card_services FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gift_card_services OWNER TO florin_migrate;

CREATE TABLE public.gift_cards (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    gift_card_service_id uuid NOT NULL,
    buyer_id uuid,
    fingerprint text NOT NULL,
    bin text NOT NULL,
    sub_bin text NOT NULL,
    last4 text NOT NULL,
    expiration_date timestamp(3) with time zone,
    usage_count integer DEFAULT 0 NOT NULL,
    last_used_at timestamp(3) with time zone,
    cit_usage_count integer DEFAULT 0 NOT NULL,
    cit_last_used_at timestamp(3) with time zone,
    archived_at timestamp(3) with time zone,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT gift_cards_bin_check CHECK ((bin ~ '^\d{6}$'::text)),
    CONSTRAINT gift_cards_cit_usage_count_check CHECK ((cit_usage_count >= 0)),
    CONSTRAINT gift_cards_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT gift_cards_last4_check CHECK ((last4 ~ '^\d{4}$'::text)),
    CONSTRAINT gift_cards_sub_bin_check CHECK ((sub_bin ~ '^\d{3}$'::text)),
    CONSTRAINT gift_cards_usage_count_check CHECK ((usage_count >= 0))
);

ALTER TABLE ONLY public.gift_cards FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gift_cards OWNER TO florin_migrate;

CREATE TABLE public.idempotency_keys (
    merchant_account_id text NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    transaction_id uuid,
    resource_id uuid,
    lease_until timestamp(3) with time zone NOT NULL,
    status integer,
    body text,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT idempotency_keys_answer CHECK (((status IS NULL) = (body IS NULL))),
    CONSTRAINT idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.idempotency_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys OWNER TO florin_migrate;

CREATE TABLE public.jobs (
    id uuid NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    payload jsonb NOT NULL,
    run_at timestamp(3) with time zone NOT NULL,
    lease uuid,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    last_run_at timestamp(3) with time zone
);

ALTER TABLE public.jobs OWNER TO florin_migrate;

CREATE TABLE public.merchant_accounts (
    id text NOT NULL,
    list_id uuid NOT NULL,
    display_name text NOT NULL,
    account_updater_enabled boolean NOT NULL,
    account_updater_request_encryption_key text,
    account_updater_request_encryption_key_id text,
    account_updater_response_decryption_key text,
    account_updater_response_decryption_key_id text,
    over_capture_amount integer,
    over_capture_percentage integer,
    loon_client_key text,
    loon_secret_key text,
    loon_accepted_schemes text[],
    loon_merchant_account_id text,
    async_network_tokens_enabled boolean NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT merchant_accounts_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 255))),
    CONSTRAINT merchant_accounts_id_check CHECK ((id ~ '^[a-zA-Z0-9-]{1,50}$'::text)),
    CONSTRAINT merchant_accounts_loon_together CHECK ((num_nulls(loon_client_key, loon_secret_key, loon_accepted_schemes, loon_merchant_account_id) = ANY (ARRAY[0, 4]))),
    CONSTRAINT merchant_accounts_over_capture_amount_check CHECK (((over_capture_amount >= 0) AND (over_capture_amount <= 99999999))),
    CONSTRAINT merchant_accounts_over_capture_percentage_check CHECK (((over_capture_percentage >= 0) AND (over_capture_percentage <= 99999999)))
);

ALTER TABLE ONLY public.merchant_accounts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.merchant_accounts OWNER TO florin_migrate;

CREATE TABLE public.network_token_requestors (
    merchant_account_id text NOT NULL,
    scheme text NOT NULL,
    requestor_id text NOT NULL,
    app_id text NOT NULL,
    CONSTRAINT network_token_requestors_app_id_check CHECK ((length(app_id) <= 300)),
    CONSTRAINT network_token_requestors_requestor_id_check CHECK ((length(requestor_id) <= 300)),
    CONSTRAINT network_token_requestors_scheme_check CHECK ((scheme = ANY (ARRAY['visa'::text, 'amex'::text, 'mastercard'::text, 'discover'::text])))
);

ALTER TABLE ONLY public.network_token_requestors FORCE ROW LEVEL SECURITY;

ALTER TABLE public.network_token_requestors OWNER TO florin_migrate;

CREATE TABLE public.payment_methods (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    buyer_id uuid,
    external_identifier text,
    method text NOT NULL,
    mode text NOT NULL,
    status text NOT NULL,
    label text,
    scheme text,
    additional_schemes text[],
    bin text,
    card_type text,
    card_issuer_name text,
    issuer_country text,
    expiration_date text,
    expires_at timestamp(3) with time zone,
    country text,
    currency text,
    fingerprint text,
    approval_url text,
    approval_target text,
    scheme_transaction_id text,
    scheme_transaction_id_scheme text,
    transaction_link_id text,
    replacement jsonb,
    last_replaced_at timestamp(3) with time zone,
    last_used_at timestamp(3) with time zone,
    usage_count integer DEFAULT 0 NOT NULL,
    cit_last_used_at timestamp(3) with time zone,
    cit_usage_count integer DEFAULT 0 NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    payment_service_id uuid,
    enrolment text,
    CONSTRAINT payment_methods_approval_target_check CHECK ((approval_target = ANY (ARRAY['any'::text, 'new_window'::text]))),
    CONSTRAINT payment_methods_bin_check CHECK ((bin ~ '^\d{6,8}$'::text)),
    CONSTRAINT payment_methods_card_type_check CHECK ((card_type = ANY (ARRAY['credit'::text, 'debit'::text, 'prepaid'::text]))),
    CONSTRAINT payment_methods_cit_usage_count_check CHECK ((cit_usage_count >= 0)),
    CONSTRAINT payment_methods_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT payment_methods_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT payment_methods_expiration_date_check CHECK ((expiration_date ~ '^(0[1-9]|1[0-2])/\d{2}$'::text)),
    CONSTRAINT payment_methods_external_identifier_check CHECK (((length(external_identifier) >= 1) AND (length(external_identifier) <= 200))),
    CONSTRAINT payment_methods_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT payment_methods_issuer_country_check CHECK ((issuer_country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT payment_methods_label_check CHECK ((length(label) <= 320)),
    CONSTRAINT payment_methods_replacement_is_cards CHECK (((method = 'card'::text) OR ((replacement IS NULL) AND (last_replaced_at IS NULL)))),
    CONSTRAINT payment_methods_scheme_transaction_id_check CHECK ((length(scheme_transaction_id) <= 100)),
    CONSTRAINT payment_methods_status_check CHECK ((status = ANY (ARRAY['processing'::text, 'buyer_approval_required'::text, 'succeeded'::text, 'failed'::text, 'paused'::text]))),
    CONSTRAINT payment_methods_transaction_link_id_check CHECK ((length(transaction_link_id) <= 100)),
    CONSTRAINT payment_methods_usage_count_check CHECK ((usage_count >= 0))
);

ALTER TABLE ONLY public.payment_methods FORCE ROW LEVEL SECURITY;

ALTER TABLE public.payment_methods OWNER TO florin_migrate;

CREATE TABLE public.payment_services (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    definition_id text NOT NULL,
    method text NOT NULL,
    display_name text NOT NULL,
    active boolean NOT NULL,
    status text NOT NULL,
    "position" integer NOT NULL,
    accepted_currencies text[] NOT NULL,
    accepted_countries text[] NOT NULL,
    fields jsonb NOT NULL,
    reporting_fields jsonb NOT NULL,
    secret_names text[] NOT NULL,
    payment_method_tokenization_enabled boolean NOT NULL,
    network_tokens_enabled boolean NOT NULL,
    open_loop boolean NOT NULL,
    settlement_reporting_enabled boolean NOT NULL,
    three_d_secure_enabled boolean NOT NULL,
    merchant_profile jsonb,
    is_deleted boolean DEFAULT false NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT payment_services_accepted_countries_check CHECK ((cardinality(accepted_countries) > 0)),
    CONSTRAINT payment_services_accepted_currencies_check CHECK ((cardinality(accepted_currencies) > 0)),
    CONSTRAINT payment_services_definition_id_check CHECK (((length(definition_id) >= 1) AND (length(definition_id) <= 50))),
    CONSTRAINT payment_services_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 200))),
    CONSTRAINT payment_services_network_tokens CHECK ((open_loop OR (NOT network_tokens_enabled))),
    CONSTRAINT payment_services_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'created'::text, 'failed'::text]))),
    CONSTRAINT payment_services_token_kind CHECK ((NOT (open_loop AND payment_method_tokenization_enabled)))
);

ALTER TABLE ONLY public.payment_services FORCE ROW LEVEL SECURITY;

ALTER TABLE public.payment_services OWNER TO florin_migrate;

CREATE TABLE public.provider_notifications (
    merchant_account_id text NOT NULL,
    payment_service_id uuid NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    reference text NOT NULL,
    received_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT provider_notifications_id_check CHECK (((length(id) >= 1) AND (length(id) <= 255))),
    CONSTRAINT provider_notifications_kind_check CHECK ((kind = ANY (ARRAY['operation'::text, 'report'::text]))),
    CONSTRAINT provider_notifications_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 255)))
);

ALTER TABLE ONLY public.provider_notifications FORCE ROW LEVEL SECURITY;

ALTER TABLE public.provider_notifications OWNER TO florin_migrate;

CREATE TABLE public.refunds (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    id uuid NOT NULL,
    instrument integer NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    status text NOT NULL,
    reason text,
    external_identifier text,
    payment_service_refund_id text,
    error_code text,
    raw_response_code text,
    raw_response_description text,
    creator_id uuid,
    creator_name text NOT NULL,
    creator_thumbprint text,
    version integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    settled boolean DEFAULT false NOT NULL,
    settled_amount bigint DEFAULT 0 NOT NULL,
    settled_currency text,
    gift_card_redemption_id uuid,
    CONSTRAINT refunds_amount_check CHECK ((amount > 0)),
    CONSTRAINT refunds_external_identifier_check CHECK (((length(external_identifier) >= 1) AND (length(external_identifier) <= 300))),
    CONSTRAINT refunds_reason_check CHECK ((length(reason) <= 100)),
    CONSTRAINT refunds_status_check CHECK ((status = ANY (ARRAY['processing'::text, 'succeeded'::text, 'failed'::text, 'declined'::text, 'voided'::text])))
);

ALTER TABLE ONLY public.refunds FORCE ROW LEVEL SECURITY;

ALTER TABLE public.refunds OWNER TO florin_migrate;

CREATE TABLE public.roles (
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    permissions text[] NOT NULL,
    assignable_to text[] NOT NULL,
    applies_to text[] NOT NULL,
    is_standalone_assignable boolean NOT NULL,
    CONSTRAINT roles_assignable_to_check CHECK ((assignable_to <@ ARRAY['user'::text, 'api-key-pair'::text])),
    CONSTRAINT roles_permissions_check CHECK ((cardinality(permissions) > 0))
);

ALTER TABLE public.roles OWNER TO florin_migrate;

CREATE TABLE public.sandbox_approvals (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    service_id text NOT NULL,
    reference text NOT NULL,
    call_id uuid NOT NULL,
    kind text NOT NULL,
    amount bigint,
    currency text NOT NULL,
    card_suffix text,
    return_url text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    scenario_result text,
    answers jsonb NOT NULL,
    wait_ms integer NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    notification_url text,
    notifications jsonb,
    CONSTRAINT sandbox_approvals_amount_check CHECK ((amount >= 0)),
    CONSTRAINT sandbox_approvals_card_suffix_check CHECK ((card_suffix ~ '^\d{4}$'::text)),
    CONSTRAINT sandbox_approvals_currency_check CHECK ((length(currency) = 3)),
    CONSTRAINT sandbox_approvals_kind_check CHECK ((kind = ANY (ARRAY['three_d_secure'::text, 'redirect'::text, 'enrolment'::text]))),
    CONSTRAINT sandbox_approvals_notification_url_check CHECK ((length(notification_url) <= 2000)),
    CONSTRAINT sandbox_approvals_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 255))),
    CONSTRAINT sandbox_approvals_scenario_result_check CHECK ((scenario_result = ANY (ARRAY['Y'::text, 'N'::text, 'timeout'::text]))),
    CONSTRAINT sandbox_approvals_state_check CHECK ((state = ANY (ARRAY['open'::text, 'approved'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text]))),
    CONSTRAINT sandbox_approvals_wait_ms_check CHECK ((wait_ms >= 0))
);

ALTER TABLE ONLY public.sandbox_approvals FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sandbox_approvals OWNER TO florin_migrate;

CREATE TABLE public.sandbox_card_operations (
    merchant_account_id text NOT NULL,
    reference text NOT NULL,
    id uuid NOT NULL,
    payment_id uuid,
    kind text NOT NULL,
    amount bigint NOT NULL,
    closes boolean DEFAULT false NOT NULL,
    lost boolean DEFAULT false NOT NULL,
    outcome jsonb,
    due_at timestamp(3) with time zone,
    due_outcome jsonb,
    decided_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT sandbox_card_operations_amount_check CHECK ((amount >= 0)),
    CONSTRAINT sandbox_card_operations_is_answered CHECK (((outcome IS NULL) = (kind = 'never_arrived'::text))),
    CONSTRAINT sandbox_card_operations_is_due CHECK (((due_at IS NULL) = (due_outcome IS NULL))),
    CONSTRAINT sandbox_card_operations_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 255)))
);

ALTER TABLE ONLY public.sandbox_card_operations FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sandbox_card_operations OWNER TO florin_migrate;

CREATE TABLE public.sandbox_card_payments (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    service_id text NOT NULL,
    currency text NOT NULL,
    state text NOT NULL,
    authorized bigint NOT NULL,
    captured bigint NOT NULL,
    refunded bigint NOT NULL,
    forces text,
    expires_at timestamp(3) with time zone,
    CONSTRAINT sandbox_card_payments_authorized_check CHECK ((authorized >= 0)),
    CONSTRAINT sandbox_card_payments_captured_check CHECK ((captured >= 0)),
    CONSTRAINT sandbox_card_payments_captured_fits CHECK ((captured <= (authorized * 2))),
    CONSTRAINT sandbox_card_payments_currency_check CHECK ((length(currency) = 3)),
    CONSTRAINT sandbox_card_payments_forces_check CHECK ((length(forces) <= 40)),
    CONSTRAINT sandbox_card_payments_refunded_check CHECK ((refunded >= 0)),
    CONSTRAINT sandbox_card_payments_refunded_fits CHECK ((refunded <= captured)),
    CONSTRAINT sandbox_card_payments_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'authorized'::text, 'completed'::text, 'voided'::text, 'canceled'::text, 'refused'::text]))),
    CONSTRAINT sandbox_card_payments_voided_is_whole CHECK (((state <> ALL (ARRAY['pending'::text, 'voided'::text, 'canceled'::text, 'refused'::text])) OR (captured = 0)))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.sandbox_card_payments FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sandbox_card_payments OWNER TO florin_migrate;

CREATE TABLE public.sandbox_clocks (
    merchant_account_id text NOT NULL,
    ahead_ms bigint NOT NULL,
    settled_ms bigint DEFAULT 0 NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sandbox_clocks_ahead_ms_check CHECK (((ahead_ms >= 0) AND (ahead_ms <= '315360000000'::bigint)))
);

ALTER TABLE ONLY public.sandbox_clocks FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sandbox_clocks OWNER TO florin_migrate;

CREATE TABLE public.sandbox_gift_card_operations (
    merchant_account_id text NOT NULL,
    reference text NOT NULL,
    kind text NOT NULL,
    fingerprint text,
    amount bigint NOT NULL,
    currency text,
    redemption_reference text,
    state text NOT NULL,
    refunded_amount bigint DEFAULT 0 NOT NULL,
    provider_reference text NOT NULL,
    error_code text,
    raw_code text,
    raw_message text,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sandbox_gift_card_operations_amount_check CHECK ((amount >= 0)),
    CONSTRAINT sandbox_gift_card_operations_currency_check CHECK ((length(currency) = 3)),
    CONSTRAINT sandbox_gift_card_operations_kind_check CHECK ((kind = ANY (ARRAY['redeem'::text, 'refund'::text, 'activate'::text, 'issue'::text]))),
    CONSTRAINT sandbox_gift_card_operations_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 255))),
    CONSTRAINT sandbox_gift_card_operations_refunded_amount_check CHECK ((refunded_amount >= 0)),
    CONSTRAINT sandbox_gift_card_operations_refunded_fits CHECK ((refunded_amount <= amount)),
    CONSTRAINT sandbox_gift_card_operations_refused CHECK (((state = 'refused'::text) = (error_code IS NOT NULL))),
    CONSTRAINT sandbox_gift_card_operations_reversed CHECK (((state <> 'reversed'::text) OR (kind = 'redeem'::text))),
    CONSTRAINT sandbox_gift_card_operations_state_check CHECK ((state = ANY (ARRAY['done'::text, 'refused'::text, 'reversed'::text])))
);

ALTER TABLE ONLY public.sandbox_gift_card_operations FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sandbox_gift_card_operations OWNER TO florin_migrate;

CREATE TABLE public.sandbox_gift_cards (
    merchant_account_id text NOT NULL,
    fingerprint text NOT NULL,
    opening_balance bigint NOT NULL,
    balance bigint NOT NULL,
    currency text,
    expires_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sandbox_gift_cards_balance_check CHECK ((balance >= 0)),
    CONSTRAINT sandbox_gift_cards_balance_fits CHECK ((balance <= opening_balance)),
    CONSTRAINT sandbox_gift_cards_currency_check CHECK ((length(currency) = 3)),
    CONSTRAINT sandbox_gift_cards_opening_balance_check CHECK ((opening_balance >= 0))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.sandbox_gift_cards FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sandbox_gift_cards OWNER TO florin_migrate;

CREATE TABLE public.sandbox_notifications (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    service_id text NOT NULL,
    url text NOT NULL,
    kind text NOT NULL,
    reference text NOT NULL,
    copies integer NOT NULL,
    is_reversed boolean NOT NULL,
    due_at timestamp(3) with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    sent_at timestamp(3) with time zone,
    CONSTRAINT sandbox_notifications_copies_check CHECK (((copies >= 1) AND (copies <= 10))),
    CONSTRAINT sandbox_notifications_kind_check CHECK ((kind = ANY (ARRAY['operation'::text, 'report'::text]))),
    CONSTRAINT sandbox_notifications_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 255))),
    CONSTRAINT sandbox_notifications_url_check CHECK ((length(url) <= 2000))
);

ALTER TABLE ONLY public.sandbox_notifications FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sandbox_notifications OWNER TO florin_migrate;

CREATE TABLE public.shipping_details (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    first_name text,
    last_name text,
    email_address text,
    phone_number text,
    address jsonb,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT shipping_details_address_check CHECK ((jsonb_typeof(address) = 'object'::text)),
    CONSTRAINT shipping_details_email_address_check CHECK (((length(email_address) >= 1) AND (length(email_address) <= 320))),
    CONSTRAINT shipping_details_first_name_check CHECK (((length(first_name) >= 1) AND (length(first_name) <= 255))),
    CONSTRAINT shipping_details_last_name_check CHECK (((length(last_name) >= 1) AND (length(last_name) <= 255))),
    CONSTRAINT shipping_details_phone_number_check CHECK ((phone_number ~ '^\+[1-9][0-9]{1,14}$'::text))
);

ALTER TABLE ONLY public.shipping_details FORCE ROW LEVEL SECURITY;

ALTER TABLE public.shipping_details OWNER TO florin_migrate;

CREATE TABLE public.simulator_rules (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    description text,
    conditions jsonb NOT NULL,
    outcome jsonb NOT NULL,
    notifications jsonb,
    remaining_uses integer,
    active boolean NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT simulator_rules_description_check CHECK (((length(description) >= 1) AND (length(description) <= 200))),
    CONSTRAINT simulator_rules_remaining_uses_check CHECK ((remaining_uses >= 0))
);

ALTER TABLE ONLY public.simulator_rules FORCE ROW LEVEL SECURITY;

ALTER TABLE public.simulator_rules OWNER TO florin_migrate;

CREATE TABLE public.statement_checks (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    next_check_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY public.statement_checks FORCE ROW LEVEL SECURITY;

ALTER TABLE public.statement_checks OWNER TO florin_migrate;

CREATE TABLE public.statement_lines (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    payment_service_id uuid NOT NULL,
    provider_line_id text NOT NULL,
    payment_service_report_id uuid NOT NULL,
    refund_id uuid,
    posted_at timestamp(3) with time zone NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    exchange_rate double precision,
    commission bigint NOT NULL,
    interchange bigint,
    markup bigint,
    scheme_fee bigint,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT statement_lines_amount_check CHECK ((amount >= 0)),
    CONSTRAINT statement_lines_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT statement_lines_has_refund CHECK (((kind = 'refund-settlement'::text) = (refund_id IS NOT NULL))),
    CONSTRAINT statement_lines_kind_check CHECK ((kind = ANY (ARRAY['settlement'::text, 'refund-settlement'::text, 'chargeback'::text, 'chargeback-reversal'::text]))),
    CONSTRAINT statement_lines_provider_line_id_check CHECK (((length(provider_line_id) >= 1) AND (length(provider_line_id) <= 255)))
);

ALTER TABLE ONLY public.statement_lines FORCE ROW LEVEL SECURITY;

ALTER TABLE public.statement_lines OWNER TO florin_migrate;

CREATE TABLE public.three_ds_scenarios (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    conditions jsonb NOT NULL,
    outcome jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY public.three_ds_scenarios FORCE ROW LEVEL SECURITY;

ALTER TABLE public.three_ds_scenarios OWNER TO florin_migrate;

CREATE TABLE public.transaction_approvals (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    id uuid NOT NULL,
    redirect_url text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT transaction_approvals_redirect_url_check CHECK ((length(redirect_url) <= 5000))
);

ALTER TABLE ONLY public.transaction_approvals FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transaction_approvals OWNER TO florin_migrate;

CREATE TABLE public.transaction_events (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    context text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY public.transaction_events FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transaction_events OWNER TO florin_migrate;

CREATE TABLE public.transaction_facts (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    amount integer NOT NULL,
    currency text NOT NULL,
    country text,
    payment_source text NOT NULL,
    merchant_initiated boolean NOT NULL,
    is_subsequent_payment boolean NOT NULL,
    method text,
    payment_method_id uuid,
    payment_method_label text,
    payment_method_scheme text,
    payment_method_country text,
    payment_method_bin text,
    payment_method_fingerprint text,
    checkout_session_id uuid,
    buyer_id uuid,
    buyer_external_identifier text,
    buyer_email_address text,
    external_identifier text,
    has_gift_card_redemptions boolean DEFAULT false NOT NULL,
    sourcing smallint GENERATED ALWAYS AS (((((array_position(ARRAY['ecommerce'::text, 'moto'::text, 'recurring'::text, 'installment'::text, 'card_on_file'::text], payment_source) * 8) + ((merchant_initiated)::integer * 4)) + ((is_subsequent_payment)::integer * 2)) + (has_gift_card_redemptions)::integer)) STORED NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0.02');
ALTER TABLE ONLY public.transaction_facts ALTER COLUMN currency SET STATISTICS 500;

ALTER TABLE ONLY public.transaction_facts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transaction_facts OWNER TO florin_migrate;

CREATE TABLE public.transaction_gift_cards (
    merchant_account_id text NOT NULL,
    name text NOT NULL,
    value text NOT NULL,
    id uuid NOT NULL,
    CONSTRAINT transaction_gift_cards_name_check CHECK ((name = ANY (ARRAY['id'::text, 'last4'::text])))
);

ALTER TABLE ONLY public.transaction_gift_cards FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transaction_gift_cards OWNER TO florin_migrate;

CREATE TABLE public.transaction_instruments (
    merchant_account_id text NOT NULL,
    transaction_id uuid NOT NULL,
    "position" integer NOT NULL,
    kind text NOT NULL,
    amount bigint NOT NULL,
    authorized_amount bigint NOT NULL,
    capture_limit bigint NOT NULL,
    capturing_amount bigint NOT NULL,
    captured_amount bigint NOT NULL,
    refunding_amount bigint NOT NULL,
    refunded_amount bigint NOT NULL,
    capturable boolean NOT NULL,
    CONSTRAINT transaction_instruments_amount_check CHECK ((amount >= 0)),
    CONSTRAINT transaction_instruments_authorized CHECK ((authorized_amount <= amount)),
    CONSTRAINT transaction_instruments_authorized_amount_check CHECK ((authorized_amount >= 0)),
    CONSTRAINT transaction_instruments_capture_limit_check CHECK ((capture_limit >= 0)),
    CONSTRAINT transaction_instruments_captured CHECK (((captured_amount + capturing_amount) <= capture_limit)),
    CONSTRAINT transaction_instruments_captured_amount_check CHECK ((captured_amount >= 0)),
    CONSTRAINT transaction_instruments_capturing_amount_check CHECK ((capturing_amount >= 0)),
    CONSTRAINT transaction_instruments_kind_check CHECK ((kind = ANY (ARRAY['payment-method'::text, 'gift-card'::text]))),
    CONSTRAINT transaction_instruments_refunded CHECK (((refunded_amount + refunding_amount) <= captured_amount)),
    CONSTRAINT transaction_instruments_refunded_amount_check CHECK ((refunded_amount >= 0)),
    CONSTRAINT transaction_instruments_refunding_amount_check CHECK ((refunding_amount >= 0))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.transaction_instruments FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transaction_instruments OWNER TO florin_migrate;

CREATE TABLE public.transaction_metadata (
    merchant_account_id text NOT NULL,
    name text NOT NULL,
    value text NOT NULL,
    id uuid NOT NULL
);

ALTER TABLE ONLY public.transaction_metadata FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transaction_metadata OWNER TO florin_migrate;

CREATE TABLE public.transaction_states (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    pending_review boolean NOT NULL,
    disputed boolean NOT NULL,
    has_refunds boolean NOT NULL,
    has_settlements boolean NOT NULL,
    used_3ds boolean NOT NULL,
    state smallint GENERATED ALWAYS AS (((((((array_position(ARRAY['processing'::text, 'buyer_approval_pending'::text, 'authorization_succeeded'::text, 'authorization_failed'::text, 'authorization_declined'::text, 'capture_pending'::text, 'capture_succeeded'::text, 'authorization_void_pending'::text, 'authorization_voided'::text], status) * 32) + ((pending_review)::integer * 16)) + ((disputed)::integer * 8)) + ((has_refunds)::integer * 4)) + ((has_settlements)::integer * 2)) + (used_3ds)::integer)) STORED NOT NULL,
    payment_service_id uuid,
    payment_service_transaction_id text,
    error_code text,
    updated_at timestamp(3) with time zone NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.02');
ALTER TABLE ONLY public.transaction_states ALTER COLUMN state SET STATISTICS 500;

ALTER TABLE ONLY public.transaction_states FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transaction_states OWNER TO florin_migrate;

CREATE TABLE public.transactions (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    intent text NOT NULL,
    intent_outcome text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    country text,
    authorized_amount bigint NOT NULL,
    captured_amount bigint NOT NULL,
    refunded_amount bigint NOT NULL,
    external_identifier text,
    buyer_id uuid,
    buyer_external_identifier text,
    payment_method_id uuid,
    method text,
    instrument_type text,
    payment_service_id uuid,
    payment_service_transaction_id text,
    payment_source text NOT NULL,
    merchant_initiated boolean NOT NULL,
    is_subsequent_payment boolean NOT NULL,
    multi_tender boolean DEFAULT false NOT NULL,
    error_code text,
    raw_response_code text,
    raw_response_description text,
    auth_response_code text,
    avs_response_code text,
    cvv_response_code text,
    merchant_advice_code text,
    scheme_transaction_id text,
    pending_review boolean DEFAULT false NOT NULL,
    disputed boolean DEFAULT false NOT NULL,
    settled boolean DEFAULT false NOT NULL,
    settled_amount bigint DEFAULT 0 NOT NULL,
    settled_currency text,
    authorized_at timestamp(3) with time zone,
    captured_at timestamp(3) with time zone,
    voided_at timestamp(3) with time zone,
    canceled_at timestamp(3) with time zone,
    approval_expires_at timestamp(3) with time zone,
    buyer_approval_timedout_at timestamp(3) with time zone,
    metadata text,
    connection_options text,
    summary text NOT NULL,
    details text NOT NULL,
    payment_method text,
    payment_service text,
    rendering integer NOT NULL,
    version integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    checkout_session_id uuid,
    three_d_secure text,
    anti_fraud_decision text,
    gift_card_redemptions text,
    CONSTRAINT transactions_amount_check CHECK (((amount >= 0) AND (amount <= 99999999))),
    CONSTRAINT transactions_authorized_amount_check CHECK ((authorized_amount >= 0)),
    CONSTRAINT transactions_captured_amount_check CHECK ((captured_amount >= 0)),
    CONSTRAINT transactions_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT transactions_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT transactions_external_identifier_check CHECK (((length(external_identifier) >= 1) AND (length(external_identifier) <= 200))),
    CONSTRAINT transactions_intent_check CHECK ((intent = ANY (ARRAY['authorize'::text, 'capture'::text]))),
    CONSTRAINT transactions_intent_outcome_check CHECK ((intent_outcome = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))),
    CONSTRAINT transactions_payment_source_check CHECK ((payment_source = ANY (ARRAY['ecommerce'::text, 'moto'::text, 'recurring'::text, 'installment'::text, 'card_on_file'::text]))),
    CONSTRAINT transactions_refunded CHECK (((refunded_amount >= 0) AND (refunded_amount <= captured_amount))),
    CONSTRAINT transactions_status_check CHECK ((status = ANY (ARRAY['processing'::text, 'buyer_approval_pending'::text, 'authorization_succeeded'::text, 'authorization_failed'::text, 'authorization_declined'::text, 'capture_pending'::text, 'capture_succeeded'::text, 'authorization_void_pending'::text, 'authorization_voided'::text]))),
    CONSTRAINT transactions_updated CHECK ((updated_at > (created_at - '1 day'::interval)))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.transactions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.transactions OWNER TO florin_migrate;

CREATE TABLE public.webhook_attempts (
    merchant_account_id text NOT NULL,
    delivery_id uuid NOT NULL,
    id uuid NOT NULL,
    number integer NOT NULL,
    status_code integer,
    error text,
    duration_ms integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
)
PARTITION BY RANGE (id);

ALTER TABLE ONLY public.webhook_attempts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_attempts OWNER TO florin_migrate;

CREATE TABLE public.webhook_attempts_202611 (
    merchant_account_id text NOT NULL,
    delivery_id uuid NOT NULL,
    id uuid NOT NULL,
    number integer NOT NULL,
    status_code integer,
    error text,
    duration_ms integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE public.webhook_attempts_202611 OWNER TO florin_migrate;

CREATE TABLE public.webhook_attempts_202612 (
    merchant_account_id text NOT NULL,
    delivery_id uuid NOT NULL,
    id uuid NOT NULL,
    number integer NOT NULL,
    status_code integer,
    error text,
    duration_ms integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE public.webhook_attempts_202612 OWNER TO florin_migrate;

CREATE TABLE public.webhook_attempts_202701 (
    merchant_account_id text NOT NULL,
    delivery_id uuid NOT NULL,
    id uuid NOT NULL,
    number integer NOT NULL,
    status_code integer,
    error text,
    duration_ms integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE public.webhook_attempts_202701 OWNER TO florin_migrate;

CREATE TABLE public.webhook_attempts_202702 (
    merchant_account_id text NOT NULL,
    delivery_id uuid NOT NULL,
    id uuid NOT NULL,
    number integer NOT NULL,
    status_code integer,
    error text,
    duration_ms integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE public.webhook_attempts_202702 OWNER TO florin_migrate;

CREATE TABLE public.webhook_deliveries (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    event_id uuid NOT NULL,
    origin text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL,
    status_code integer,
    error text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_due CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_origin_check CHECK ((origin = ANY (ARRAY['event'::text, 'replay'::text, 'test'::text]))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
)
PARTITION BY RANGE (id);

ALTER TABLE ONLY public.webhook_deliveries FORCE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_deliveries OWNER TO florin_migrate;

CREATE TABLE public.webhook_deliveries_202611 (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    event_id uuid NOT NULL,
    origin text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL,
    status_code integer,
    error text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_due CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_origin_check CHECK ((origin = ANY (ARRAY['event'::text, 'replay'::text, 'test'::text]))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);

ALTER TABLE public.webhook_deliveries_202611 OWNER TO florin_migrate;

CREATE TABLE public.webhook_deliveries_202612 (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    event_id uuid NOT NULL,
    origin text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL,
    status_code integer,
    error text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_due CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_origin_check CHECK ((origin = ANY (ARRAY['event'::text, 'replay'::text, 'test'::text]))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);

ALTER TABLE public.webhook_deliveries_202612 OWNER TO florin_migrate;

CREATE TABLE public.webhook_deliveries_202701 (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    event_id uuid NOT NULL,
    origin text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL,
    status_code integer,
    error text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_due CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_origin_check CHECK ((origin = ANY (ARRAY['event'::text, 'replay'::text, 'test'::text]))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);

ALTER TABLE public.webhook_deliveries_202701 OWNER TO florin_migrate;

CREATE TABLE public.webhook_deliveries_202702 (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    event_id uuid NOT NULL,
    origin text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL,
    status_code integer,
    error text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_due CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_origin_check CHECK ((origin = ANY (ARRAY['event'::text, 'replay'::text, 'test'::text]))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);

ALTER TABLE public.webhook_deliveries_202702 OWNER TO florin_migrate;

CREATE TABLE public.webhook_replays (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    from_id uuid NOT NULL,
    to_id uuid NOT NULL,
    event_names text[],
    undelivered_only boolean NOT NULL,
    "position" uuid,
    deliveries bigint DEFAULT 0 NOT NULL,
    finished_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

ALTER TABLE ONLY public.webhook_replays FORCE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_replays OWNER TO florin_migrate;

CREATE TABLE public.webhook_subscriptions (
    merchant_account_id text NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    active boolean NOT NULL,
    event_names text[],
    authentication jsonb,
    secret_name text,
    previous_secret_name text,
    rotating_until timestamp(3) with time zone,
    creator_id uuid,
    creator_name text NOT NULL,
    creator_thumbprint text,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_subscriptions_merchant_account_id_check CHECK (((length(merchant_account_id) >= 1) AND (length(merchant_account_id) <= 50))),
    CONSTRAINT webhook_subscriptions_url_check CHECK (((length(url) >= 1) AND (length(url) <= 2048)))
);

ALTER TABLE ONLY public.webhook_subscriptions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_subscriptions OWNER TO florin_migrate;

CREATE TABLE vault.keys (
    id uuid NOT NULL,
    purpose text NOT NULL,
    version integer NOT NULL,
    state text NOT NULL,
    provider text NOT NULL,
    wrapped bytea,
    encryptions bigint DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    changed_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT keys_erased_when_destroyed CHECK (((state = 'destroyed'::text) = (wrapped IS NULL))),
    CONSTRAINT keys_provider_check CHECK (((length(provider) >= 1) AND (length(provider) <= 200))),
    CONSTRAINT keys_purpose_check CHECK ((purpose = ANY (ARRAY['data'::text, 'fingerprint'::text]))),
    CONSTRAINT keys_state_check CHECK ((state = ANY (ARRAY['active'::text, 'decrypt-only'::text, 'retired'::text, 'destroyed'::text]))),
    CONSTRAINT keys_version_check CHECK ((version > 0))
);

ALTER TABLE vault.keys OWNER TO florin_migrate;

CREATE TABLE vault.secrets (
    created_at timestamp(3) with time zone NOT NULL,
    key_version integer NOT NULL,
    id uuid NOT NULL,
    merchant_account_id text NOT NULL,
    field text NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT secrets_field_check CHECK (((length(field) >= 1) AND (length(field) <= 40))),
    CONSTRAINT secrets_merchant_account_id_check CHECK (((length(merchant_account_id) >= 1) AND (length(merchant_account_id) <= 50))),
    CONSTRAINT secrets_sealed_check CHECK (((length(sealed) >= 30) AND (length(sealed) <= 65536)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE ONLY vault.secrets ALTER COLUMN sealed SET STORAGE EXTERNAL;

ALTER TABLE vault.secrets OWNER TO florin_migrate;

CREATE UNLOGGED TABLE vault.waiting (
    expires_at timestamp(3) with time zone NOT NULL,
    key_version integer NOT NULL,
    id uuid NOT NULL,
    merchant_account_id text NOT NULL,
    field text NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT waiting_field_check CHECK (((length(field) >= 1) AND (length(field) <= 40))),
    CONSTRAINT waiting_merchant_account_id_check CHECK (((length(merchant_account_id) >= 1) AND (length(merchant_account_id) <= 50))),
    CONSTRAINT waiting_sealed_check CHECK (((length(sealed) >= 30) AND (length(sealed) <= 65536)))
);
ALTER TABLE ONLY vault.waiting ALTER COLUMN sealed SET STORAGE EXTERNAL;

ALTER TABLE vault.waiting OWNER TO florin_migrate;

ALTER TABLE ONLY public.webhook_attempts ATTACH PARTITION public.webhook_attempts_202611 FOR VALUES FROM ('01a19467-e800-0000-0000-000000000000') TO ('01a22ee6-b000-0000-0000-000000000000');

ALTER TABLE ONLY public.webhook_attempts ATTACH PARTITION public.webhook_attempts_202612 FOR VALUES FROM ('01a22ee6-b000-0000-0000-000000000000') TO ('01a2ce8b-d400-0000-0000-000000000000');

ALTER TABLE ONLY public.webhook_attempts ATTACH PARTITION public.webhook_attempts_202701 FOR VALUES FROM ('01a2ce8b-d400-0000-0000-000000000000') TO ('01a36e30-f800-0000-0000-000000000000');

ALTER TABLE ONLY public.webhook_attempts ATTACH PARTITION public.webhook_attempts_202702 FOR VALUES FROM ('01a36e30-f800-0000-0000-000000000000') TO ('01a3fe63-0800-0000-0000-000000000000');

ALTER TABLE ONLY public.webhook_deliveries ATTACH PARTITION public.webhook_deliveries_202611 FOR VALUES FROM ('01a19467-e800-0000-0000-000000000000') TO ('01a22ee6-b000-0000-0000-000000000000');

ALTER TABLE ONLY public.webhook_deliveries ATTACH PARTITION public.webhook_deliveries_202612 FOR VALUES FROM ('01a22ee6-b000-0000-0000-000000000000') TO ('01a2ce8b-d400-0000-0000-000000000000');

ALTER TABLE ONLY public.webhook_deliveries ATTACH PARTITION public.webhook_deliveries_202701 FOR VALUES FROM ('01a2ce8b-d400-0000-0000-000000000000') TO ('01a36e30-f800-0000-0000-000000000000');

ALTER TABLE ONLY public.webhook_deliveries ATTACH PARTITION public.webhook_deliveries_202702 FOR VALUES FROM ('01a36e30-f800-0000-0000-000000000000') TO ('01a3fe63-0800-0000-0000-000000000000');

ALTER TABLE ONLY public.account_updater_inquiries
    ADD CONSTRAINT account_updater_inquiries_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.account_updater_jobs
    ADD CONSTRAINT account_updater_jobs_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.anti_fraud_reviews
    ADD CONSTRAINT anti_fraud_reviews_pkey PRIMARY KEY (merchant_account_id, transaction_id);

ALTER TABLE ONLY public.anti_fraud_services
    ADD CONSTRAINT anti_fraud_services_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.api_key_pair_roles
    ADD CONSTRAINT api_key_pair_roles_pkey PRIMARY KEY (api_key_pair_id, role_id);

ALTER TABLE ONLY public.api_key_pairs
    ADD CONSTRAINT api_key_pairs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_key_pairs
    ADD CONSTRAINT api_key_pairs_thumbprint_unique UNIQUE (thumbprint);

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (merchant_account_id, transaction_id, id);

ALTER TABLE ONLY public.audit_logs
    ADD CONSTRAINT audit_logs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.buyers
    ADD CONSTRAINT buyers_external_identifier_unique UNIQUE (external_identifier, merchant_account_id);

ALTER TABLE ONLY public.buyers
    ADD CONSTRAINT buyers_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.captures
    ADD CONSTRAINT captures_pkey PRIMARY KEY (merchant_account_id, transaction_id, id);

ALTER TABLE ONLY public.card_bin_current
    ADD CONSTRAINT card_bin_current_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.card_bin_steps
    ADD CONSTRAINT card_bin_steps_pkey PRIMARY KEY (made_by, at);

ALTER TABLE ONLY public.card_bins
    ADD CONSTRAINT card_bins_pkey PRIMARY KEY (bin_start, bin_end);

ALTER TABLE ONLY public.checkout_sessions
    ADD CONSTRAINT checkout_sessions_id_unique UNIQUE (id);

ALTER TABLE ONLY public.checkout_sessions
    ADD CONSTRAINT checkout_sessions_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.embed_uses
    ADD CONSTRAINT embed_uses_pkey PRIMARY KEY (subject);

ALTER TABLE ONLY public.enrolments
    ADD CONSTRAINT enrolments_id_unique UNIQUE (id);

ALTER TABLE ONLY public.enrolments
    ADD CONSTRAINT enrolments_pkey PRIMARY KEY (merchant_account_id, payment_method_id);

ALTER TABLE ONLY public.event_consumers
    ADD CONSTRAINT event_consumers_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.event_queue
    ADD CONSTRAINT event_queue_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY public.event_stream_queue
    ADD CONSTRAINT event_stream_queue_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.florin_migrations
    ADD CONSTRAINT florin_migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.gift_card_activations
    ADD CONSTRAINT gift_card_activations_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.gift_card_issuances
    ADD CONSTRAINT gift_card_issuances_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.gift_card_redemptions
    ADD CONSTRAINT gift_card_redemptions_pkey PRIMARY KEY (merchant_account_id, transaction_id, id);

ALTER TABLE ONLY public.gift_card_redemptions
    ADD CONSTRAINT gift_card_redemptions_position UNIQUE (merchant_account_id, transaction_id, "position");

ALTER TABLE ONLY public.gift_card_services
    ADD CONSTRAINT gift_card_services_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.gift_cards
    ADD CONSTRAINT gift_cards_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (merchant_account_id, operation, key);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_key_unique UNIQUE (kind, key);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.merchant_accounts
    ADD CONSTRAINT merchant_accounts_list_id_unique UNIQUE (list_id);

ALTER TABLE ONLY public.merchant_accounts
    ADD CONSTRAINT merchant_accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_token_requestors
    ADD CONSTRAINT network_token_requestors_pkey PRIMARY KEY (merchant_account_id, scheme);

ALTER TABLE ONLY public.network_token_requestors
    ADD CONSTRAINT network_token_requestors_unique UNIQUE (requestor_id, app_id);

ALTER TABLE ONLY public.payment_methods
    ADD CONSTRAINT payment_methods_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.payment_services
    ADD CONSTRAINT payment_services_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.provider_notifications
    ADD CONSTRAINT provider_notifications_pkey PRIMARY KEY (merchant_account_id, payment_service_id, id);

ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_slug_unique UNIQUE (slug);

ALTER TABLE ONLY public.sandbox_approvals
    ADD CONSTRAINT sandbox_approvals_call_unique UNIQUE (merchant_account_id, call_id);

ALTER TABLE ONLY public.sandbox_approvals
    ADD CONSTRAINT sandbox_approvals_id_unique UNIQUE (id);

ALTER TABLE ONLY public.sandbox_approvals
    ADD CONSTRAINT sandbox_approvals_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.sandbox_approvals
    ADD CONSTRAINT sandbox_approvals_reference_unique UNIQUE (merchant_account_id, reference);

ALTER TABLE public.sandbox_card_operations
    ADD CONSTRAINT sandbox_card_operations_kind_check CHECK ((kind = ANY (ARRAY['authorize'::text, 'sale'::text, 'late_sale'::text, 'capture'::text, 'void'::text, 'refund'::text, 'cancel'::text, 'enrol'::text, 'never_arrived'::text]))) NOT VALID;

ALTER TABLE ONLY public.sandbox_card_operations
    ADD CONSTRAINT sandbox_card_operations_pkey PRIMARY KEY (merchant_account_id, reference);

ALTER TABLE ONLY public.sandbox_card_payments
    ADD CONSTRAINT sandbox_card_payments_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.sandbox_clocks
    ADD CONSTRAINT sandbox_clocks_pkey PRIMARY KEY (merchant_account_id);

ALTER TABLE ONLY public.sandbox_gift_card_operations
    ADD CONSTRAINT sandbox_gift_card_operations_pkey PRIMARY KEY (merchant_account_id, reference);

ALTER TABLE ONLY public.sandbox_gift_cards
    ADD CONSTRAINT sandbox_gift_cards_pkey PRIMARY KEY (merchant_account_id, fingerprint);

ALTER TABLE ONLY public.sandbox_notifications
    ADD CONSTRAINT sandbox_notifications_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.shipping_details
    ADD CONSTRAINT shipping_details_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.simulator_rules
    ADD CONSTRAINT simulator_rules_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.statement_checks
    ADD CONSTRAINT statement_checks_pkey PRIMARY KEY (merchant_account_id, transaction_id);

ALTER TABLE ONLY public.statement_lines
    ADD CONSTRAINT statement_lines_pkey PRIMARY KEY (merchant_account_id, transaction_id, id);

ALTER TABLE ONLY public.statement_lines
    ADD CONSTRAINT statement_lines_reported_once UNIQUE (merchant_account_id, payment_service_id, provider_line_id);

ALTER TABLE ONLY public.three_ds_scenarios
    ADD CONSTRAINT three_ds_scenarios_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.transaction_approvals
    ADD CONSTRAINT transaction_approvals_id_unique UNIQUE (id);

ALTER TABLE ONLY public.transaction_approvals
    ADD CONSTRAINT transaction_approvals_pkey PRIMARY KEY (merchant_account_id, transaction_id);

ALTER TABLE ONLY public.transaction_events
    ADD CONSTRAINT transaction_events_pkey PRIMARY KEY (merchant_account_id, transaction_id, id);

ALTER TABLE ONLY public.transaction_facts
    ADD CONSTRAINT transaction_facts_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.transaction_gift_cards
    ADD CONSTRAINT transaction_gift_cards_pkey PRIMARY KEY (merchant_account_id, name, value, id);

ALTER TABLE ONLY public.transaction_instruments
    ADD CONSTRAINT transaction_instruments_pkey PRIMARY KEY (merchant_account_id, transaction_id, "position");

ALTER TABLE ONLY public.transaction_metadata
    ADD CONSTRAINT transaction_metadata_pkey PRIMARY KEY (merchant_account_id, name, value, id);

ALTER TABLE ONLY public.transaction_states
    ADD CONSTRAINT transaction_states_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.transactions
    ADD CONSTRAINT transactions_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_pkey PRIMARY KEY (merchant_account_id, delivery_id, id);

ALTER TABLE ONLY public.webhook_attempts_202611
    ADD CONSTRAINT webhook_attempts_202611_pkey PRIMARY KEY (merchant_account_id, delivery_id, id);

ALTER TABLE ONLY public.webhook_attempts_202612
    ADD CONSTRAINT webhook_attempts_202612_pkey PRIMARY KEY (merchant_account_id, delivery_id, id);

ALTER TABLE ONLY public.webhook_attempts_202701
    ADD CONSTRAINT webhook_attempts_202701_pkey PRIMARY KEY (merchant_account_id, delivery_id, id);

ALTER TABLE ONLY public.webhook_attempts_202702
    ADD CONSTRAINT webhook_attempts_202702_pkey PRIMARY KEY (merchant_account_id, delivery_id, id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.webhook_deliveries_202611
    ADD CONSTRAINT webhook_deliveries_202611_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.webhook_deliveries_202612
    ADD CONSTRAINT webhook_deliveries_202612_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.webhook_deliveries_202701
    ADD CONSTRAINT webhook_deliveries_202701_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.webhook_deliveries_202702
    ADD CONSTRAINT webhook_deliveries_202702_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.webhook_replays
    ADD CONSTRAINT webhook_replays_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY public.webhook_subscriptions
    ADD CONSTRAINT webhook_subscriptions_pkey PRIMARY KEY (merchant_account_id, id);

ALTER TABLE ONLY vault.keys
    ADD CONSTRAINT keys_id_unique UNIQUE (id);

ALTER TABLE ONLY vault.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (purpose, version);

ALTER TABLE ONLY vault.secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (merchant_account_id, id, field);

ALTER TABLE ONLY vault.waiting
    ADD CONSTRAINT waiting_pkey PRIMARY KEY (merchant_account_id, id, field);

CREATE INDEX account_updater_inquiries_job_list ON public.account_updater_inquiries USING btree (merchant_account_id, job_id);

CREATE INDEX account_updater_inquiries_method_list ON public.account_updater_inquiries USING btree (merchant_account_id, payment_method_id);

CREATE UNIQUE INDEX account_updater_inquiries_one_running ON public.account_updater_inquiries USING btree (merchant_account_id, payment_method_id) WHERE (status = 'running'::text);

CREATE INDEX anti_fraud_reviews_due ON public.anti_fraud_reviews USING btree (due_at);

CREATE INDEX anti_fraud_services_list ON public.anti_fraud_services USING btree (id);

CREATE UNIQUE INDEX anti_fraud_services_one_active ON public.anti_fraud_services USING btree (merchant_account_id) WHERE active;

CREATE INDEX attempts_due ON public.attempts USING btree (next_check_at) WHERE (state <> 'done'::text);

CREATE UNIQUE INDEX attempts_reference ON public.attempts USING btree (merchant_account_id, id);

CREATE INDEX audit_logs_account ON ONLY public.audit_logs USING btree (merchant_account_id, id);

CREATE INDEX buyers_display_name ON public.buyers USING btree (merchant_account_id, display_name_key, id) WHERE (display_name_key IS NOT NULL);

CREATE INDEX buyers_external_identifier ON public.buyers USING btree (merchant_account_id, external_identifier_key, id) WHERE (external_identifier_key IS NOT NULL);

CREATE INDEX buyers_newest ON public.buyers USING btree (id);

CREATE INDEX checkout_sessions_expiry ON public.checkout_sessions USING btree (expires_at);

CREATE INDEX enrolments_due ON public.enrolments USING btree (next_check_at) WHERE is_open;

CREATE INDEX events_account ON ONLY public.events USING btree (merchant_account_id, id);

CREATE INDEX events_by_name ON ONLY public.events USING btree (merchant_account_id, name, id);

CREATE INDEX events_resource ON ONLY public.events USING btree (resource_id, sequence);

CREATE INDEX gift_card_services_list ON public.gift_card_services USING btree (id);

CREATE UNIQUE INDEX gift_card_services_one_active ON public.gift_card_services USING btree (merchant_account_id) WHERE (active AND (deleted_at IS NULL));

CREATE INDEX gift_cards_list ON public.gift_cards USING btree (id);

CREATE UNIQUE INDEX gift_cards_once_a_buyer ON public.gift_cards USING btree (merchant_account_id, buyer_id, fingerprint) WHERE ((buyer_id IS NOT NULL) AND (archived_at IS NULL));

CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

CREATE INDEX jobs_due ON public.jobs USING btree (run_at);

CREATE INDEX payment_methods_buyer_list ON public.payment_methods USING btree (merchant_account_id, buyer_id, id) WHERE (buyer_id IS NOT NULL);

CREATE UNIQUE INDEX payment_methods_external_identifier_unique ON public.payment_methods USING btree (merchant_account_id, external_identifier) WHERE (external_identifier IS NOT NULL);

CREATE INDEX payment_methods_list ON public.payment_methods USING btree (id);

CREATE INDEX payment_methods_replacement_due ON public.payment_methods USING btree (expires_at) WHERE (replacement IS NOT NULL);

CREATE INDEX payment_services_list ON public.payment_services USING btree (id);

CREATE INDEX payment_services_usable ON public.payment_services USING btree (merchant_account_id, "position", id) WHERE (active AND (NOT is_deleted));

CREATE INDEX provider_notifications_age ON public.provider_notifications USING btree (received_at);

CREATE INDEX refunds_of_transaction ON public.refunds USING btree (merchant_account_id, transaction_id, id);

CREATE INDEX sandbox_card_operations_moves ON public.sandbox_card_operations USING btree (merchant_account_id, payment_id) WHERE (kind = ANY (ARRAY['sale'::text, 'late_sale'::text, 'capture'::text, 'refund'::text]));

CREATE INDEX sandbox_notifications_age ON public.sandbox_notifications USING btree (due_at);

CREATE INDEX sandbox_notifications_due ON public.sandbox_notifications USING btree (due_at) WHERE (sent_at IS NULL);

CREATE INDEX shipping_details_of_buyer ON public.shipping_details USING btree (merchant_account_id, buyer_id, id);

CREATE INDEX simulator_rules_list ON public.simulator_rules USING btree (id);

CREATE INDEX statement_checks_due ON public.statement_checks USING btree (next_check_at);

CREATE INDEX transaction_facts_amount ON public.transaction_facts USING btree (merchant_account_id, amount, id);

CREATE INDEX transaction_facts_bin ON public.transaction_facts USING btree (merchant_account_id, payment_method_bin, id) WHERE (payment_method_bin IS NOT NULL);

CREATE INDEX transaction_facts_buyer ON public.transaction_facts USING btree (merchant_account_id, buyer_id, id) WHERE (buyer_id IS NOT NULL);

CREATE INDEX transaction_facts_buyer_reference ON public.transaction_facts USING btree (merchant_account_id, buyer_external_identifier, id) WHERE (buyer_external_identifier IS NOT NULL);

CREATE INDEX transaction_facts_country ON public.transaction_facts USING btree (merchant_account_id, country, id) WHERE (country IS NOT NULL);

CREATE INDEX transaction_facts_currency ON public.transaction_facts USING btree (merchant_account_id, currency, id);

CREATE INDEX transaction_facts_email ON public.transaction_facts USING btree (merchant_account_id, buyer_email_address, id) WHERE (buyer_email_address IS NOT NULL);

CREATE INDEX transaction_facts_fingerprint ON public.transaction_facts USING btree (merchant_account_id, payment_method_fingerprint, id) WHERE (payment_method_fingerprint IS NOT NULL);

CREATE INDEX transaction_facts_label ON public.transaction_facts USING btree (merchant_account_id, payment_method_label, id) WHERE (payment_method_label IS NOT NULL);

CREATE INDEX transaction_facts_method ON public.transaction_facts USING btree (merchant_account_id, method, id) WHERE (method IS NOT NULL);

CREATE INDEX transaction_facts_method_country ON public.transaction_facts USING btree (merchant_account_id, payment_method_country, id) WHERE (payment_method_country IS NOT NULL);

CREATE INDEX transaction_facts_payment_method_id ON public.transaction_facts USING btree (merchant_account_id, payment_method_id, id) WHERE (payment_method_id IS NOT NULL);

CREATE INDEX transaction_facts_reference ON public.transaction_facts USING btree (merchant_account_id, external_identifier, id) WHERE (external_identifier IS NOT NULL);

CREATE INDEX transaction_facts_scheme ON public.transaction_facts USING btree (merchant_account_id, payment_method_scheme, id) WHERE (payment_method_scheme IS NOT NULL);

CREATE INDEX transaction_facts_session ON public.transaction_facts USING btree (merchant_account_id, checkout_session_id, id) WHERE (checkout_session_id IS NOT NULL);

CREATE INDEX transaction_facts_sourcing ON public.transaction_facts USING btree (merchant_account_id, sourcing, id);

CREATE INDEX transaction_gift_cards_of_transaction ON public.transaction_gift_cards USING btree (merchant_account_id, id);

CREATE INDEX transaction_metadata_of_transaction ON public.transaction_metadata USING btree (merchant_account_id, id);

CREATE INDEX transaction_states_error ON public.transaction_states USING btree (merchant_account_id, error_code, id) WHERE (error_code IS NOT NULL);

CREATE INDEX transaction_states_provider_reference ON public.transaction_states USING btree (merchant_account_id, payment_service_transaction_id, id) WHERE (payment_service_transaction_id IS NOT NULL);

CREATE INDEX transaction_states_service ON public.transaction_states USING btree (merchant_account_id, payment_service_id, id) WHERE (payment_service_id IS NOT NULL);

CREATE INDEX transaction_states_state ON public.transaction_states USING btree (merchant_account_id, state, id);

CREATE INDEX transaction_states_updated ON public.transaction_states USING btree (merchant_account_id, updated_at, id);

CREATE INDEX transactions_list ON public.transactions USING btree (id);

CREATE INDEX webhook_deliveries_expiring ON ONLY public.webhook_deliveries USING btree (expires_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_202611_expires_at_idx ON public.webhook_deliveries_202611 USING btree (expires_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_list ON ONLY public.webhook_deliveries USING btree (id);

CREATE INDEX webhook_deliveries_202611_id_idx ON public.webhook_deliveries_202611 USING btree (id);

CREATE INDEX webhook_deliveries_of_event ON ONLY public.webhook_deliveries USING btree (merchant_account_id, event_id, id);

CREATE INDEX webhook_deliveries_202611_merchant_account_id_event_id_id_idx ON public.webhook_deliveries_202611 USING btree (merchant_account_id, event_id, id);

CREATE INDEX webhook_deliveries_undelivered ON ONLY public.webhook_deliveries USING btree (merchant_account_id, id) WHERE (status <> 'succeeded'::text);

CREATE INDEX webhook_deliveries_202611_merchant_account_id_id_idx ON public.webhook_deliveries_202611 USING btree (merchant_account_id, id) WHERE (status <> 'succeeded'::text);

CREATE INDEX webhook_deliveries_of_subscription ON ONLY public.webhook_deliveries USING btree (merchant_account_id, subscription_id, id);

CREATE INDEX webhook_deliveries_202611_merchant_account_id_subscription__idx ON public.webhook_deliveries_202611 USING btree (merchant_account_id, subscription_id, id);

CREATE INDEX webhook_deliveries_due ON ONLY public.webhook_deliveries USING btree (subscription_id, next_attempt_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_202611_subscription_id_next_attempt_at_idx ON public.webhook_deliveries_202611 USING btree (subscription_id, next_attempt_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_202612_expires_at_idx ON public.webhook_deliveries_202612 USING btree (expires_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_202612_id_idx ON public.webhook_deliveries_202612 USING btree (id);

CREATE INDEX webhook_deliveries_202612_merchant_account_id_event_id_id_idx ON public.webhook_deliveries_202612 USING btree (merchant_account_id, event_id, id);

CREATE INDEX webhook_deliveries_202612_merchant_account_id_id_idx ON public.webhook_deliveries_202612 USING btree (merchant_account_id, id) WHERE (status <> 'succeeded'::text);

CREATE INDEX webhook_deliveries_202612_merchant_account_id_subscription__idx ON public.webhook_deliveries_202612 USING btree (merchant_account_id, subscription_id, id);

CREATE INDEX webhook_deliveries_202612_subscription_id_next_attempt_at_idx ON public.webhook_deliveries_202612 USING btree (subscription_id, next_attempt_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_202701_expires_at_idx ON public.webhook_deliveries_202701 USING btree (expires_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_202701_id_idx ON public.webhook_deliveries_202701 USING btree (id);

CREATE INDEX webhook_deliveries_202701_merchant_account_id_event_id_id_idx ON public.webhook_deliveries_202701 USING btree (merchant_account_id, event_id, id);

CREATE INDEX webhook_deliveries_202701_merchant_account_id_id_idx ON public.webhook_deliveries_202701 USING btree (merchant_account_id, id) WHERE (status <> 'succeeded'::text);

CREATE INDEX webhook_deliveries_202701_merchant_account_id_subscription__idx ON public.webhook_deliveries_202701 USING btree (merchant_account_id, subscription_id, id);

CREATE INDEX webhook_deliveries_202701_subscription_id_next_attempt_at_idx ON public.webhook_deliveries_202701 USING btree (subscription_id, next_attempt_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_202702_expires_at_idx ON public.webhook_deliveries_202702 USING btree (expires_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_202702_id_idx ON public.webhook_deliveries_202702 USING btree (id);

CREATE INDEX webhook_deliveries_202702_merchant_account_id_event_id_id_idx ON public.webhook_deliveries_202702 USING btree (merchant_account_id, event_id, id);

CREATE INDEX webhook_deliveries_202702_merchant_account_id_id_idx ON public.webhook_deliveries_202702 USING btree (merchant_account_id, id) WHERE (status <> 'succeeded'::text);

CREATE INDEX webhook_deliveries_202702_merchant_account_id_subscription__idx ON public.webhook_deliveries_202702 USING btree (merchant_account_id, subscription_id, id);

CREATE INDEX webhook_deliveries_202702_subscription_id_next_attempt_at_idx ON public.webhook_deliveries_202702 USING btree (subscription_id, next_attempt_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_replays_of_subscription ON public.webhook_replays USING btree (merchant_account_id, subscription_id, id);

CREATE INDEX webhook_replays_open ON public.webhook_replays USING btree (id) WHERE (finished_at IS NULL);

CREATE INDEX webhook_subscriptions_list ON public.webhook_subscriptions USING btree (id);

CREATE UNIQUE INDEX keys_one_active ON vault.keys USING btree (purpose) WHERE (state = 'active'::text);

CREATE INDEX secrets_key_version ON vault.secrets USING btree (key_version);

CREATE INDEX waiting_expiry ON vault.waiting USING btree (expires_at);

ALTER INDEX public.webhook_attempts_pkey ATTACH PARTITION public.webhook_attempts_202611_pkey;

ALTER INDEX public.webhook_attempts_pkey ATTACH PARTITION public.webhook_attempts_202612_pkey;

ALTER INDEX public.webhook_attempts_pkey ATTACH PARTITION public.webhook_attempts_202701_pkey;

ALTER INDEX public.webhook_attempts_pkey ATTACH PARTITION public.webhook_attempts_202702_pkey;

ALTER INDEX public.webhook_deliveries_expiring ATTACH PARTITION public.webhook_deliveries_202611_expires_at_idx;

ALTER INDEX public.webhook_deliveries_list ATTACH PARTITION public.webhook_deliveries_202611_id_idx;

ALTER INDEX public.webhook_deliveries_of_event ATTACH PARTITION public.webhook_deliveries_202611_merchant_account_id_event_id_id_idx;

ALTER INDEX public.webhook_deliveries_undelivered ATTACH PARTITION public.webhook_deliveries_202611_merchant_account_id_id_idx;

ALTER INDEX public.webhook_deliveries_of_subscription ATTACH PARTITION public.webhook_deliveries_202611_merchant_account_id_subscription__idx;

ALTER INDEX public.webhook_deliveries_pkey ATTACH PARTITION public.webhook_deliveries_202611_pkey;

ALTER INDEX public.webhook_deliveries_due ATTACH PARTITION public.webhook_deliveries_202611_subscription_id_next_attempt_at_idx;

ALTER INDEX public.webhook_deliveries_expiring ATTACH PARTITION public.webhook_deliveries_202612_expires_at_idx;

ALTER INDEX public.webhook_deliveries_list ATTACH PARTITION public.webhook_deliveries_202612_id_idx;

ALTER INDEX public.webhook_deliveries_of_event ATTACH PARTITION public.webhook_deliveries_202612_merchant_account_id_event_id_id_idx;

ALTER INDEX public.webhook_deliveries_undelivered ATTACH PARTITION public.webhook_deliveries_202612_merchant_account_id_id_idx;

ALTER INDEX public.webhook_deliveries_of_subscription ATTACH PARTITION public.webhook_deliveries_202612_merchant_account_id_subscription__idx;

ALTER INDEX public.webhook_deliveries_pkey ATTACH PARTITION public.webhook_deliveries_202612_pkey;

ALTER INDEX public.webhook_deliveries_due ATTACH PARTITION public.webhook_deliveries_202612_subscription_id_next_attempt_at_idx;

ALTER INDEX public.webhook_deliveries_expiring ATTACH PARTITION public.webhook_deliveries_202701_expires_at_idx;

ALTER INDEX public.webhook_deliveries_list ATTACH PARTITION public.webhook_deliveries_202701_id_idx;

ALTER INDEX public.webhook_deliveries_of_event ATTACH PARTITION public.webhook_deliveries_202701_merchant_account_id_event_id_id_idx;

ALTER INDEX public.webhook_deliveries_undelivered ATTACH PARTITION public.webhook_deliveries_202701_merchant_account_id_id_idx;

ALTER INDEX public.webhook_deliveries_of_subscription ATTACH PARTITION public.webhook_deliveries_202701_merchant_account_id_subscription__idx;

ALTER INDEX public.webhook_deliveries_pkey ATTACH PARTITION public.webhook_deliveries_202701_pkey;

ALTER INDEX public.webhook_deliveries_due ATTACH PARTITION public.webhook_deliveries_202701_subscription_id_next_attempt_at_idx;

ALTER INDEX public.webhook_deliveries_expiring ATTACH PARTITION public.webhook_deliveries_202702_expires_at_idx;

ALTER INDEX public.webhook_deliveries_list ATTACH PARTITION public.webhook_deliveries_202702_id_idx;

ALTER INDEX public.webhook_deliveries_of_event ATTACH PARTITION public.webhook_deliveries_202702_merchant_account_id_event_id_id_idx;

ALTER INDEX public.webhook_deliveries_undelivered ATTACH PARTITION public.webhook_deliveries_202702_merchant_account_id_id_idx;

ALTER INDEX public.webhook_deliveries_of_subscription ATTACH PARTITION public.webhook_deliveries_202702_merchant_account_id_subscription__idx;

ALTER INDEX public.webhook_deliveries_pkey ATTACH PARTITION public.webhook_deliveries_202702_pkey;

ALTER INDEX public.webhook_deliveries_due ATTACH PARTITION public.webhook_deliveries_202702_subscription_id_next_attempt_at_idx;

CREATE TRIGGER api_key_pairs_changed AFTER UPDATE ON public.api_key_pairs FOR EACH ROW WHEN ((((old.active IS DISTINCT FROM new.active) OR (old.merchant_account_ids IS DISTINCT FROM new.merchant_account_ids)) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.florin_announce_key();

CREATE TRIGGER api_key_pairs_created_or_deleted AFTER INSERT OR DELETE ON public.api_key_pairs FOR EACH ROW EXECUTE FUNCTION public.florin_announce_key();

CREATE TRIGGER gift_card_redemptions_find AFTER INSERT ON public.gift_card_redemptions FOR EACH ROW EXECUTE FUNCTION public.florin_find_gift_card();

CREATE TRIGGER transactions_insert_state AFTER INSERT ON public.transactions FOR EACH ROW EXECUTE FUNCTION public.florin_insert_state();

CREATE TRIGGER transactions_update_reference AFTER UPDATE OF external_identifier ON public.transactions FOR EACH ROW WHEN ((old.external_identifier IS DISTINCT FROM new.external_identifier)) EXECUTE FUNCTION public.florin_update_reference();

CREATE TRIGGER transactions_update_state AFTER UPDATE ON public.transactions FOR EACH ROW EXECUTE FUNCTION public.florin_update_state();

CREATE TRIGGER webhook_subscriptions_changed AFTER INSERT OR DELETE OR UPDATE ON public.webhook_subscriptions FOR EACH ROW EXECUTE FUNCTION public.florin_subscription_changed();

ALTER TABLE ONLY public.account_updater_inquiries
    ADD CONSTRAINT account_updater_inquiries_job FOREIGN KEY (merchant_account_id, job_id) REFERENCES public.account_updater_jobs(merchant_account_id, id);

ALTER TABLE ONLY public.account_updater_inquiries
    ADD CONSTRAINT account_updater_inquiries_method FOREIGN KEY (merchant_account_id, payment_method_id) REFERENCES public.payment_methods(merchant_account_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.account_updater_jobs
    ADD CONSTRAINT account_updater_jobs_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.anti_fraud_reviews
    ADD CONSTRAINT anti_fraud_reviews_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.anti_fraud_services
    ADD CONSTRAINT anti_fraud_services_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.api_key_pair_roles
    ADD CONSTRAINT api_key_pair_roles_api_key_pair_id_fkey FOREIGN KEY (api_key_pair_id) REFERENCES public.api_key_pairs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_key_pair_roles
    ADD CONSTRAINT api_key_pair_roles_role_id_fkey FOREIGN KEY (role_id) REFERENCES public.roles(id);

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.buyers
    ADD CONSTRAINT buyers_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.captures
    ADD CONSTRAINT captures_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.checkout_sessions
    ADD CONSTRAINT checkout_sessions_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.enrolments
    ADD CONSTRAINT enrolments_method FOREIGN KEY (merchant_account_id, payment_method_id) REFERENCES public.payment_methods(merchant_account_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.gift_card_activations
    ADD CONSTRAINT gift_card_activations_service FOREIGN KEY (merchant_account_id, gift_card_service_id) REFERENCES public.gift_card_services(merchant_account_id, id);

ALTER TABLE ONLY public.gift_card_issuances
    ADD CONSTRAINT gift_card_issuances_service FOREIGN KEY (merchant_account_id, gift_card_service_id) REFERENCES public.gift_card_services(merchant_account_id, id);

ALTER TABLE ONLY public.gift_card_redemptions
    ADD CONSTRAINT gift_card_redemptions_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.gift_card_services
    ADD CONSTRAINT gift_card_services_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.gift_cards
    ADD CONSTRAINT gift_cards_buyer FOREIGN KEY (merchant_account_id, buyer_id) REFERENCES public.buyers(merchant_account_id, id) ON DELETE SET NULL (buyer_id);

ALTER TABLE ONLY public.gift_cards
    ADD CONSTRAINT gift_cards_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.gift_cards
    ADD CONSTRAINT gift_cards_service FOREIGN KEY (merchant_account_id, gift_card_service_id) REFERENCES public.gift_card_services(merchant_account_id, id);

ALTER TABLE ONLY public.network_token_requestors
    ADD CONSTRAINT network_token_requestors_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.payment_methods
    ADD CONSTRAINT payment_methods_buyer FOREIGN KEY (merchant_account_id, buyer_id) REFERENCES public.buyers(merchant_account_id, id) ON DELETE SET NULL (buyer_id);

ALTER TABLE ONLY public.payment_methods
    ADD CONSTRAINT payment_methods_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.payment_services
    ADD CONSTRAINT payment_services_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.sandbox_clocks
    ADD CONSTRAINT sandbox_clocks_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.shipping_details
    ADD CONSTRAINT shipping_details_buyer FOREIGN KEY (merchant_account_id, buyer_id) REFERENCES public.buyers(merchant_account_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.simulator_rules
    ADD CONSTRAINT simulator_rules_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.statement_checks
    ADD CONSTRAINT statement_checks_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.statement_lines
    ADD CONSTRAINT statement_lines_refund FOREIGN KEY (merchant_account_id, refund_id) REFERENCES public.refunds(merchant_account_id, id);

ALTER TABLE ONLY public.statement_lines
    ADD CONSTRAINT statement_lines_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.three_ds_scenarios
    ADD CONSTRAINT three_ds_scenarios_merchant_account_id_fkey FOREIGN KEY (merchant_account_id) REFERENCES public.merchant_accounts(id);

ALTER TABLE ONLY public.transaction_approvals
    ADD CONSTRAINT transaction_approvals_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.transaction_instruments
    ADD CONSTRAINT transaction_instruments_transaction FOREIGN KEY (merchant_account_id, transaction_id) REFERENCES public.transactions(merchant_account_id, id);

ALTER TABLE ONLY public.webhook_replays
    ADD CONSTRAINT webhook_replays_subscription FOREIGN KEY (merchant_account_id, subscription_id) REFERENCES public.webhook_subscriptions(merchant_account_id, id) ON DELETE CASCADE;

ALTER TABLE public.account_updater_inquiries ENABLE ROW LEVEL SECURITY;

CREATE POLICY account_updater_inquiries_reach ON public.account_updater_inquiries USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.account_updater_jobs ENABLE ROW LEVEL SECURITY;

CREATE POLICY account_updater_jobs_reach ON public.account_updater_jobs USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.anti_fraud_reviews ENABLE ROW LEVEL SECURITY;

CREATE POLICY anti_fraud_reviews_reach ON public.anti_fraud_reviews USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.anti_fraud_services ENABLE ROW LEVEL SECURITY;

CREATE POLICY anti_fraud_services_reach ON public.anti_fraud_services USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.api_key_pair_roles ENABLE ROW LEVEL SECURITY;

CREATE POLICY api_key_pair_roles_reach ON public.api_key_pair_roles USING ((EXISTS ( SELECT
   FROM public.api_key_pairs
  WHERE (api_key_pairs.id = api_key_pair_roles.api_key_pair_id))));

ALTER TABLE public.api_key_pairs ENABLE ROW LEVEL SECURITY;

CREATE POLICY api_key_pairs_reach ON public.api_key_pairs USING (public.florin_reaches_all(merchant_account_ids));

ALTER TABLE public.attempts ENABLE ROW LEVEL SECURITY;

CREATE POLICY attempts_reach ON public.attempts USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.audit_logs ENABLE ROW LEVEL SECURITY;

CREATE POLICY audit_logs_reach ON public.audit_logs FOR SELECT USING (public.florin_reaches(merchant_account_id));

CREATE POLICY audit_logs_write ON public.audit_logs FOR INSERT WITH CHECK (((merchant_account_id IS NULL) OR public.florin_reaches(merchant_account_id)));

ALTER TABLE public.buyers ENABLE ROW LEVEL SECURITY;

CREATE POLICY buyers_reach ON public.buyers USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.captures ENABLE ROW LEVEL SECURITY;

CREATE POLICY captures_reach ON public.captures USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.checkout_sessions ENABLE ROW LEVEL SECURITY;

CREATE POLICY checkout_sessions_reach ON public.checkout_sessions USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.enrolments ENABLE ROW LEVEL SECURITY;

CREATE POLICY enrolments_reach ON public.enrolments USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.event_consumers ENABLE ROW LEVEL SECURITY;

CREATE POLICY event_consumers_reach ON public.event_consumers USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

CREATE POLICY events_reach ON public.events FOR SELECT USING (public.florin_reaches(merchant_account_id));

CREATE POLICY events_write ON public.events FOR INSERT WITH CHECK (((merchant_account_id IS NULL) OR public.florin_reaches(merchant_account_id)));

ALTER TABLE public.gift_card_activations ENABLE ROW LEVEL SECURITY;

CREATE POLICY gift_card_activations_reach ON public.gift_card_activations USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.gift_card_issuances ENABLE ROW LEVEL SECURITY;

CREATE POLICY gift_card_issuances_reach ON public.gift_card_issuances USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.gift_card_redemptions ENABLE ROW LEVEL SECURITY;

CREATE POLICY gift_card_redemptions_reach ON public.gift_card_redemptions USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.gift_card_services ENABLE ROW LEVEL SECURITY;

CREATE POLICY gift_card_services_reach ON public.gift_card_services USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.gift_cards ENABLE ROW LEVEL SECURITY;

CREATE POLICY gift_cards_reach ON public.gift_cards USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.idempotency_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY idempotency_keys_reach ON public.idempotency_keys USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.merchant_accounts ENABLE ROW LEVEL SECURITY;

CREATE POLICY merchant_accounts_reach ON public.merchant_accounts USING (public.florin_reaches(id));

ALTER TABLE public.network_token_requestors ENABLE ROW LEVEL SECURITY;

CREATE POLICY network_token_requestors_reach ON public.network_token_requestors USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.payment_methods ENABLE ROW LEVEL SECURITY;

CREATE POLICY payment_methods_reach ON public.payment_methods USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.payment_services ENABLE ROW LEVEL SECURITY;

CREATE POLICY payment_services_reach ON public.payment_services USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.provider_notifications ENABLE ROW LEVEL SECURITY;

CREATE POLICY provider_notifications_reach ON public.provider_notifications USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.refunds ENABLE ROW LEVEL SECURITY;

CREATE POLICY refunds_reach ON public.refunds USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.sandbox_approvals ENABLE ROW LEVEL SECURITY;

CREATE POLICY sandbox_approvals_reach ON public.sandbox_approvals USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.sandbox_card_operations ENABLE ROW LEVEL SECURITY;

CREATE POLICY sandbox_card_operations_reach ON public.sandbox_card_operations USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.sandbox_card_payments ENABLE ROW LEVEL SECURITY;

CREATE POLICY sandbox_card_payments_reach ON public.sandbox_card_payments USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.sandbox_clocks ENABLE ROW LEVEL SECURITY;

CREATE POLICY sandbox_clocks_reach ON public.sandbox_clocks USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.sandbox_gift_card_operations ENABLE ROW LEVEL SECURITY;

CREATE POLICY sandbox_gift_card_operations_reach ON public.sandbox_gift_card_operations USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.sandbox_gift_cards ENABLE ROW LEVEL SECURITY;

CREATE POLICY sandbox_gift_cards_reach ON public.sandbox_gift_cards USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.sandbox_notifications ENABLE ROW LEVEL SECURITY;

CREATE POLICY sandbox_notifications_reach ON public.sandbox_notifications USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.shipping_details ENABLE ROW LEVEL SECURITY;

CREATE POLICY shipping_details_reach ON public.shipping_details USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.simulator_rules ENABLE ROW LEVEL SECURITY;

CREATE POLICY simulator_rules_reach ON public.simulator_rules USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.statement_checks ENABLE ROW LEVEL SECURITY;

CREATE POLICY statement_checks_reach ON public.statement_checks USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.statement_lines ENABLE ROW LEVEL SECURITY;

CREATE POLICY statement_lines_reach ON public.statement_lines USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.three_ds_scenarios ENABLE ROW LEVEL SECURITY;

CREATE POLICY three_ds_scenarios_reach ON public.three_ds_scenarios USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.transaction_approvals ENABLE ROW LEVEL SECURITY;

CREATE POLICY transaction_approvals_reach ON public.transaction_approvals USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.transaction_events ENABLE ROW LEVEL SECURITY;

CREATE POLICY transaction_events_reach ON public.transaction_events USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.transaction_facts ENABLE ROW LEVEL SECURITY;

CREATE POLICY transaction_facts_reach ON public.transaction_facts USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.transaction_gift_cards ENABLE ROW LEVEL SECURITY;

CREATE POLICY transaction_gift_cards_reach ON public.transaction_gift_cards USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.transaction_instruments ENABLE ROW LEVEL SECURITY;

CREATE POLICY transaction_instruments_reach ON public.transaction_instruments USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.transaction_metadata ENABLE ROW LEVEL SECURITY;

CREATE POLICY transaction_metadata_reach ON public.transaction_metadata USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.transaction_states ENABLE ROW LEVEL SECURITY;

CREATE POLICY transaction_states_reach ON public.transaction_states USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.transactions ENABLE ROW LEVEL SECURITY;

CREATE POLICY transactions_reach ON public.transactions USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.webhook_attempts ENABLE ROW LEVEL SECURITY;

CREATE POLICY webhook_attempts_reach ON public.webhook_attempts USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.webhook_deliveries ENABLE ROW LEVEL SECURITY;

CREATE POLICY webhook_deliveries_reach ON public.webhook_deliveries USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.webhook_replays ENABLE ROW LEVEL SECURITY;

CREATE POLICY webhook_replays_reach ON public.webhook_replays USING (public.florin_reaches(merchant_account_id));

ALTER TABLE public.webhook_subscriptions ENABLE ROW LEVEL SECURITY;

CREATE POLICY webhook_subscriptions_reach ON public.webhook_subscriptions USING (public.florin_reaches(merchant_account_id));

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT ALL ON SCHEMA public TO florin_migrate;
GRANT USAGE ON SCHEMA public TO florin_api;
GRANT USAGE ON SCHEMA public TO florin_worker;
GRANT USAGE ON SCHEMA public TO florin_vault;

GRANT USAGE ON SCHEMA vault TO florin_vault;

REVOKE ALL ON FUNCTION public.florin_drop_partitions(parent text, keep_months integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.florin_drop_partitions(parent text, keep_months integer) TO florin_worker;

REVOKE ALL ON FUNCTION public.florin_has_worker() FROM PUBLIC;
GRANT ALL ON FUNCTION public.florin_has_worker() TO florin_api;

REVOKE ALL ON FUNCTION public.florin_make_partitions(months_ahead integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.florin_make_partitions(months_ahead integer) TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.account_updater_inquiries TO florin_api;
GRANT SELECT,UPDATE ON TABLE public.account_updater_inquiries TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.account_updater_jobs TO florin_api;

GRANT SELECT,INSERT,DELETE ON TABLE public.anti_fraud_reviews TO florin_api;
GRANT SELECT,DELETE,UPDATE ON TABLE public.anti_fraud_reviews TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.anti_fraud_services TO florin_api;

GRANT SELECT,INSERT,DELETE ON TABLE public.api_key_pair_roles TO florin_api;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_key_pairs TO florin_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.attempts TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.attempts TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.audit_logs TO florin_api;
GRANT SELECT,INSERT ON TABLE public.audit_logs TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.buyers TO florin_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.captures TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.captures TO florin_worker;

GRANT SELECT ON TABLE public.card_bin_current TO florin_api;
GRANT SELECT,UPDATE ON TABLE public.card_bin_current TO florin_worker;

GRANT SELECT ON TABLE public.card_bin_steps TO florin_api;
GRANT SELECT,INSERT,DELETE ON TABLE public.card_bin_steps TO florin_worker;

GRANT SELECT ON TABLE public.card_bins TO florin_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.card_bins TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.checkout_sessions TO florin_api;
GRANT SELECT,DELETE ON TABLE public.checkout_sessions TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.embed_uses TO florin_api;
GRANT SELECT,DELETE ON TABLE public.embed_uses TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.enrolments TO florin_api;
GRANT SELECT,UPDATE ON TABLE public.enrolments TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.event_consumers TO florin_api;

GRANT INSERT ON TABLE public.event_queue TO florin_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.event_queue TO florin_worker;

GRANT SELECT,INSERT,DELETE ON TABLE public.event_stream_queue TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.events TO florin_api;
GRANT SELECT,INSERT ON TABLE public.events TO florin_worker;

GRANT SELECT ON TABLE public.florin_migrations TO florin_api;
GRANT SELECT ON TABLE public.florin_migrations TO florin_worker;
GRANT SELECT ON TABLE public.florin_migrations TO florin_vault;

GRANT SELECT,INSERT,UPDATE ON TABLE public.gift_card_activations TO florin_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.gift_card_issuances TO florin_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.gift_card_redemptions TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.gift_card_redemptions TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.gift_card_services TO florin_api;
GRANT SELECT ON TABLE public.gift_card_services TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gift_cards TO florin_api;
GRANT SELECT ON TABLE public.gift_cards TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.idempotency_keys TO florin_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_keys TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.jobs TO florin_worker;
GRANT INSERT ON TABLE public.jobs TO florin_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.merchant_accounts TO florin_api;
GRANT SELECT ON TABLE public.merchant_accounts TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.network_token_requestors TO florin_api;
GRANT SELECT ON TABLE public.network_token_requestors TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.payment_methods TO florin_api;
GRANT SELECT,UPDATE ON TABLE public.payment_methods TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.payment_services TO florin_api;
GRANT SELECT ON TABLE public.payment_services TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.provider_notifications TO florin_api;
GRANT SELECT,DELETE ON TABLE public.provider_notifications TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.refunds TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.refunds TO florin_worker;

GRANT SELECT ON TABLE public.roles TO florin_api;
GRANT SELECT ON TABLE public.roles TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_approvals TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_approvals TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_card_operations TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_card_operations TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_card_payments TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_card_payments TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_clocks TO florin_api;
GRANT SELECT,UPDATE ON TABLE public.sandbox_clocks TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_gift_card_operations TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_gift_card_operations TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_gift_cards TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.sandbox_gift_cards TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.sandbox_notifications TO florin_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sandbox_notifications TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.shipping_details TO florin_api;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.simulator_rules TO florin_api;
GRANT SELECT,UPDATE ON TABLE public.simulator_rules TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.statement_checks TO florin_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.statement_checks TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.statement_lines TO florin_api;
GRANT SELECT,INSERT ON TABLE public.statement_lines TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.three_ds_scenarios TO florin_api;
GRANT SELECT ON TABLE public.three_ds_scenarios TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.transaction_approvals TO florin_api;

GRANT SELECT,INSERT ON TABLE public.transaction_events TO florin_api;
GRANT SELECT,INSERT ON TABLE public.transaction_events TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.transaction_facts TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.transaction_facts TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.transaction_gift_cards TO florin_api;
GRANT SELECT,INSERT ON TABLE public.transaction_gift_cards TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.transaction_instruments TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.transaction_instruments TO florin_worker;

GRANT SELECT,INSERT,DELETE ON TABLE public.transaction_metadata TO florin_api;
GRANT SELECT,INSERT,DELETE ON TABLE public.transaction_metadata TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.transaction_states TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.transaction_states TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.transactions TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.transactions TO florin_worker;

GRANT SELECT ON TABLE public.webhook_attempts TO florin_api;
GRANT SELECT,INSERT ON TABLE public.webhook_attempts TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE public.webhook_deliveries TO florin_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.webhook_deliveries TO florin_worker;

GRANT SELECT,INSERT ON TABLE public.webhook_replays TO florin_api;
GRANT SELECT,UPDATE ON TABLE public.webhook_replays TO florin_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_subscriptions TO florin_api;
GRANT SELECT,UPDATE ON TABLE public.webhook_subscriptions TO florin_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE vault.keys TO florin_vault;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE vault.secrets TO florin_vault;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE vault.waiting TO florin_vault;
