/** Payments as a shop has them, as SQL: number n is always the same. What `npm run bench:list-writes` fills its tables with and writes to them. */

const chance = (seed: number) => `abs(hashint8extended(n, ${seed}) % 100)`
const pick = (seed: number, count: number | string) => `abs(hashint8extended(n, ${seed}) % (${count}))`
const oneOf = (seed: number, values: readonly string[]) =>
  `(array[${values.map((value) => `'${value}'`).join()}])[1 + ${pick(seed, values.length)}]`
const sometimes = (seed: number, percent: number, value: string) =>
  `case when ${chance(seed)} < ${percent} then ${value} end`

/** One account has half of the payments, 200 share the others. */
const numbered = (from: number, count: number) => `
  select n, account, created_at,
    (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
      || '8' || substr(md5(n::text), 4, 15))::uuid as id
  from (
    select n, case when n % 2 = 0 then 'big' else 'small-' || ${pick(1, 200)} end as account,
      timestamptz '2023-11-01Z' + n * interval '90 ms' as created_at
    from generate_series(${from}::bigint, ${from + count - 1}) as n
  ) as timed`

/** A third as many cards as payments, a fifth as many buyers. */
const card = pick(10, 'n / 3 + 1')
const buyer = pick(20, 'n / 5 + 1')
const last4 = `lpad((${card} % 10000)::text, 4, '0')`
const facts: Record<string, string> = {
  amount: `100 + ${pick(30, 50_000)}`,
  currency: oneOf(31, ['EUR', 'EUR', 'EUR', 'USD', 'GBP']),
  country: oneOf(32, ['DE', 'FR', 'NL', 'US', 'GB']),
  payment_source: oneOf(33, ['ecommerce', 'ecommerce', 'ecommerce', 'recurring', 'card_on_file']),
  merchant_initiated: `${chance(34)} < 20`,
  is_subsequent_payment: `${chance(35)} < 20`,
  method: oneOf(36, ['card', 'card', 'card', 'card', 'paypal']),
  payment_method_id: sometimes(37, 50, `md5('method' || ${card})::uuid`),
  payment_method_label: last4,
  payment_method_scheme: oneOf(38, ['visa', 'mastercard', 'amex']),
  payment_method_country: oneOf(39, ['DE', 'FR', 'NL', 'US', 'GB']),
  payment_method_bin: `(41000000 + ${card} % 3000)::text`,
  payment_method_fingerprint: `md5('left' || ${card}) || md5('right' || ${card})`,
  checkout_session_id: sometimes(40, 50, `md5('session' || n)::uuid`),
  buyer_id: sometimes(41, 70, `md5('buyer' || ${buyer})::uuid`),
  buyer_external_identifier: sometimes(41, 70, `'customer-' || ${buyer}`),
  buyer_email_address: sometimes(41, 70, `'customer-' || ${buyer} || '@example.com'`),
  external_identifier: `'order-' || n`,
}

const begun: Record<string, string> = {
  status: `'processing'`,
  pending_review: 'false',
  disputed: 'false',
  has_refunds: 'false',
  has_settlements: 'false',
  used_3ds: `${chance(50)} < 30`,
  payment_service_id: `md5('service' || ${pick(51, 5)})::uuid`,
  payment_service_transaction_id: 'null::text',
  error_code: 'null::text',
  updated_at: 'created_at',
}
/** What becomes of it: one in ten is declined. */
const outcome: Record<string, string> = {
  status: `case when ${chance(52)} < 90 then 'capture_succeeded' else 'authorization_declined' end`,
  payment_service_transaction_id: `md5('reference' || n)`,
  error_code: `case when ${chance(52)} < 90 then null else 'insufficient_funds' end`,
  updated_at: `created_at + interval '1 second'`,
}

/** What is computed before, so that only the writing is measured; and the writing. */
export interface Statement {
  prepare: string
  run: string
}

const prepared = (name: string, columns: Record<string, string>, from: number, count: number) => `
  create temporary table ${name} on commit drop as
    select account as merchant_account_id, id, ${Object.entries(columns)
      .map(([column, value]) => `${value} as ${column}`)
      .join()}
    from (${numbered(from, count)}) as made;
  analyze ${name}`

function insert(table: string, columns: Record<string, string>, from: number, count: number): Statement {
  const names = ['merchant_account_id', 'id', ...Object.keys(columns)].join()
  return {
    prepare: prepared(`new_${table}`, columns, from, count),
    run: `insert into ${table} (${names}) select ${names} from new_${table}`,
  }
}

function update(table: string, columns: Record<string, string>, from: number, count: number): Statement {
  const changes = Object.keys(columns).map((name) => `${name} = changed.${name}`)
  return {
    prepare: prepared(`changed_${table}`, columns, from, count),
    run: `update ${table} as target set ${changes.join()} from changed_${table} as changed
      where target.merchant_account_id = changed.merchant_account_id and target.id = changed.id`,
  }
}

/** Of `count` payments from number `from` on. */
export const statements = {
  facts: (from: number, count: number) => insert('transaction_facts', facts, from, count),
  states: (from: number, count: number) => insert('transaction_states', begun, from, count),
  finishedStates: (from: number, count: number) => insert('transaction_states', { ...begun, ...outcome }, from, count),
  stateUpdates: (from: number, count: number) => update('transaction_states', outcome, from, count),
  metadata: (from: number, count: number) =>
    insert('transaction_metadata', { name: `'order'`, value: `'order-' || n` }, from, count),
  giftCards: (from: number, count: number) =>
    insert('transaction_gift_cards', { name: `'last4'`, value: last4 }, from, count),
  redemptions: (from: number, count: number): Statement => {
    const { prepare } = insert('gift_card_redemptions', redemption, from, count)
    const names = Object.keys(redemption).join()
    return {
      prepare,
      run: `insert into gift_card_redemptions (merchant_account_id, transaction_id, id, ${names})
        select merchant_account_id, id, id, ${names} from new_gift_card_redemptions`,
    }
  },
  transactions: (from: number, count: number) => insert('transactions', wide, from, count),
  transactionUpdates: (from: number, count: number) => update('transactions', wideOutcome, from, count),
}

const redemption: Record<string, string> = {
  position: '1',
  gift_card_service_id: `md5('gift card service')::uuid`,
  gift_card_id: `md5('gift card' || n)::uuid`,
  fingerprint: `md5('gift card' || n)`,
  bin: `'600000'`,
  sub_bin: `'00'`,
  last4,
  amount: '100',
  status: `'created'`,
  created_at: 'created_at',
  updated_at: 'created_at',
}

const wide: Record<string, string> = {
  status: `'processing'`,
  intent: `'capture'`,
  intent_outcome: `'pending'`,
  authorized_amount: '0',
  captured_amount: '0',
  refunded_amount: '0',
  ...Object.fromEntries(
    [
      'amount',
      'currency',
      'country',
      'payment_source',
      'merchant_initiated',
      'is_subsequent_payment',
      'external_identifier',
    ].map((name) => [name, facts[name] ?? '']),
  ),
  method: `'card'`,
  payment_service_id: begun['payment_service_id'] ?? '',
  metadata: `'{"order":"order-' || n || '"}'`,
  // About as long as they are.
  summary: `repeat('"currency":"EUR",', 20)`,
  details: `repeat('"payment_source":"ecommerce",', 25)`,
  payment_method: `repeat('"fingerprint":"9f86d081",', 20)`,
  payment_service: `repeat('"display_name":"Sandbox",', 7)`,
  rendering: '1',
  version: '1',
  created_at: 'created_at',
  updated_at: 'created_at',
}
const wideOutcome: Record<string, string> = {
  ...outcome,
  intent_outcome: `'succeeded'`,
  raw_response_code: `'00'`,
  raw_response_description: `'Approved'`,
}
