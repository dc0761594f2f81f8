import { BoundedMap } from '../../../bounded-map.ts'
import type { Context } from '../../../context.ts'
import { type Accounts, accountsSetting } from '../../../platform/accounts.ts'
import { createBatcher } from '../../../platform/batch.ts'
import { type Db, isRowFault } from '../../../platform/postgres.ts'
import { type AuditEntry, auditing } from '../../audit-logs/operations.ts'
import { insertCards, type NewCardRow, type PaymentMethodRow } from '../store.ts'

interface NewCard {
  card: NewCardRow
  entry: AuditEntry
}

type Gathering = (one: NewCard) => Promise<PaymentMethodRow | undefined>

/** One for each pool, and in it one for each value of the walls: cards of different merchant accounts share no statement. */
const gatherings = new WeakMap<Db, BoundedMap<string, Gathering>>()
const mostGatherings = 10_000

/** The card and its audit row. Cards that arrive together share a statement and its commit. Undefined when the external identifier is taken. */
export async function storeRow(
  { db, accounts }: Pick<Context, 'db' | 'accounts'>,
  one: NewCard,
): Promise<PaymentMethodRow | undefined> {
  if (db.inTransaction) return (await insertAll(db, accounts, [one]))[0]
  return gatheringOf(db, accounts)(one)
}

function gatheringOf(db: Db, accounts: Accounts): Gathering {
  const known = gatherings.get(db) ?? new BoundedMap<string, Gathering>(mostGatherings)
  gatherings.set(db, known)
  const key = accountsSetting(accounts)
  const found = known.get(key)
  if (found) return found
  const gathering = createBatcher<NewCard, PaymentMethodRow | undefined>({
    run: (cards) => insertAll(db, accounts, cards),
    isOnesFault: isRowFault,
  })
  known.set(key, gathering)
  return gathering
}

async function insertAll(db: Db, accounts: Accounts, cards: readonly NewCard[]) {
  const rows = await insertCards(
    db,
    accounts,
    cards.map(({ card }) => card),
    auditing(cards.map(({ entry }) => entry)),
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return cards.map(({ card }) => byId.get(card.id))
}
