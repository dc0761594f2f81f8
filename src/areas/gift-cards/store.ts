import type { Accounts } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'
import type { NumberParts } from './rules.ts'

export interface GiftCardRow extends NumberParts {
  merchant_account_id: string
  id: string
  gift_card_service_id: string
  buyer_id: string | null
  fingerprint: string
  expiration_date: Date | null
  usage_count: number
  last_used_at: Date | null
  cit_usage_count: number
  cit_last_used_at: Date | null
  version: number
  created_at: Date
  updated_at: Date
}

const columns = sql`
  merchant_account_id, id, gift_card_service_id, buyer_id, fingerprint, bin, sub_bin, last4, expiration_date, usage_count, last_used_at,
  cit_usage_count, cit_last_used_at, version, created_at, updated_at`

/** Archived ones are not there any more. */
export function findRows(db: Db, accounts: Accounts, ids: readonly string[]): Promise<GiftCardRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from gift_cards
      where ${visible(sql`merchant_account_id`)} and id = any(${ids}::uuid[]) and archived_at is null`,
  )
}

/** Which of these references are gift cards with a number. */
export function findExisting(
  db: Db,
  references: readonly { merchantAccountId: string; id: string }[],
): Promise<{ merchant_account_id: string; id: string }[]> {
  return read(
    db,
    'all',
    (visible) => sql`
      select merchant_account_id, id from gift_cards
      where ${visible(sql`merchant_account_id`)} and archived_at is null
        and (merchant_account_id, id) in (
          select * from unnest(${references.map(({ merchantAccountId }) => merchantAccountId)}::text[], ${references.map(({ id }) => id)}::uuid[])
        )`,
  )
}
