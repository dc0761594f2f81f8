import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { emit } from '../../../events/outbox.ts'
import { transact } from '../../../platform/postgres.ts'
import { audit } from '../../audit-logs/operations.ts'
import { archiveRow, deleteRow, type GiftCardRow } from '../store/cards.ts'
import { forgetNumbers } from './cards.ts'
import { presenter } from './present.ts'

const referenceOf = ({ merchant_account_id: merchantAccountId, id }: GiftCardRow) => ({ merchantAccountId, id })

/** The row goes first, number and PIN right after; should we die between, the sweep finds a number without an owner. */
export async function deleteGiftCard(ctx: Context, id: string): Promise<void> {
  const row = await transact(ctx, async (ctx) => {
    const deleted = await deleteRow(ctx.db, ctx.accounts, id)
    if (!deleted) throw notFound()
    await record(ctx, 'deleted', deleted)
    const target = (await presenter(ctx, [deleted]))(deleted)
    const { merchant_account_id: merchantAccountId, version } = deleted
    await emit(ctx, 'gift-card.deleted', { target, merchantAccountId, sequence: version + 1 })
    return deleted
  })
  await forgetNumbers(ctx, [referenceOf(row)])
}

/** Of no use any more: they are shown nowhere, and what was secret about them goes. */
export async function archiveCards(ctx: Context, rows: readonly GiftCardRow[]): Promise<void> {
  await transact(ctx, async (ctx) => {
    // In one order, so that two requests cannot lock each other out.
    for (const id of rows.map((row) => row.id).toSorted()) {
      const archived = await archiveRow(ctx.db, ctx.accounts, id, ctx.now())
      if (archived) await record(ctx, 'updated', archived)
    }
  })
  await forgetNumbers(ctx, rows.map(referenceOf))
}

const record = (ctx: Context, what: 'updated' | 'deleted', row: GiftCardRow) =>
  audit(ctx, what, {
    type: 'gift-card',
    id: row.id,
    name: row.last4,
    merchantAccountId: row.merchant_account_id,
  })
