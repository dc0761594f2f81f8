import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read, write } from '../../platform/postgres.ts'
import { all, type Sql, sql } from '../../platform/sql.ts'
import type { PaymentMethodStatus } from './rules.ts'
import type { PaymentMethodSummary } from './schema.ts'

/** What changes when a card gets new details. */
export interface CardFacts {
  label: string
  scheme: string | null
  additional_schemes: string[] | null
  bin: string | null
  card_type: 'credit' | 'debit' | 'prepaid' | null
  card_issuer_name: string | null
  /** Of the bank; the method's own `country` is null for a card, which is good in any. */
  issuer_country: string | null
  expiration_date: string
  expires_at: Date
  fingerprint: string
}

/** As it waits in a column: dates are text in JSON. */
export type WaitingFacts = Omit<CardFacts, 'expires_at'> & { expires_at: string }

export interface PaymentMethodRow extends Omit<CardFacts, 'label' | 'expiration_date' | 'expires_at' | 'fingerprint'> {
  merchant_account_id: string
  id: string
  buyer_id: string | null
  external_identifier: string | null
  method: PaymentMethodSummary['method']
  mode: PaymentMethodSummary['mode']
  status: PaymentMethodStatus
  label: string | null
  expiration_date: string | null
  expires_at: Date | null
  fingerprint: string | null
  country: string | null
  currency: string | null
  approval_url: string | null
  approval_target: 'any' | 'new_window' | null
  scheme_transaction_id: string | null
  scheme_transaction_id_scheme: string | null
  transaction_link_id: string | null
  payment_service_id: string | null
  enrolment: string | null
  replacement: WaitingFacts | null
  last_replaced_at: Date | null
  last_used_at: Date | null
  usage_count: number
  cit_last_used_at: Date | null
  cit_usage_count: number
  version: number
  created_at: Date
  updated_at: Date
}

export const columns = sql`
  merchant_account_id, id, buyer_id, external_identifier, method, mode, status, label, scheme, additional_schemes, bin, card_type,
  card_issuer_name, issuer_country, expiration_date, expires_at, country, currency, fingerprint, approval_url, approval_target, scheme_transaction_id,
  scheme_transaction_id_scheme, transaction_link_id, payment_service_id, enrolment, replacement, last_replaced_at, last_used_at, usage_count, cit_last_used_at,
  cit_usage_count, version, created_at, updated_at`

export interface NewCardRow extends CardFacts {
  status: 'succeeded' | 'processing'
  merchant_account_id: string
  id: string
  buyer_id: string | null
  external_identifier: string | null
  created_at: Date
}

/**
 * Cards of one moment together with what follows them (their audit rows), in one statement. A card whose external identifier is
 * taken is not among the rows. In the order of external identifiers, so that two statements cannot lock each other out.
 */
export function insertCards(
  db: Db,
  accounts: Accounts,
  cards: readonly NewCardRow[],
  follow: (changed: Sql) => Sql,
): Promise<PaymentMethodRow[]> {
  return write(
    db,
    accounts,
    (walls) => sql`
      insert into payment_methods (merchant_account_id, id, buyer_id, external_identifier, method, mode, status, label, scheme,
        additional_schemes, bin, card_type, card_issuer_name, issuer_country, expiration_date, expires_at, fingerprint, created_at, updated_at)
      select merchant_account_id, id, buyer_id, external_identifier, 'card', 'card', status, label, scheme,
        additional_schemes, bin, card_type, card_issuer_name, issuer_country, expiration_date, expires_at, fingerprint, created_at, created_at
      from ${walls}, json_to_recordset(${JSON.stringify(cards)}::json) as card (
        merchant_account_id text, id uuid, buyer_id uuid, external_identifier text, status text, label text, scheme text, additional_schemes text[],
        bin text, card_type text, card_issuer_name text, issuer_country text, expiration_date text, expires_at timestamptz,
        fingerprint text, created_at timestamptz
      )
      where ${within(accounts, sql`merchant_account_id`)}
      order by external_identifier, id
      on conflict (merchant_account_id, external_identifier) where external_identifier is not null do nothing
      returning ${columns}`,
    follow,
  )
}

export async function findPaymentMethod(db: Db, accounts: Accounts, id: string): Promise<PaymentMethodRow | undefined> {
  const [row] = await read<PaymentMethodRow>(
    db,
    accounts,
    (visible) => sql`select ${columns} from payment_methods where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

export function findPaymentMethods(db: Db, accounts: Accounts, ids: readonly string[]): Promise<PaymentMethodRow[]> {
  return read(
    db,
    accounts,
    (visible) =>
      sql`select ${columns} from payment_methods where ${visible(sql`merchant_account_id`)} and id = any(${ids}::uuid[])`,
  )
}

export async function findIdByExternalIdentifier(
  db: Db,
  accounts: Accounts,
  externalIdentifier: string,
): Promise<string | undefined> {
  const [row] = await read<{ id: string }>(
    db,
    accounts,
    (visible) => sql`
      select id from payment_methods
      where ${visible(sql`merchant_account_id`)} and external_identifier = ${externalIdentifier}`,
  )
  return row?.id
}

export interface PaymentMethodFilter {
  /** Null: a buyer was asked for that does not exist. */
  buyerIds?: readonly string[] | undefined
  status?: readonly PaymentMethodStatus[] | undefined
  external_identifier?: string | undefined
}

export function listPaymentMethodRows(
  db: Db,
  accounts: Accounts,
  filter: PaymentMethodFilter,
  page: PageRequest,
): Promise<PageRows<PaymentMethodRow>> {
  const conditions: Sql[] = [
    ...(filter.buyerIds ? [sql`buyer_id = any(${filter.buyerIds}::uuid[])`] : []),
    ...(filter.status ? [sql`status = any(${filter.status}::text[])`] : []),
    ...(filter.external_identifier ? [sql`external_identifier = ${filter.external_identifier}`] : []),
  ]
  return readPage(db, accounts, page, {
    columns,
    from: sql`payment_methods`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and ${all(conditions)}`,
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

const sortColumns = {
  last_used_at: sql`last_used_at`,
  usage_count: sql`usage_count`,
  cit_last_used_at: sql`cit_last_used_at`,
  cit_usage_count: sql`cit_usage_count`,
}

/** A buyer's usable methods, at most so many: nobody has more, and an answer stays bounded. */
export function listUsableRows(
  db: Db,
  accounts: Accounts,
  filter: { buyerId: string; country?: string | undefined; currency?: string | undefined },
  order: { by: keyof typeof sortColumns | undefined; direction: 'asc' | 'desc' },
  limit: number,
): Promise<PaymentMethodRow[]> {
  const conditions: Sql[] = [
    sql`buyer_id = ${filter.buyerId}`,
    sql`status = 'succeeded'`,
    ...(filter.country ? [sql`(country is null or country = ${filter.country})`] : []),
    ...(filter.currency ? [sql`(currency is null or currency = ${filter.currency})`] : []),
  ]
  const direction = order.direction === 'asc' ? sql`asc nulls first` : sql`desc nulls last`
  const sorting = order.by ? sql`${sortColumns[order.by]} ${direction}, id desc` : sql`id desc`
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from payment_methods
      where ${visible(sql`merchant_account_id`)} and ${all(conditions)}
      order by ${sorting} limit ${limit}`,
  )
}

/** Waits for whoever changes the method at this moment. */
export async function lockPaymentMethod(db: Db, accounts: Accounts, id: string): Promise<PaymentMethodRow | undefined> {
  const [row] = await db.run<PaymentMethodRow>(sql`
    select ${columns} from payment_methods where ${within(accounts, sql`merchant_account_id`)} and id = ${id} for update`)
  return row
}

export async function updateDetails(
  db: Db,
  accounts: Accounts,
  id: string,
  change: Pick<
    PaymentMethodRow,
    'expiration_date' | 'expires_at' | 'scheme_transaction_id' | 'scheme_transaction_id_scheme' | 'transaction_link_id'
  >,
  now: Date,
): Promise<PaymentMethodRow | undefined> {
  const [row] = await db.run<PaymentMethodRow>(sql`
    update payment_methods
    set expiration_date = ${change.expiration_date}, expires_at = ${change.expires_at},
      scheme_transaction_id = ${change.scheme_transaction_id}, scheme_transaction_id_scheme = ${change.scheme_transaction_id_scheme},
      transaction_link_id = ${change.transaction_link_id}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return row
}

export async function deleteRow(db: Db, accounts: Accounts, id: string): Promise<PaymentMethodRow | undefined> {
  const [row] = await db.run<PaymentMethodRow>(sql`
    delete from payment_methods where ${within(accounts, sql`merchant_account_id`)} and id = ${id} returning ${columns}`)
  return row
}

/** Keeps newer details of a card until they apply; details that wait already are replaced. */
export async function setReplacement(
  db: Db,
  accounts: Accounts,
  id: string,
  replacement: WaitingFacts,
  now: Date,
): Promise<PaymentMethodRow | undefined> {
  const [row] = await db.run<PaymentMethodRow>(sql`
    update payment_methods
    set replacement = ${JSON.stringify(replacement)}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and method = 'card'
    returning ${columns}`)
  return row
}

/** Makes the waiting details the card's own. Undefined when nothing waits: somebody else was faster. */
export async function applyReplacementRow(
  db: Db,
  accounts: Accounts,
  id: string,
  now: Date,
): Promise<PaymentMethodRow | undefined> {
  const [row] = await db.run<PaymentMethodRow>(sql`
    update payment_methods
    set label = replacement->>'label', scheme = replacement->>'scheme',
      additional_schemes = case when jsonb_typeof(replacement->'additional_schemes') = 'array'
        then array(select jsonb_array_elements_text(replacement->'additional_schemes')) end,
      bin = replacement->>'bin', card_type = replacement->>'card_type', card_issuer_name = replacement->>'card_issuer_name',
      issuer_country = replacement->>'issuer_country', expiration_date = replacement->>'expiration_date',
      expires_at = (replacement->>'expires_at')::timestamptz, fingerprint = replacement->>'fingerprint',
      replacement = null, last_replaced_at = ${now}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and replacement is not null
    returning ${columns}`)
  return row
}

/** Cards that expired while a replacement waits, oldest first. */
export function findExpiredWithReplacement(
  db: Db,
  accounts: Accounts,
  now: Date,
  limit: number,
): Promise<{ merchant_account_id: string; id: string }[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select merchant_account_id, id from payment_methods
      where ${visible(sql`merchant_account_id`)} and replacement is not null and expires_at <= ${now}
      order by expires_at limit ${limit}`,
  )
}

/** Which of these references are payment methods with a number. One that could not be stored has none, unless it was not forgotten in time. */
export function findExisting(
  db: Db,
  references: readonly { merchantAccountId: string; id: string }[],
): Promise<{ merchant_account_id: string; id: string }[]> {
  return read(
    db,
    'all',
    (visible) => sql`
      select merchant_account_id, id from payment_methods
      where ${visible(sql`merchant_account_id`)} and status <> 'failed'
        and (merchant_account_id, id) in (
          select * from unnest(${references.map(({ merchantAccountId }) => merchantAccountId)}::text[], ${references.map(({ id }) => id)}::uuid[])
        )`,
  )
}
