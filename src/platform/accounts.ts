import { type Sql, sql } from './sql.ts'

/** Merchant accounts: every one of the instance, or those named. */
export type Accounts = 'all' | readonly string[]

/**
 * The value of the setting `florin.accounts` that row level security reads: `*`, one id, or several between commas. Ids hold no comma (checked
 * when created).
 */
export function accountsSetting(accounts: Accounts): string {
  if (accounts === 'all') return '*'
  return isOne(accounts) ? accounts[0] : `,${accounts.join(',')},`
}

export const includesAccount = (accounts: Accounts, id: string) => accounts === 'all' || accounts.includes(id)

export const isOne = (accounts: Accounts): accounts is readonly [string] => accounts !== 'all' && accounts.length === 1

/** The store's own wall: a predicate over the column that holds the merchant account. */
export function within(accounts: Accounts, column: Sql): Sql {
  if (accounts === 'all') return sql`true`
  // PostgreSQL takes the order of ids from the index (account, id) only when the account is one value and not a list of one.
  return isOne(accounts) ? sql`${column} = ${accounts[0]}` : sql`${column} = any(${accounts}::text[])`
}

/** The same for a column that holds a list of accounts, where an empty list means all of them. */
export function whollyWithin(accounts: Accounts, column: Sql): Sql {
  return accounts === 'all' ? sql`true` : sql`(cardinality(${column}) > 0 and ${column} <@ ${accounts}::text[])`
}
