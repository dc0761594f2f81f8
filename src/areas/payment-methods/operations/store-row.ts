import type { Context } from '../../../context.ts'
import { gathering } from '../../../gathering.ts'
import { type AuditEntry, auditing } from '../../audit-logs/operations.ts'
import { insertCards, type NewCardRow, type PaymentMethodRow } from '../store.ts'

interface NewCard {
  card: NewCardRow
  entry: AuditEntry
}

const gather = gathering<NewCard, PaymentMethodRow | undefined>(async (db, accounts, cards) => {
  const rows = await insertCards(
    db,
    accounts,
    cards.map(({ card }) => card),
    auditing(cards.map(({ entry }) => entry)),
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return cards.map(({ card }) => byId.get(card.id))
})

/** The card and its audit row. Cards that arrive together share a statement and its commit. Undefined when the external identifier is taken. */
export const storeRow = (ctx: Pick<Context, 'db' | 'accounts'>, one: NewCard): Promise<PaymentMethodRow | undefined> =>
  gather(ctx.db, ctx.accounts, one)
