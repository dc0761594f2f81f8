import { BoundedMap } from './bounded-map.ts'
import { type Accounts, accountsSetting } from './platform/accounts.ts'
import { type BatchOptions, createBatcher } from './platform/batch.ts'
import { type Db, isRowFault } from './platform/postgres.ts'

const mostGatherings = 10_000

/**
 * Writes that arrive together share a statement and its commit: those of one pool and one value of the walls, because rows of
 * different merchant accounts share no statement. Inside a transaction there is nothing to wait for.
 */
export function gathering<Item, Result>(
  run: (db: Db, accounts: Accounts, items: readonly Item[]) => Promise<Result[]>,
  options: Omit<BatchOptions<Item, Result>, 'run' | 'isOnesFault'> = {},
): (db: Db, accounts: Accounts, item: Item) => Promise<Result> {
  const pools = new WeakMap<Db, BoundedMap<string, (item: Item) => Promise<Result>>>()
  return async (db, accounts, item) => {
    if (db.inTransaction) return (await run(db, accounts, [item]))[0] as Result
    const known = pools.get(db) ?? new BoundedMap<string, (item: Item) => Promise<Result>>(mostGatherings)
    pools.set(db, known)
    const key = accountsSetting(accounts)
    const batch =
      known.get(key) ??
      createBatcher<Item, Result>({ ...options, run: (items) => run(db, accounts, items), isOnesFault: isRowFault })
    known.set(key, batch)
    return batch(item)
  }
}
