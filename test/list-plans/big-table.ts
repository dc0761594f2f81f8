import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/**
 * 200,000 transactions over three years: more than half of one account, the others of twenty. What a column says of a transaction: `few` of the oldest of
 * its account, `many` of about half of the others, something else of the rest; each column by a coin of its own.
 */
export const bigAccount = 'big'
export const smallAccounts = Array.from({ length: 20 }, (_, index) => `small-${String(index + 1).padStart(2, '0')}`)
export const sizes = { big: 120_000, small: 4_000 }
export const few = 20
/** What is true of the oldest transactions of an account: the 20 of the big one, two of each small one. */
const isOld = `n <= case account when '${bigAccount}' then ${few} else 2 end`

const first = Date.parse('2023-11-01T00:00:00Z')
const years = 3 * 365 * 24 * 60 * 60 * 1000
const step = Math.floor(years / sizes.big)
/** When the transaction of the big account with this number was made. */
export const madeAt = (number: number) => new Date(first + number * step)
/** Later than everything was made: when the oldest were changed last. */
export const changedLate = new Date(first + years + 24 * 60 * 60 * 1000)

const uuidOf = (kind: string, text: string) => `(substr(md5('${kind}' || ${text}), 1, 32))::uuid`
export const fewUuid = '00000000-0000-4000-8000-000000000001'
export const manyUuid = '00000000-0000-4000-8000-000000000002'

/** Each column has its own coin: `seed`. */
const chosen = (seed: number, fewValue: string, manyValue: string, other: string) =>
  `case when ${isOld} then ${fewValue} when hashint8extended(n, ${seed}) % 2 = 0 then ${manyValue} else ${other} end`
const oneOf = (seed: number, values: readonly string[]) =>
  `(array[${values.map((value) => `'${value}'`).join()}])[1 + abs(hashint8extended(n, ${seed + 100}) % ${values.length})]`
const text = (seed: number, kind: string) => chosen(seed, "'few'", "'many'", `'${kind}-' || account || n`)
const uuid = (seed: number, kind: string) => chosen(seed, `'${fewUuid}'`, `'${manyUuid}'`, uuidOf(kind, 'account || n'))

const facts: Record<string, string> = {
  // Of the oldest, one half has the largest amounts and the other the smallest.
  amount: `case when ${isOld} then (n % 2) * 1000000 + n when hashint8extended(n, 1) % 2 = 0 then 5000 else 100 + abs(hashint8extended(n, 101) % 9900) end`,
  currency: chosen(2, "'SEK'", "'EUR'", oneOf(2, ['USD', 'GBP', 'CHF', 'PLN'])),
  country: chosen(3, "'SE'", "'DE'", oneOf(3, ['US', 'GB', 'CH', 'PL'])),
  payment_source: chosen(4, "'moto'", "'ecommerce'", oneOf(4, ['recurring', 'card_on_file'])),
  merchant_initiated: `not (${isOld}) and hashint8extended(n, 5) % 2 = 0`,
  is_subsequent_payment: isOld,
  has_gift_card_redemptions: isOld,
  method: chosen(7, "'klarna'", "'card'", oneOf(7, ['paypal', 'ideal', 'sofort'])),
  payment_method_id: uuid(8, 'method'),
  payment_method_label: chosen(9, "'few'", "'many'", '(1000 + abs(hashint8extended(n, 109) % 9000))::text'),
  payment_method_scheme: chosen(10, "'jcb'", "'visa'", oneOf(10, ['mastercard', 'amex', 'discover'])),
  payment_method_country: chosen(11, "'SE'", "'DE'", oneOf(11, ['US', 'GB', 'CH', 'PL'])),
  payment_method_bin: chosen(12, "'few'", "'many'", '(40000000 + abs(hashint8extended(n, 112) % 3000))::text'),
  payment_method_fingerprint: text(13, 'fingerprint'),
  checkout_session_id: uuid(14, 'session'),
  buyer_id: uuid(15, 'buyer'),
  buyer_external_identifier: text(16, 'buyer'),
  buyer_email_address: text(17, 'mail'),
  external_identifier: text(18, 'order'),
}
const states: Record<string, string> = {
  status: chosen(
    20,
    "'authorization_failed'",
    "'capture_succeeded'",
    oneOf(20, ['authorization_succeeded', 'authorization_declined', 'processing']),
  ),
  pending_review: isOld,
  disputed: 'false',
  has_refunds: `not (${isOld}) and hashint8extended(n, 23) % 2 = 0`,
  has_settlements: `not (${isOld}) and hashint8extended(n, 24) % 2 = 0`,
  used_3ds: isOld,
  payment_service_id: chosen(
    26,
    `'${fewUuid}'`,
    `'${manyUuid}'`,
    uuidOf('service', `(hashint8extended(n, 126) % 5)::text`),
  ),
  payment_service_transaction_id: text(27, 'reference'),
  error_code: chosen(28, "'expired_card'", "'insufficient_funds'", oneOf(28, ['do_not_honor', 'suspected_fraud'])),
  updated_at: `case when ${isOld} then timestamptz '${changedLate.toISOString()}' else created_at + interval '1 hour' end`,
}

const wideColumns = `merchant_account_id, id, status, intent, intent_outcome, amount, currency, authorized_amount, captured_amount, refunded_amount,
  payment_source, merchant_initiated, is_subsequent_payment, summary, details, rendering, version, created_at, updated_at`

/** As the superuser: fills the tables with their triggers off and their indexes away, which takes seconds instead of minutes. */
export async function fillBigTable(client: pg.Client): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `
    select indexname as name, indexdef as definition from pg_indexes
    where tablename = any($1) and indexname not like '%\\_pkey'`,
    [narrowTables],
  )
  await client.query(
    "set session_replication_role = replica; set maintenance_work_mem = '256MB'; set synchronous_commit = off",
  )
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  // Before there is anything to do for it: while it looks at one table, rows of another do not become visible to all, and plans depend on that.
  for (const table of tables) await client.query(`alter table ${table} set (autovacuum_enabled = off)`)
  await client.query(
    `
    insert into merchant_accounts (id, list_id, display_name, account_updater_enabled, async_network_tokens_enabled, created_at, updated_at)
    select id, md5(id)::uuid, id, false, false, now(), now() from unnest($1::text[]) as made (id)`,
    [[bigAccount, ...smallAccounts]],
  )
  await client.query(
    `
    create temporary table made as
    select account, n, created_at,
      (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(account || n), 1, 3) || '8' || substr(md5(account || n), 4, 15))::uuid as id
    from (
      select account, n, timestamptz '${new Date(first).toISOString()}' + n::bigint * spacing * interval '1 ms' as created_at
      from (select '${bigAccount}' as account, ${sizes.big} as size, ${step} as spacing
        union all select unnest($1::text[]), ${sizes.small}, ${Math.floor(years / sizes.small)}) as accounts,
        lateral generate_series(1, size) as n
    ) as numbered
    order by id`,
    [smallAccounts],
  )
  await insertInto(client, 'transaction_facts', facts)
  await insertInto(client, 'transaction_states', states)
  await client.query(`
    insert into transaction_metadata (merchant_account_id, name, value, id)
    select account, 'order', ${text(30, 'order')}, id from made`)
  await client.query(`
    insert into transaction_gift_cards (merchant_account_id, name, value, id)
    select account, 'id', (${uuid(31, 'gift card')})::text, id from made
    union all
    select account, 'last4', ${chosen(32, "'0020'", "'4242'", "lpad(abs(hashint8extended(n, 132) % 9000)::text, 4, '0')")}, id from made`)
  await client.query(`
    insert into transactions (${wideColumns})
    select account, id, 'processing', 'authorize', 'pending', 1, 'EUR', 0, 0, 0, 'ecommerce', false, false, '"amount":1', '"merchant_initiated":false', 1, 1,
      created_at, created_at
    from made`)
  for (const { definition } of indexes) await client.query(definition)
  await client.query('set session_replication_role = origin')
  // All rows are looked at instead of a sample: which plan is chosen must not be chance.
  await client.query('set default_statistics_target = 1000')
  for (const table of tables) await makeVisible(client, table)
  await client.query('analyze merchant_accounts')
}

/** To all; whoever else looks at anything in this database, as autovacuum does, puts that off, and another plan would be chosen. */
async function makeVisible(client: pg.Client, table: string): Promise<void> {
  for (let left = 60; ; left -= 1) {
    await client.query(`vacuum analyze ${table}`)
    const { rows } = await client.query<{ isVisible: boolean }>(
      `select relallvisible >= relpages as "isVisible" from pg_class where oid = $1::regclass`,
      [table],
    )
    if (rows[0]?.isVisible) return
    if (left === 0) throw new Error(`the rows of ${table} do not become visible to all`)
    await sleep(1_000)
  }
}

/** Those that lists filter in. */
export const narrowTables = [
  'transaction_facts',
  'transaction_states',
  'transaction_metadata',
  'transaction_gift_cards',
]
export const tables = ['transactions', ...narrowTables]

async function insertInto(client: pg.Client, table: string, columns: Record<string, string>): Promise<void> {
  await client.query(`
    insert into ${table} (merchant_account_id, id, ${Object.keys(columns).join()})
    select account, id, ${Object.entries(columns)
      .map(([name, value]) => (name.endsWith('_id') && !name.endsWith('transaction_id') ? `(${value})::uuid` : value))
      .join()} from made`)
}
