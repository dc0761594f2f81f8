import { type Sql, sql } from './sql.ts'

/** Merchant accounts: every one of the instance, or those named. */
export type Accounts = 'all' | readonly string[]

/** The value of the setting `florin.accounts` that row level security reads. Ids hold no comma (checked when created). */
export const accountsSetting = (accounts: Accounts) => (accounts === 'all' ? '*' : accounts.join(','))

export const includesAccount = (accounts: Accounts, id: string) => accounts === 'all' || accounts.includes(id)

/** The store's own wall: a predicate over the column that holds the merchant account. */
export function within(accounts: Accounts, column: Sql): Sql {
  if (accounts === 'all') return sql`true`
  // PostgreSQL takes the order of ids from the index (account, id) only when the account is one value and not a list of one.
  return accounts.length === 1 ? sql`${column} = ${accounts[0]}` : sql`${column} = any(${accounts}::text[])`
}

/** The same for a column that holds a list of accounts, where an empty list means all of them. */
export function whollyWithin(accounts: Accounts, column: Sql): Sql {
  return accounts === 'all' ? sql`true` : sql`(cardinality(${column}) > 0 and ${column} <@ ${accounts}::text[])`
}
