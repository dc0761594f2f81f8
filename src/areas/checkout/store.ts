import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read, transact, writeAtOnce } from '../../platform/postgres.ts'
import { orKept, sql } from '../../platform/sql.ts'
import { countingUse, type UseRow } from '../../platform/uses.ts'
import type { Intent, PaymentSource } from '../../sourcing.ts'

/** What a merchant said of the payment to come. JSON is text, as it was given. */
export interface SessionValues {
  amount: number | null
  currency: string | null
  country: string | null
  intent: Intent | null
  payment_source: PaymentSource | null
  merchant_initiated: boolean | null
  is_subsequent_payment: boolean | null
  payment_service_id: string | null
  cart_items: string | null
  metadata: string | null
  airline: string | null
  buyer: string | null
}

/** What is known of the card that a buyer gave. */
export interface SessionCard {
  label: string | null
  scheme: string | null
  bin: string | null
  card_type: 'credit' | 'debit' | 'prepaid' | null
  card_issuer_name: string | null
  issuer_country: string | null
  fingerprint: string | null
  expiration_date: string | null
}

export interface SessionRow extends SessionValues, SessionCard {
  merchant_account_id: string
  id: string
  payment_method_id: string | null
  postal_code: string | null
  fields_sent_at: Date | null
  is_used: boolean
  /** Counts the changes, of the merchant and of the buyer. */
  version: number
  expires_at: Date
}

/**
 * Whether the last payment with it stands, or may still. It is read from the transaction, where the truth is: whoever finds out that a payment was
 * refused, a janitor long after the request among them, has nothing to release here.
 */
const isUsed = sql`(session.transaction_id is not null and not exists (
  select from transactions
  where transactions.merchant_account_id = session.merchant_account_id and transactions.id = session.transaction_id
    and transactions.status in ('authorization_declined', 'authorization_failed')))`

const columns = sql`
  session.merchant_account_id, session.id, session.amount, session.currency, session.country, session.intent, session.payment_source,
  session.merchant_initiated, session.is_subsequent_payment, session.payment_service_id, session.cart_items, session.metadata, session.airline,
  session.buyer, session.label, session.scheme, session.bin, session.card_type, session.card_issuer_name, session.issuer_country,
  session.fingerprint, session.expiration_date, session.payment_method_id, session.postal_code, session.fields_sent_at, session.expires_at,
  session.version,   ${isUsed} as is_used`

export async function insertSession(
  db: Db,
  row: SessionValues & { merchant_account_id: string; id: string; expires_at: Date },
  now: Date,
): Promise<SessionRow | undefined> {
  const [inserted] = await db.run<SessionRow>(sql`
    insert into checkout_sessions as session (merchant_account_id, id, amount, currency, country, intent, payment_source, merchant_initiated,
      is_subsequent_payment, payment_service_id, cart_items, metadata, airline, buyer, expires_at, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.amount}, ${row.currency}, ${row.country}, ${row.intent}, ${row.payment_source},
      ${row.merchant_initiated}, ${row.is_subsequent_payment}, ${row.payment_service_id}, ${row.cart_items}, ${row.metadata}, ${row.airline},
      ${row.buyer}, ${row.expires_at}, ${now}, ${now})
    returning ${columns}`)
  return inserted
}

/** One that has not expired. */
export async function findSession(db: Db, accounts: Accounts, id: string, now: Date): Promise<SessionRow | undefined> {
  const [row] = await read<SessionRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from checkout_sessions as session
      where ${visible(sql`session.merchant_account_id`)} and session.id = ${id} and session.expires_at > ${now}`,
  )
  return row
}

/** Changes what is named. Undefined when there is no such session within reach, or it has expired. */
export async function updateSession(
  db: Db,
  accounts: Accounts,
  id: string,
  change: { [Name in keyof SessionValues]?: SessionValues[Name] | undefined } & { expires_at?: Date | undefined },
  now: Date,
): Promise<SessionRow | undefined> {
  const [row] = await db.run<SessionRow>(sql`
    update checkout_sessions as session
    set amount = ${orKept(change.amount, sql`amount`)}, currency = ${orKept(change.currency, sql`currency`)},
      country = ${orKept(change.country, sql`country`)}, intent = ${orKept(change.intent, sql`intent`)},
      payment_source = ${orKept(change.payment_source, sql`payment_source`)},
      merchant_initiated = ${orKept(change.merchant_initiated, sql`merchant_initiated`)},
      is_subsequent_payment = ${orKept(change.is_subsequent_payment, sql`is_subsequent_payment`)},
      payment_service_id = ${orKept(change.payment_service_id, sql`payment_service_id`)},
      cart_items = ${orKept(change.cart_items, sql`cart_items`)}, metadata = ${orKept(change.metadata, sql`metadata`)},
      airline = ${orKept(change.airline, sql`airline`)}, buyer = ${orKept(change.buyer, sql`buyer`)},
      expires_at = ${orKept(change.expires_at, sql`expires_at`)}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`session.merchant_account_id`)} and session.id = ${id} and session.expires_at > ${now}
    returning ${columns}`)
  return row
}

export async function deleteSession(
  db: Db,
  accounts: Accounts,
  id: string,
  now: Date,
): Promise<SessionRow | undefined> {
  const [row] = await db.run<SessionRow>(sql`
    delete from checkout_sessions as session
    where ${within(accounts, sql`session.merchant_account_id`)} and session.id = ${id} and session.expires_at > ${now}
    returning ${columns}`)
  return row
}

/** The card whose number is in the vault under the session's id. Undefined when the session is gone, or used up. */
export async function setCard(
  db: Db,
  accounts: Accounts,
  id: string,
  { postal_code, ...card }: SessionCard & { postal_code: string | null },
  now: Date,
): Promise<SessionRow | undefined> {
  const [row] = await db.run<SessionRow>(sql`
    update checkout_sessions as session
    set label = ${card.label}, scheme = ${card.scheme}, bin = ${card.bin}, card_type = ${card.card_type},
      card_issuer_name = ${card.card_issuer_name}, issuer_country = ${card.issuer_country}, fingerprint = ${card.fingerprint},
      expiration_date = ${card.expiration_date}, payment_method_id = null, postal_code = ${postal_code}, fields_sent_at = ${now},
      version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`session.merchant_account_id`)} and session.id = ${id} and session.expires_at > ${now} and not ${isUsed}
    returning ${columns}`)
  return row
}

/** The same for a stored method, which must be of the session's account. */
export async function setStoredMethod(
  db: Db,
  accounts: Accounts,
  id: string,
  { methodId, postal_code }: { methodId: string; postal_code: string | null },
  now: Date,
): Promise<SessionRow | undefined> {
  const [row] = await db.run<SessionRow>(sql`
    update checkout_sessions as session
    set label = method.label, scheme = method.scheme, bin = method.bin, card_type = method.card_type,
      card_issuer_name = method.card_issuer_name, issuer_country = method.issuer_country, fingerprint = method.fingerprint,
      expiration_date = method.expiration_date, payment_method_id = method.id, postal_code = ${postal_code}, fields_sent_at = ${now},
      version = session.version + 1, updated_at = ${now}
    from payment_methods as method
    where ${within(accounts, sql`session.merchant_account_id`)} and session.id = ${id} and session.expires_at > ${now} and not ${isUsed}
      and method.merchant_account_id = session.merchant_account_id and method.id = ${methodId}
    returning ${columns}`)
  return row
}

export async function hasStoredMethod(db: Db, accounts: Accounts, methodId: string): Promise<boolean> {
  const found = await read(
    db,
    accounts,
    (visible) => sql`select id from payment_methods where ${visible(sql`merchant_account_id`)} and id = ${methodId}`,
  )
  return found.length > 0
}

/** Counts something that a browser does with a session. Undefined when there is no such session, in whatever account. */
export async function countUse(db: Db, id: string, limit: number): Promise<UseRow | undefined> {
  const exists = sql`exists (select from checkout_sessions where id = ${id})`
  const [row] = await writeAtOnce<UseRow>(db, 'all', countingUse(`session:${id}`, limit, exists))
  return row
}

/**
 * Makes the session that of a payment, in the transaction that records it. False when another payment has it, or it has changed since it was read: the
 * amount and the card that were looked at must be those that are paid. Of those who come at once the second waits here, and then finds another version.
 */
export async function claimSession(
  db: Db,
  accounts: Accounts,
  { id, version }: { id: string; version: number },
  transactionId: string,
  now: Date,
): Promise<boolean> {
  const claimed = await db.run(sql`
    update checkout_sessions as session
    set transaction_id = ${transactionId}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`session.merchant_account_id`)} and session.id = ${id} and session.version = ${version}
      and session.expires_at > ${now} and not ${isUsed}
    returning 1`)
  return claimed.length > 0
}

interface Reference {
  merchantAccountId: string
  id: string
}

const pairs = (references: readonly Reference[]) =>
  sql`select * from unnest(${references.map(({ merchantAccountId }) => merchantAccountId)}::text[], ${references.map(({ id }) => id)}::uuid[])`

/** Which of these references are sessions, expired ones too: what has a row has somebody who will remove it. */
export function findExistingSessions(
  db: Db,
  references: readonly Reference[],
): Promise<{ merchant_account_id: string; id: string }[]> {
  return read(
    db,
    'all',
    (visible) => sql`
      select merchant_account_id, id from checkout_sessions
      where ${visible(sql`merchant_account_id`)} and (merchant_account_id, id) in (${pairs(references)})`,
  )
}

export async function findExpired(db: Db, accounts: Accounts, now: Date, limit: number): Promise<Reference[]> {
  const rows = await read<{ merchant_account_id: string; id: string }>(
    db,
    accounts,
    (visible) => sql`
      select merchant_account_id, id from checkout_sessions
      where ${visible(sql`merchant_account_id`)} and expires_at <= ${now} order by expires_at limit ${limit}`,
  )
  return rows.map(({ merchant_account_id, id }) => ({ merchantAccountId: merchant_account_id, id }))
}

export async function deleteExpired(
  db: Db,
  accounts: Accounts,
  references: readonly Reference[],
  now: Date,
): Promise<void> {
  await transact({ db, accounts }, (ctx) =>
    ctx.db.run(sql`
      delete from checkout_sessions
      where ${within(accounts, sql`merchant_account_id`)} and (merchant_account_id, id) in (${pairs(references)}) and expires_at <= ${now}`),
  )
}
