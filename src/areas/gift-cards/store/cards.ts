import { type PageRequest, type PageRows, readPage } from '../../../page.ts'
import { type Accounts, within } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { NumberParts } from '../rules.ts'

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

/** Archived ones are not there any more, here as everywhere. */
export function findRows(db: Db, accounts: Accounts, ids: readonly string[]): Promise<GiftCardRow[]> {
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from gift_cards
      where ${visible(sql`merchant_account_id`)} and id = any(${ids}::uuid[]) and archived_at is null`,
  )
}

export function listRows(
  db: Db,
  accounts: Accounts,
  { buyerIds }: { buyerIds: readonly string[] | undefined },
  page: PageRequest,
): Promise<PageRows<GiftCardRow>> {
  const ofBuyers = buyerIds ? sql`buyer_id = any(${buyerIds}::uuid[])` : sql`true`
  return readPage(db, accounts, page, {
    columns,
    from: sql`gift_cards`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and archived_at is null and ${ofBuyers}`,
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

export function listRowsOfBuyer(
  db: Db,
  accounts: Accounts,
  buyerId: string,
  order: { by: keyof typeof sortColumns | undefined; direction: 'asc' | 'desc' },
): Promise<GiftCardRow[]> {
  const direction = order.direction === 'asc' ? sql`asc nulls first` : sql`desc nulls last`
  const sorting = order.by ? sql`${sortColumns[order.by]} ${direction}, id desc` : sql`id desc`
  return read(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from gift_cards
      where ${visible(sql`merchant_account_id`)} and buyer_id = ${buyerId} and archived_at is null
      order by ${sorting}`,
  )
}

/** A buyer's, as far as these say whether another one fits. In a transaction. */
export function lockedCardsOf(
  db: Db,
  accounts: Accounts,
  buyerId: string,
): Promise<Pick<GiftCardRow, 'id' | 'fingerprint'>[]> {
  return db.run(sql`
    select id, fingerprint from gift_cards
    where ${within(accounts, sql`merchant_account_id`)} and buyer_id = ${buyerId} and archived_at is null`)
}

export type NewGiftCardRow = NumberParts &
  Pick<
    GiftCardRow,
    | 'merchant_account_id'
    | 'id'
    | 'gift_card_service_id'
    | 'buyer_id'
    | 'fingerprint'
    | 'expiration_date'
    | 'created_at'
  >

/** A card that its buyer has already violates `gift_cards_once_a_buyer`. */
export async function insertRow(db: Db, row: NewGiftCardRow): Promise<GiftCardRow> {
  const [inserted] = await db.run<GiftCardRow>(sql`
    insert into gift_cards (merchant_account_id, id, gift_card_service_id, buyer_id, fingerprint, bin, sub_bin, last4, expiration_date,
      created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.gift_card_service_id}, ${row.buyer_id}, ${row.fingerprint}, ${row.bin}, ${row.sub_bin},
      ${row.last4}, ${row.expiration_date}, ${row.created_at}, ${row.created_at})
    returning ${columns}`)
  if (!inserted) throw new Error('a gift card was not inserted')
  return inserted
}

export async function deleteRow(db: Db, accounts: Accounts, id: string): Promise<GiftCardRow | undefined> {
  const [deleted] = await db.run<GiftCardRow>(sql`
    delete from gift_cards where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and archived_at is null
    returning ${columns}`)
  return deleted
}

/** Undefined when somebody else was faster. */
export async function archiveRow(db: Db, accounts: Accounts, id: string, now: Date): Promise<GiftCardRow | undefined> {
  const [archived] = await db.run<GiftCardRow>(sql`
    update gift_cards set archived_at = ${now}, version = version + 1, updated_at = ${now}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id} and archived_at is null
    returning ${columns}`)
  return archived
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
