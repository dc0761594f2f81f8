import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { NumberParts } from '../rules.ts'

/** A call that makes a card usable. */
export interface ActivationRow extends NumberParts {
  merchant_account_id: string
  /** Also the reference that the provider gets, and the id of the card should it be stored. */
  id: string
  gift_card_service_id: string
  fingerprint: string
  amount: number | null
  currency: string | null
  external_identifier: string | null
  created_at: Date
}

export async function insertActivation(db: Db, row: ActivationRow): Promise<void> {
  await db.run(sql`
    insert into gift_card_activations (merchant_account_id, id, gift_card_service_id, fingerprint, bin, sub_bin, last4, amount, currency,
      external_identifier, state, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.gift_card_service_id}, ${row.fingerprint}, ${row.bin}, ${row.sub_bin}, ${row.last4},
      ${row.amount}, ${row.currency}, ${row.external_identifier}, 'open', ${row.created_at}, ${row.created_at})`)
}

export async function findActivation(db: Db, accounts: Accounts, id: string): Promise<ActivationRow | undefined> {
  const [row] = await read<ActivationRow>(
    db,
    accounts,
    (visible) => sql`
      select merchant_account_id, id, gift_card_service_id, fingerprint, bin, sub_bin, last4, amount, currency, external_identifier, created_at
      from gift_card_activations where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

/** A call that makes a card. */
export interface IssuanceRow {
  merchant_account_id: string
  /** Also the reference that the provider gets. */
  id: string
  gift_card_service_id: string
  theme: string
  amount: number
  currency: string
  external_identifier: string | null
  created_at: Date
}

export async function insertIssuance(db: Db, row: IssuanceRow): Promise<void> {
  await db.run(sql`
    insert into gift_card_issuances (merchant_account_id, id, gift_card_service_id, theme, amount, currency, external_identifier, state,
      created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.gift_card_service_id}, ${row.theme}, ${row.amount}, ${row.currency},
      ${row.external_identifier}, 'open', ${row.created_at}, ${row.created_at})`)
}

export async function findIssuance(db: Db, accounts: Accounts, id: string): Promise<IssuanceRow | undefined> {
  const [row] = await read<IssuanceRow>(
    db,
    accounts,
    (visible) => sql`
      select merchant_account_id, id, gift_card_service_id, theme, amount, currency, external_identifier, created_at
      from gift_card_issuances where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

export interface CallResult {
  providerReference: string | null
  errorCode: string | null
  url: string | null
}

/** Writes down what became of it; false when somebody else did. In a transaction. */
export async function closeActivation(
  db: Db,
  accounts: Accounts,
  id: string,
  { providerReference, errorCode }: CallResult,
  now: Date,
): Promise<boolean> {
  const closed = await db.run(sql`
    update gift_card_activations
    set state = ${errorCode === null ? 'succeeded' : 'failed'}, provider_reference = ${providerReference}, error_code = ${errorCode}, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and state = 'open' returning id`)
  return closed.length > 0
}

export async function closeIssuance(
  db: Db,
  accounts: Accounts,
  id: string,
  { providerReference, errorCode, url }: CallResult,
  now: Date,
): Promise<boolean> {
  const closed = await db.run(sql`
    update gift_card_issuances
    set state = ${errorCode === null ? 'succeeded' : 'failed'}, provider_reference = ${providerReference}, error_code = ${errorCode}, url = ${url},
      updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and state = 'open' returning id`)
  return closed.length > 0
}
