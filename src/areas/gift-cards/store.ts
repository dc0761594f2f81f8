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

/** In the transaction of the payment that uses them. */
export async function addUses(
  db: Db,
  account: string,
  ids: readonly string[],
  { at, isMerchants }: { at: Date; isMerchants: boolean },
): Promise<void> {
  await db.run(sql`
    update gift_cards
    set usage_count = usage_count + 1, last_used_at = greatest(last_used_at, ${at}::timestamptz),
      cit_usage_count = cit_usage_count + ${isMerchants ? 0 : 1}::integer,
      cit_last_used_at = case when ${isMerchants} then cit_last_used_at else greatest(cit_last_used_at, ${at}::timestamptz) end
    where merchant_account_id = ${account} and id in (
      select id from gift_cards where merchant_account_id = ${account} and id = any(${ids}::uuid[]) order by id for update)`)
}
