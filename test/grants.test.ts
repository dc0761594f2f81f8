import { expect, test } from 'vitest'
import { useDatabase } from './database.ts'

const database = useDatabase()

/** Who may do what, exactly. A new table adds its line here. */
const expected: Record<string, Record<string, string>> = {
  florin_api: {
    account_updater_inquiries: 'INSERT SELECT',
    account_updater_jobs: 'INSERT SELECT',
    anti_fraud_reviews: 'DELETE INSERT SELECT',
    anti_fraud_services: 'DELETE INSERT SELECT UPDATE',
    api_key_pair_roles: 'DELETE INSERT SELECT',
    api_key_pairs: 'DELETE INSERT SELECT UPDATE',
    attempts: 'INSERT SELECT UPDATE',
    audit_logs: 'INSERT SELECT',
    buyers: 'DELETE INSERT SELECT UPDATE',
    captures: 'INSERT SELECT UPDATE',
    card_bin_current: 'SELECT',
    card_bin_steps: 'SELECT',
    card_bins: 'SELECT',
    checkout_sessions: 'DELETE INSERT SELECT UPDATE',
    embed_uses: 'INSERT SELECT UPDATE',
    enrolments: 'INSERT SELECT UPDATE',
    event_consumers: 'INSERT SELECT UPDATE',
    event_queue: 'INSERT',
    events: 'INSERT SELECT',
    florin_migrations: 'SELECT',
    gift_card_activations: 'INSERT SELECT UPDATE',
    gift_card_issuances: 'INSERT SELECT UPDATE',
    gift_card_redemptions: 'INSERT SELECT UPDATE',
    gift_card_services: 'INSERT SELECT UPDATE',
    gift_cards: 'DELETE INSERT SELECT UPDATE',
    idempotency_keys: 'INSERT SELECT UPDATE',
    jobs: 'INSERT',
    merchant_accounts: 'INSERT SELECT UPDATE',
    network_token_requestors: 'DELETE INSERT SELECT UPDATE',
    payment_methods: 'DELETE INSERT SELECT UPDATE',
    payment_services: 'INSERT SELECT UPDATE',
    provider_notifications: 'INSERT SELECT',
    refunds: 'INSERT SELECT UPDATE',
    roles: 'SELECT',
    sandbox_approvals: 'INSERT SELECT UPDATE',
    sandbox_card_operations: 'INSERT SELECT UPDATE',
    sandbox_card_payments: 'INSERT SELECT UPDATE',
    sandbox_clocks: 'INSERT SELECT UPDATE',
    sandbox_gift_card_operations: 'INSERT SELECT UPDATE',
    sandbox_gift_cards: 'INSERT SELECT UPDATE',
    sandbox_notifications: 'INSERT SELECT',
    shipping_details: 'DELETE INSERT SELECT UPDATE',
    simulator_rules: 'DELETE INSERT SELECT UPDATE',
    statement_checks: 'DELETE INSERT SELECT UPDATE',
    statement_lines: 'INSERT SELECT',
    three_ds_scenarios: 'DELETE INSERT SELECT UPDATE',
    transaction_approvals: 'INSERT SELECT',
    transaction_events: 'INSERT SELECT',
    transaction_facts: 'INSERT SELECT UPDATE',
    transaction_gift_cards: 'INSERT SELECT',
    transaction_instruments: 'INSERT SELECT UPDATE',
    transaction_metadata: 'DELETE INSERT SELECT',
    transaction_states: 'INSERT SELECT UPDATE',
    transactions: 'INSERT SELECT UPDATE',
    webhook_attempts: 'SELECT',
    webhook_deliveries: 'INSERT SELECT UPDATE',
    webhook_replays: 'INSERT SELECT',
    webhook_subscriptions: 'DELETE INSERT SELECT UPDATE',
  },
  florin_worker: {
    account_updater_inquiries: 'SELECT UPDATE',
    anti_fraud_reviews: 'DELETE SELECT UPDATE',
    attempts: 'INSERT SELECT UPDATE',
    audit_logs: 'INSERT SELECT',
    captures: 'INSERT SELECT UPDATE',
    card_bin_current: 'SELECT UPDATE',
    card_bin_steps: 'DELETE INSERT SELECT',
    card_bins: 'DELETE INSERT SELECT UPDATE',
    checkout_sessions: 'DELETE SELECT',
    embed_uses: 'DELETE SELECT',
    enrolments: 'SELECT UPDATE',
    event_queue: 'DELETE INSERT SELECT UPDATE',
    event_stream_queue: 'DELETE INSERT SELECT',
    events: 'INSERT SELECT',
    florin_migrations: 'SELECT',
    gift_card_redemptions: 'INSERT SELECT UPDATE',
    gift_card_services: 'SELECT',
    gift_cards: 'SELECT',
    idempotency_keys: 'DELETE INSERT SELECT UPDATE',
    jobs: 'DELETE INSERT SELECT UPDATE',
    merchant_accounts: 'SELECT',
    network_token_requestors: 'SELECT',
    payment_methods: 'SELECT UPDATE',
    payment_services: 'SELECT',
    provider_notifications: 'DELETE SELECT',
    refunds: 'INSERT SELECT UPDATE',
    roles: 'SELECT',
    sandbox_approvals: 'INSERT SELECT UPDATE',
    sandbox_card_operations: 'INSERT SELECT UPDATE',
    sandbox_card_payments: 'INSERT SELECT UPDATE',
    sandbox_clocks: 'SELECT UPDATE',
    sandbox_gift_card_operations: 'INSERT SELECT UPDATE',
    sandbox_gift_cards: 'INSERT SELECT UPDATE',
    sandbox_notifications: 'DELETE INSERT SELECT UPDATE',
    simulator_rules: 'SELECT UPDATE',
    statement_checks: 'DELETE INSERT SELECT UPDATE',
    statement_lines: 'INSERT SELECT',
    three_ds_scenarios: 'SELECT',
    transaction_events: 'INSERT SELECT',
    transaction_facts: 'INSERT SELECT UPDATE',
    transaction_gift_cards: 'INSERT SELECT',
    transaction_instruments: 'INSERT SELECT UPDATE',
    transaction_metadata: 'DELETE INSERT SELECT',
    transaction_states: 'INSERT SELECT UPDATE',
    transactions: 'INSERT SELECT UPDATE',
    webhook_attempts: 'INSERT SELECT',
    webhook_deliveries: 'INSERT SELECT UPDATE',
    webhook_replays: 'SELECT UPDATE',
    webhook_subscriptions: 'SELECT UPDATE',
  },
  florin_vault: {
    florin_migrations: 'SELECT',
    keys: 'INSERT SELECT UPDATE',
    secrets: 'DELETE INSERT SELECT UPDATE',
    waiting: 'DELETE INSERT SELECT UPDATE',
  },
}

test('the grants on tables are exactly these', async () => {
  const rows = await database.query<{ grantee: string; name: string; privileges: string }>(`
    select grantee, table_name as name, string_agg(privilege_type, ' ' order by privilege_type) as privileges
    from information_schema.role_table_grants
    where table_schema in ('public', 'vault') and grantee in ('florin_api', 'florin_worker', 'florin_vault', 'PUBLIC')
    group by grantee, table_name`)
  const actual: Record<string, Record<string, string>> = {}
  for (const { grantee, name, privileges } of rows) actual[grantee] = { ...actual[grantee], [name]: privileges }
  expect(actual).toEqual(expected)
})

test('schemas: the api cannot enter the vault, the vault sees its own and the migrations', async () => {
  const rows = await database.query<{ role: string; schema: string }>(`
    select rolname as role, nspname as schema from pg_roles, pg_namespace
    where rolname in ('florin_api', 'florin_worker', 'florin_vault') and nspname in ('public', 'vault')
      and has_schema_privilege(rolname, nspname, 'usage') order by 1, 2`)
  expect(rows.map(({ role, schema }) => `${role} ${schema}`)).toEqual([
    'florin_api public',
    'florin_vault public',
    'florin_vault vault',
    'florin_worker public',
  ])
})

test('what runs as its owner: changes of the schema for the worker alone, and one question of the api', async () => {
  const rows = await database.query<{ name: string; role: string }>(`
    select proname as name, rolname as role from pg_proc, pg_roles
    where pronamespace = 'public'::regnamespace and prosecdef and rolname in ('florin_api', 'florin_worker', 'florin_vault')
      and has_function_privilege(rolname, pg_proc.oid, 'execute') order by 1`)
  expect(rows).toEqual([
    { name: 'florin_drop_partitions', role: 'florin_worker' },
    { name: 'florin_has_worker', role: 'florin_api' },
    { name: 'florin_make_partitions', role: 'florin_worker' },
  ])
})

test('no role can step over a wall: none is superuser, creates roles, bypasses row level security or owns a table', async () => {
  const rows = await database.query(`
    select rolname from pg_roles
    where rolname like 'florin_%' and rolname not in ('florin_admin', 'florin_plain') and (rolsuper or rolcreaterole or rolcreatedb or rolbypassrls)`)
  expect(rows).toEqual([])
  const owners = await database.query(`
    select relname from pg_class join pg_namespace n on n.oid = relnamespace
    where nspname in ('public', 'vault') and pg_get_userbyid(relowner) <> 'florin_migrate'`)
  expect(owners).toEqual([])
})

test('every table that names a merchant account has row level security, for its owner too', async () => {
  const rows = await database.query<{ name: string }>(`
    select distinct relname as name from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and (attname in ('merchant_account_id', 'merchant_account_ids') or relname = 'merchant_accounts')
      and not (relrowsecurity and relforcerowsecurity)`)
  expect(rows).toEqual([])
})

test('the audit log can be added to and read, never changed, by any role but the owner', async () => {
  for (const role of ['florin_api', 'florin_worker', 'florin_vault'] as const) {
    for (const privilege of ['update', 'delete', 'truncate']) {
      const [row] = await database.query<{ may: boolean }>('select has_table_privilege($1, $2, $3) as may', [
        role,
        'audit_logs',
        privilege,
      ])
      expect(row?.may, `${role} ${privilege}`).toBe(false)
    }
  }
})
